#!/usr/bin/env bash
# overhead.sh LRA_SO: what the plugin costs a server that does not use it (lra_size 0): a warm scan
# and point lookups, without the plugin and with it, three times in turn; the best of each.
#   ROWS, DIR  as for bench.sh
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 1; }
top=$(cd "$(dirname "$0")/.." && pwd)
dir=${DIR:-$top/bench/data/mysql-9.7-random}
server=("$top/tests/servers/server.sh" mysql-9.7)
ORDER=random SERVER=mysql-9.7 "$top/bench/make_shuffled.sh" "$dir" "${ROWS:-7000000}"
work=$(mktemp -d)
trap '"${server[@]}" stop "$dir"; rm -rf "$work"' EXIT
cp "$1" "$work/lra.so"

awk -v rows="${ROWS:-7000000}" 'BEGIN { srand(5); print "USE bench;"
  for (n = 0; n < 60000; n++) {
    key = int(rand() * rows)
    printf "SELECT price FROM shuffled WHERE user_id = %d AND object_id = %d;\n", int(key / 100) + 1, key % 100 * 1000 + 7
  } }' >"$work/lookups.sql"
scan() { "${server[@]}" sql "$dir" bench -N -e "SELECT SUM(LENGTH(body)) FROM shuffled"; }
lookups() { "${server[@]}" sql "$dir" -N <"$work/lookups.sql"; }
best() { # COMMAND: the least of five times, in milliseconds
  local least= begin took
  for _ in 1 2 3 4 5; do
    begin=$(date +%s%N)
    "$1" >/dev/null
    took=$((($(date +%s%N) - begin) / 1000000))
    [ -n "$least" ] && [ "$least" -le "$took" ] || least=$took
  done
  echo "$least"
}

printf '%-10s %14s %22s\n' plugin 'warm scan, ms' '60000 lookups, ms'
for _ in 1 2 3; do
  for load in '' --plugin-load=lra=lra.so; do
    "${server[@]}" stop "$dir"
    "${server[@]}" start "$dir" --plugin-dir="$work" $load --innodb-buffer-pool-size=4G \
      --innodb-flush-method=O_DIRECT
    scan >/dev/null
    printf '%-10s %14s %22s\n' "${load:+loaded}" "$(best scan)" "$(best lookups)"
  done
done
