#!/usr/bin/env bash
# bench.sh LRA_SO [PROFILE...]: cold scans of a shuffled table with and without the plugin, side by
# side in one run: seconds and ratios. Needs root, and for the throttled profiles a blkio cgroup.
#   PROFILE  unthrottled, gp3 (3000 reads and 131 MB a second), hdd (150 and 157; 25 minutes)
#   WHAT     "query dump", of: query (SUM over a column), dump (mysqldump), count (COUNT(*)), force
#            (ALTER TABLE ... FORCE), index (ADD INDEX), optimize (OPTIMIZE TABLE). The last three are
#            done to a copy of the table, whose rows are compared by CHECKSUM TABLE afterwards
#   WITHOUT  the seconds without the plugin, when they are known from another run
#   ROWS     7000000: a table of 2.1 GB        SIZE  512: lra_size
#   ORDER    random, or runs: a table with locality (see bench/make_shuffled.sh)
#   POOL     1G: innodb_buffer_pool_size
#   DIR      bench/data/mysql-9.7-ORDER: where the table is kept between runs
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 1; }
plugin=$(realpath "$1")
shift
profiles=("$@")
[ ${#profiles[@]} -gt 0 ] || profiles=(unthrottled gp3)
top=$(cd "$(dirname "$0")/.." && pwd)
order=${ORDER:-random}
dir=${DIR:-$top/bench/data/mysql-9.7-$order}
size=${SIZE:-512}
server=("$top/tests/servers/server.sh" mysql-9.7)
ORDER=$order SERVER=mysql-9.7 "$top/bench/make_shuffled.sh" "$dir" "${ROWS:-7000000}"

work=$(mktemp -d)
cp "$plugin" "$work/lra.so"
# Where the server's data is: DIR, or a copy for a command that changes it.
at=$dir
trap '"${server[@]}" stop "$at"; "$top/bench/throttle.sh" end "$work"; rm -rf "$work"' EXIT

start() { # LAUNCH
  LAUNCH=$1 "${server[@]}" start "$at" --plugin-dir="$work" --plugin-load=lra=lra.so \
    --innodb-buffer-pool-size="${POOL:-1G}" --innodb-old-blocks-pct=95 --innodb-flush-method=O_DIRECT \
    --innodb-buffer-pool-load-at-startup=OFF --innodb-buffer-pool-dump-at-shutdown=OFF
}
# cold PROFILE WHAT SIZE: its seconds, after a restart of the server with nothing cached.
cold() {
  local launch begin end
  "${server[@]}" stop "$at"
  case $2 in
  force | index | optimize)
    at=$work/copy
    rm -rf "$at"
    mkdir "$at"
    cp -r "$dir/data" "$dir/options" "$at/"
    ;;
  esac
  launch=$("$top/bench/throttle.sh" "$1" "$at" "$work")
  shift
  sync
  echo 3 >/proc/sys/vm/drop_caches
  start "$launch"
  begin=$(date +%s%N)
  "$@" >"$work/out"
  end=$(date +%s%N)
  counters >>"$work/counters"
  "${server[@]}" stop "$at"
  if [ "$at" != "$dir" ]; then
    start ''
    sql 0 'CHECKSUM TABLE shuffled' >"$work/out"
    "${server[@]}" stop "$at"
    rm -rf "$at"
    at=$dir
  fi
  awk -v ns=$((end - begin)) 'BEGIN { printf "%.2f", ns / 1e9 }'
}
counters() {
  "${server[@]}" sql "$at" -N -e "SHOW GLOBAL STATUS LIKE 'lra%'" | awk '$1 !~ /session/ { printf "%s=%s ", substr($1, 5), $2 } END { print "" }'
}
sql() { # SIZE STATEMENT
  "${server[@]}" sql "$at" bench -N -e "SET lra_size = $1; $2"
}
query() { sql "$1" 'SELECT COUNT(*), SUM(LENGTH(body)) FROM shuffled'; }
count() { sql "$1" 'SELECT COUNT(*) FROM shuffled'; }
force() { sql "$1" 'ALTER TABLE shuffled FORCE, ALGORITHM=INPLACE'; }
index() { sql "$1" 'ALTER TABLE shuffled ADD INDEX (created), ALGORITHM=INPLACE'; }
optimize() { sql "$1" 'OPTIMIZE TABLE shuffled'; }
# What reads the dump would take the cores that write it: it goes nowhere. tests/dumps.py compares.
dump() { # SIZE
  "${server[@]}" mysqldump "$dir" --single-transaction --set-gtid-purged=OFF \
    --init-command="SET lra_size = $1" bench shuffled >/dev/null
}

printf 'machine: %s cores, %s; table: %s order, %s bytes; pool %s; lra_size %s; %s\n\n' "$(nproc)" \
  "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
  "$order" "$(stat -c %s "$dir/data/bench/shuffled.ibd")" "${POOL:-1G}" "$size" "$(date -u +%F)"
printf '%-14s %-12s %10s %10s %8s\n' profile what 'without s' 'with s' ratio
for profile in "${profiles[@]}"; do
  for what in ${WHAT:-query dump}; do
    rm -f "$work/rows"
    if [ -n "${WITHOUT:-}" ]; then
      without=$WITHOUT
    else
      without=$(cold "$profile" $what 0)
      mv "$work/out" "$work/rows"
    fi
    with=$(cold "$profile" $what "$size")
    [ ! -e "$work/rows" ] || cmp -s "$work/out" "$work/rows" || { echo "bench.sh: $what: the rows differ" >&2; exit 1; }
    printf '%-14s %-12s %10s %10s %7sx\n' "$profile" $what "$without" "$with" \
      "$(awk -v a="$without" -v b="$with" 'BEGIN { printf "%.2f", a / b }')"
    [ -z "${COUNTERS:-}" ] || tail -n 1 "$work/counters"
  done
done
