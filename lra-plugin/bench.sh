#!/usr/bin/env bash
# bench.sh LRA_SO [PROFILE...]: cold scans of a shuffled table with and without the plugin, side by
# side in one run: seconds and ratios. Needs root, and for the throttled profiles a blkio cgroup.
#   PROFILE  unthrottled, gp3 (3000 reads and 131 MB a second), hdd (150 and 157; 25 minutes)
#   ROWS     7000000: a table of 2.1 GB        SIZE  512: lra_size
#   DIR      bench/data/mysql-9.7: where the table is kept between runs
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 1; }
plugin=$(realpath "$1")
shift
profiles=("$@")
[ ${#profiles[@]} -gt 0 ] || profiles=(unthrottled gp3)
top=$(cd "$(dirname "$0")/.." && pwd)
dir=${DIR:-$top/bench/data/mysql-9.7}
size=${SIZE:-512}
server=("$top/tests/servers/server.sh" mysql-9.7)
root=$(cd "${INNOSCAN_SERVERS:-$HOME/.cache/innoscan/servers}/mysql-9.7/root" && pwd -P)
# The server's own mysqldump, by the loader of its release.
mysqldump=("$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu"
  "$root/usr/bin/mysqldump")
ORDER=random SERVER=mysql-9.7 "$top/bench/make_shuffled.sh" "$dir" "${ROWS:-7000000}"

group=/sys/fs/cgroup/blkio/lra-bench
disk=$(df --output=source "$dir" | tail -n 1)
disk=$(lsblk -no PKNAME "$disk" | head -n 1 | sed 's|^.|/dev/&|' | grep . || echo "$disk")
device=$(lsblk -dno MAJ:MIN "$disk" | tr -d ' ')
plugins=$(mktemp -d)
cp "$plugin" "$plugins/lra.so"
trap '"${server[@]}" stop "$dir"; rm -rf "$plugins"; rmdir "$group" 2>/dev/null || true' EXIT

# throttle PROFILE: a command that puts itself, and the server it becomes, into the group.
throttle() {
  case $1 in
  unthrottled) return ;;
  gp3) set -- 3000 131072000 ;;
  hdd) set -- 150 157286400 ;;
  *) echo "bench.sh: no profile $1" >&2; exit 1 ;;
  esac
  mkdir -p "$group"
  echo "$device $1" >"$group/blkio.throttle.read_iops_device"
  echo "$device $2" >"$group/blkio.throttle.read_bps_device"
  cat >"$plugins/throttled" <<IN
#!/bin/sh
echo \$\$ >$group/cgroup.procs
exec "\$@"
IN
  chmod +x "$plugins/throttled"
  echo "$plugins/throttled"
}

# cold PROFILE COMMAND...: its seconds, after a restart of the server with nothing cached.
cold() {
  local launch begin end
  launch=$(throttle "$1")
  shift
  "${server[@]}" stop "$dir"
  sync
  echo 3 >/proc/sys/vm/drop_caches
  LAUNCH=$launch "${server[@]}" start "$dir" --plugin-dir="$plugins" --plugin-load=lra=lra.so \
    --innodb-buffer-pool-size=1G --innodb-old-blocks-pct=95 --innodb-flush-method=O_DIRECT \
    --innodb-buffer-pool-load-at-startup=OFF --innodb-buffer-pool-dump-at-shutdown=OFF
  begin=$(date +%s%N)
  "$@" >"$plugins/out"
  end=$(date +%s%N)
  awk -v ns=$((end - begin)) 'BEGIN { printf "%.2f", ns / 1e9 }'
}
query() { # SIZE
  "${server[@]}" sql "$dir" bench -N -e "SET lra_size = $1; SELECT COUNT(*), SUM(LENGTH(body)) FROM shuffled"
}
dump_to() { # FILE SIZE
  "${mysqldump[@]}" --no-defaults -uroot -S "$("${server[@]}" socket "$dir")" --single-transaction \
    --set-gtid-purged=OFF --skip-dump-date --init-command="SET lra_size = $2" bench shuffled >"$1"
}
# What reads the dump would take the cores that write it: it is timed into nothing.
dump() { # SIZE
  dump_to /dev/null "$1"
}

printf 'machine: %s cores, %s; table: %s bytes; pool 1 GB; lra_size %s; %s\n\n' "$(nproc)" \
  "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
  "$(stat -c %s "$dir/data/bench/shuffled.ibd")" "$size" "$(date -u +%F)"
printf '%-14s %-12s %10s %10s %8s\n' profile what 'without s' 'with s' ratio
for profile in "${profiles[@]}"; do
  for what in query dump; do
    without=$(cold "$profile" $what 0)
    rows=$(cat "$plugins/out")
    with=$(cold "$profile" $what "$size")
    [ "$rows" = "$(cat "$plugins/out")" ] || { echo "bench.sh: $what: the rows differ" >&2; exit 1; }
    printf '%-14s %-12s %10s %10s %7sx\n' "$profile" $what "$without" "$with" \
      "$(awk -v a="$without" -v b="$with" 'BEGIN { printf "%.2f", a / b }')"
  done
done
