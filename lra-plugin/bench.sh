#!/usr/bin/env bash
# bench.sh LRA_SO [PROFILE...]: cold scans of a shuffled table with and without the plugin, side by
# side in one run: seconds and ratios. Needs root, and for the throttled profiles a blkio cgroup.
#   PROFILE  unthrottled, gp3 (3000 reads and 131 MB a second), hdd (150 and 157; 25 minutes)
#   WHAT     "query dump", of: query (SUM over a column), dump (mysqldump), count (COUNT(*))
#   ROWS     7000000: a table of 2.1 GB        SIZE  512: lra_size
#   ORDER    random, or runs: a table with locality (see bench/make_shuffled.sh)
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
trap '"${server[@]}" stop "$dir"; "$top/bench/throttle.sh" end "$work"; rm -rf "$work"' EXIT

# cold PROFILE COMMAND...: its seconds, after a restart of the server with nothing cached.
cold() {
  local launch begin end
  launch=$("$top/bench/throttle.sh" "$1" "$dir" "$work")
  shift
  "${server[@]}" stop "$dir"
  sync
  echo 3 >/proc/sys/vm/drop_caches
  LAUNCH=$launch "${server[@]}" start "$dir" --plugin-dir="$work" --plugin-load=lra=lra.so \
    --innodb-buffer-pool-size=1G --innodb-old-blocks-pct=95 --innodb-flush-method=O_DIRECT \
    --innodb-buffer-pool-load-at-startup=OFF --innodb-buffer-pool-dump-at-shutdown=OFF
  begin=$(date +%s%N)
  "$@" >"$work/out"
  end=$(date +%s%N)
  awk -v ns=$((end - begin)) 'BEGIN { printf "%.2f", ns / 1e9 }'
}
sql() { # SIZE COLUMNS
  "${server[@]}" sql "$dir" bench -N -e "SET lra_size = $1; SELECT $2 FROM shuffled"
}
query() { sql "$1" 'COUNT(*), SUM(LENGTH(body))'; }
count() { sql "$1" 'COUNT(*)'; }
# What reads the dump would take the cores that write it: it goes nowhere. tests/dumps.py compares.
dump() { # SIZE
  "${server[@]}" mysqldump "$dir" --single-transaction --set-gtid-purged=OFF \
    --init-command="SET lra_size = $1" bench shuffled >/dev/null
}

printf 'machine: %s cores, %s; table: %s order, %s bytes; pool 1 GB; lra_size %s; %s\n\n' "$(nproc)" \
  "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
  "$order" "$(stat -c %s "$dir/data/bench/shuffled.ibd")" "$size" "$(date -u +%F)"
printf '%-14s %-12s %10s %10s %8s\n' profile what 'without s' 'with s' ratio
for profile in "${profiles[@]}"; do
  for what in ${WHAT:-query dump}; do
    without=$(cold "$profile" $what 0)
    rows=$(cat "$work/out")
    with=$(cold "$profile" $what "$size")
    [ "$rows" = "$(cat "$work/out")" ] || { echo "bench.sh: $what: the rows differ" >&2; exit 1; }
    printf '%-14s %-12s %10s %10s %7sx\n' "$profile" $what "$without" "$with" \
      "$(awk -v a="$without" -v b="$with" 'BEGIN { printf "%.2f", a / b }')"
  done
done
