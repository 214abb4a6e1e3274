#!/bin/bash
# make_forms.sh [NAME...]
#
# Makes the compressed and encrypted tables to damage: NAME.ibd.zst and NAME.create.sql in this directory, from
# compressed.sql, after a clean shutdown, and the keyring of MySQL's encrypted ones (MariaDB's keys are in mariadb.keys). Needs the servers mysql-8.0.33 and mariadb-10.11 (../../servers/install.sh).
set -euo pipefail
WANTED=("$@")
HERE=$(cd "$(dirname "$0")" && pwd)
SERVER_SH=$HERE/../../servers/server.sh
WORK=$(mktemp -d /var/tmp/damage-XXXXXX)
trap 'rm -rf "$WORK"' EXIT

# make NAME SERVER TABLE-OPTIONS SERVER-OPTIONS...
make() {
    local name=$1 server=$2 table_options=$3 dir=$WORK/$1
    shift 3
    case " ${WANTED[*]} " in *" $name "* | "  ") ;; *) return 0 ;; esac
    "$SERVER_SH" "$server" init "$dir" "$@"
    "$SERVER_SH" "$server" start "$dir"
    sed "s/TABLE_OPTIONS/$table_options/" "$HERE/compressed.sql" | "$SERVER_SH" "$server" sql "$dir"
    "$SERVER_SH" "$server" sql "$dir" -N --raw -e 'SHOW CREATE TABLE d.rows_' | cut -f 2- >"$HERE/$name.create.sql"
    "$SERVER_SH" "$server" sql "$dir" -e 'SET GLOBAL innodb_fast_shutdown = 0'
    "$SERVER_SH" "$server" stop "$dir"
    zstd -q -19 -f "$dir/data/d/rows_.ibd" -o "$HERE/$name.ibd.zst"
}

make zip-mysql-8.0.33 mysql-8.0.33 'ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=2' --innodb-page-size=4k
make zip-mariadb-10.11 mariadb-10.11 'ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4' --innodb-page-size=8k
make pages-mysql-8.0.33 mysql-8.0.33 "COMPRESSION='lz4'"
make pages-mariadb-10.11 mariadb-10.11 'PAGE_COMPRESSED=1'
make pages-mariadb-10.11-crc32 mariadb-10.11 'PAGE_COMPRESSED=1' --innodb-checksum-algorithm=crc32

KEYS=(--plugin-load-add=file_key_management --file-key-management-filename="$HERE/mariadb.keys")
make encrypted-mariadb-10.11 mariadb-10.11 'ENCRYPTED=YES ENCRYPTION_KEY_ID=2' --innodb-page-size=4k "${KEYS[@]}"
make encrypted-pages-mariadb-10.11-crc32 mariadb-10.11 'PAGE_COMPRESSED=1 ENCRYPTED=YES' \
    --innodb-checksum-algorithm=crc32 "${KEYS[@]}"
KEYRING=--keyring-component=$HERE/mysql.keyring
make encrypted-mysql-8.0.33 mysql-8.0.33 "ENCRYPTION='Y'" --innodb-page-size=4k "$KEYRING"
make encrypted-zip-mysql-8.0.33 mysql-8.0.33 "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4 ENCRYPTION='Y'" "$KEYRING"
rm -f "$HERE/mysql.keyring.backup"
