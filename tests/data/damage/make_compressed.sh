#!/bin/bash
# make_compressed.sh
#
# Makes the compressed tables to damage: FORM-SERVER.ibd.zst and FORM-SERVER.create.sql in this directory, from
# compressed.sql, after a clean shutdown. Needs the servers mysql-8.0.33 and mariadb-10.11 (../../servers/install.sh).
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
SERVER_SH=$HERE/../../servers/server.sh
WORK=$(mktemp -d /var/tmp/damage-XXXXXX)
trap 'rm -rf "$WORK"' EXIT

# make FORM SERVER TABLE-OPTIONS SERVER-OPTIONS...
make() {
    local name=$1-$2 server=$2 table_options=$3 dir=$WORK/$1-$2
    shift 3
    "$SERVER_SH" "$server" init "$dir" "$@"
    "$SERVER_SH" "$server" start "$dir"
    sed "s/TABLE_OPTIONS/$table_options/" "$HERE/compressed.sql" | "$SERVER_SH" "$server" sql "$dir"
    "$SERVER_SH" "$server" sql "$dir" -N --raw -e 'SHOW CREATE TABLE d.rows_' | cut -f 2- >"$HERE/$name.create.sql"
    "$SERVER_SH" "$server" sql "$dir" -e 'SET GLOBAL innodb_fast_shutdown = 0'
    "$SERVER_SH" "$server" stop "$dir"
    zstd -q -19 -f "$dir/data/d/rows_.ibd" -o "$HERE/$name.ibd.zst"
}

make zip mysql-8.0.33 'ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=2' --innodb-page-size=4k
make zip mariadb-10.11 'ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4' --innodb-page-size=8k
make pages mysql-8.0.33 "COMPRESSION='lz4'"
make pages mariadb-10.11 'PAGE_COMPRESSED=1'
make pages-crc32 mariadb-10.11 'PAGE_COMPRESSED=1' --innodb-checksum-algorithm=crc32
mv "$HERE/pages-crc32-mariadb-10.11.ibd.zst" "$HERE/pages-mariadb-10.11-crc32.ibd.zst"
mv "$HERE/pages-crc32-mariadb-10.11.create.sql" "$HERE/pages-mariadb-10.11-crc32.create.sql"
