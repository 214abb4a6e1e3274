#!/bin/bash
# twins.sh INNOSCAN DIR [ROUNDS [TABLE...]]
#
# Scans of compressed and encrypted twins of the shuffled table beside the plain one, warm and cold, and beside
# mariadb-dump of the same tables. DIR is as make_shuffled.sh leaves it; the twins are made there once (some minutes
# and up to 1.4 GB each). TABLE is one of these; without one, all of them:
#
#   shuffled   the plain table
#   plain      the plain table, made anew as the others are: its leaves are filled as theirs
#   zip        ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8
#   pclz4      PAGE_COMPRESSED=1 by lz4
#   pczlib     PAGE_COMPRESSED=1 by zlib
#   encrypted  ENCRYPTED=YES, AES-CBC
#
# Prints medians in seconds. Cold: needs root, drops the page cache. PREFIX: a command put before innoscan and the
# server, such as WORK/throttled of throttle.sh.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 1; }
INNOSCAN=$1
DIR=$(cd "$2" && pwd)
ROUNDS=${3:-5}
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- shuffled plain zip pclz4 pczlib encrypted
TABLES=("$@")
read -ra PREFIX <<<"${PREFIX:-}"
SERVER=("$(dirname "$0")/../tests/servers/server.sh" mariadb-10.11)
KEYS=--file-key-management-filename=$DIR/keys
PLUGINS=(--plugin-load-add=provider_lz4 --plugin-load-add=file_key_management "$KEYS")
echo '1;000102030405060708090a0b0c0d0e0f' >"$DIR/keys"

twin() { # NAME ALGORITHM OPTIONS...
    local name=$1 algorithm=$2
    shift 2
    case " ${TABLES[*]} " in *" $name "*) ;; *) return 0 ;; esac
    [ ! -e "$DIR/data/bench/$name.ibd" ] || return 0
    "${SERVER[@]}" start "$DIR" --innodb-buffer-pool-size=6G --innodb-log-file-size=2G \
        --innodb-flush-log-at-trx-commit=0 --innodb-flush-method=O_DIRECT "${PLUGINS[@]}"
    trap '"${SERVER[@]}" stop "$DIR"' EXIT
    "${SERVER[@]}" sql "$DIR" -e "
        SET GLOBAL innodb_compression_algorithm = $algorithm;
        CREATE TABLE bench.making LIKE bench.shuffled; ALTER TABLE bench.making $*;
        SET unique_checks = 0;
        INSERT INTO bench.making SELECT * FROM bench.shuffled ORDER BY CRC32(CONCAT(user_id, '.', object_id));
        RENAME TABLE bench.making TO bench.$name;
        SET GLOBAL innodb_fast_shutdown = 0"
    "${SERVER[@]}" stop "$DIR"
    trap - EXIT
}

"$(dirname "$0")/../tests/servers/install.sh" mariadb-10.11 mariadb-providers
twin plain zlib PAGE_COMPRESSED=0
twin zip zlib ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8
twin pclz4 lz4 PAGE_COMPRESSED=1
twin pczlib zlib PAGE_COMPRESSED=1
twin encrypted zlib ENCRYPTED=YES

cold() { sync; echo 3 >/proc/sys/vm/drop_caches; }
seconds() { local begun=$EPOCHREALTIME; "$@" >/dev/null 2>&1; echo "$begun $EPOCHREALTIME" | awk '{printf "%.2f\n", $2 - $1}'; }
median() { sort -n | awk '{v[NR] = $1} END {printf "%.2f (%.2f-%.2f)", v[int((NR + 1) / 2)], v[1], v[NR]}'; }

printf '%-10s %8s  %-18s %-18s %-18s %s\n' table MiB 'warm scan' 'cold scan' 'warm text' 'mariadb-dump, cold'
declare -A warm cold_ text dump
for ((round = 0; round < ROUNDS; round++)); do
    for table in "${TABLES[@]}"; do
        file=$DIR/data/bench/$table.ibd
        cold
        cold_[$table]+=$(seconds "${PREFIX[@]}" "$INNOSCAN" scan "$file" "$KEYS" --quiet)$'\n'
        cat "$file" >/dev/null
        warm[$table]+=$(seconds "$INNOSCAN" scan "$file" "$KEYS" --quiet --direct off)$'\n'
        text[$table]+=$(seconds "$INNOSCAN" dump "$file" "$KEYS" --quiet --format text)$'\n'
    done
done
for table in "${TABLES[@]}"; do
    # Once: a server takes minutes for a cold table.
    LAUNCH="${PREFIX[*]}" "${SERVER[@]}" start "$DIR" --innodb-buffer-pool-size=128M "${PLUGINS[@]}"
    cold
    dump[$table]+=$(seconds "${SERVER[@]}" dump "$DIR" bench "$table")$'\n'
    "${SERVER[@]}" stop "$DIR"
    allocated=$(du -m "$DIR/data/bench/$table.ibd" | cut -f 1)
    printf '%-10s %8s  %-18s %-18s %-18s %s\n' "$table" "$allocated" "$(printf %s "${warm[$table]}" | median)" \
        "$(printf %s "${cold_[$table]}" | median)" "$(printf %s "${text[$table]}" | median)" "${dump[$table]}"
done
