#!/usr/bin/env bash
# run.sh INNOSCAN [DIR]: innoscan, mariadb-dump, mydumper and dd on the shuffled table of
# make_shuffled.sh, side by side in one run; prints seconds and ratios. DIR (bench/data) keeps the
# table between runs. As root the page cache is dropped before each cold run; without root cold runs
# are left out by name.
set -euo pipefail

innoscan=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mkdir -p "${2:-$here/data}" && cd "${2:-$here/data}" && pwd)
ibd=$dir/data/bench/shuffled.ibd
server=("$here/../tests/servers/server.sh" mariadb-10.11)
rounds=${ROUNDS:-3}

"$here/make_shuffled.sh" "$dir"

# The best of some rounds: other work on the machine only ever adds time.
best() {
  local least= start end
  for _ in $(seq "$rounds"); do
    [ "$1" = warm ] || { sync; echo 3 >/proc/sys/vm/drop_caches; }
    start=$(date +%s%N)
    "${@:2}" >/dev/null 2>"$log" || { cat "$log" >&2; exit 1; }
    end=$(date +%s%N)
    [ -n "$least" ] && [ "$least" -le $((end - start)) ] || least=$((end - start))
  done
  awk -v ns="$least" 'BEGIN { printf "%.2f", ns / 1e9 }'
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
row() { printf '%-44s %8s s %8sx %s\n' "$1" "$2" "$(ratio "$3" "$2")" "$4"; }

printf 'machine: %s cores, %s; kernel %s\n' "$(nproc)" \
  "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(uname -r)"
printf 'table: %s, %s bytes; best of %s rounds; %s\n\n' \
  "$(basename "$ibd")" "$(stat -c %s "$ibd")" "$rounds" "$(date -u +%F)"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quiet=(--quiet --memory 768M)
if [ -w /proc/sys/vm/drop_caches ]; then
  dd=$(best cold dd if="$ibd" of=/dev/null bs=1M iflag=direct)
  echo "cold, around the page cache; speed against dd"
  row "dd bs=1M iflag=direct" "$dd" "$dd" dd
  row "innoscan scan" "$(best cold "$innoscan" scan "$ibd" "${quiet[@]}" --direct required)" "$dd" dd
  row "innoscan dump --format text" \
    "$(best cold "$innoscan" dump "$ibd" "${quiet[@]}" --format text --direct required)" "$dd" dd
  row "innoscan scan --read-ahead none" "$(rounds=1 best cold "$innoscan" scan "$ibd" "${quiet[@]}" \
    --read-ahead none --io-engine pread --direct required)" "$dd" dd
else
  echo "skipped: cold runs (dropping the page cache needs root)"
fi

[ ! -w /proc/sys/vm/drop_caches ] || echo 3 >/proc/sys/vm/drop_caches
printf '\npeak resident memory of a cold text dump, --memory 768M: '
python3 - "$innoscan" dump "$ibd" "${quiet[@]}" --format text --direct required <<'PY'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, "MiB")
PY

cat "$ibd" >/dev/null
warm_text=$(best warm "$innoscan" dump "$ibd" "${quiet[@]}" --format text)
warm_sql=$(best warm "$innoscan" dump "$ibd" "${quiet[@]}" --format sql)
out=$(mktemp -d "$dir/out-XXXXXX")
warm_files=$(rounds=1 best warm "$innoscan" dump "$ibd" "${quiet[@]}" --format sql --layout files -o "$out/innoscan")
warm_scan=$(best warm "$innoscan" scan "$ibd" "${quiet[@]}")
warm_sum=$(best warm "$innoscan" scan "$ibd" "${quiet[@]}" --checksum)

"${server[@]}" start "$dir" --innodb-buffer-pool-size=4G >/dev/null
trap '"${server[@]}" stop "$dir"; rm -rf "$out" "$log"' EXIT
sock=$("${server[@]}" socket "$dir")
dump=(mariadb-dump --no-defaults -uroot -S "$sock" bench shuffled)
"${dump[@]}" >/dev/null
server_dump=$(best warm "${dump[@]}")
server_my=$(rounds=1 best warm mydumper -u root -S "$sock" -B bench -T shuffled -t 2 -o "$out/my")

printf '\nwarm, server with the whole table in its pool; speed against mariadb-dump\n'
row "mariadb-dump" "$server_dump" "$server_dump" mariadb-dump
row "mydumper -t 2 (writes files)" "$server_my" "$server_dump" mariadb-dump
row "innoscan dump --format sql" "$warm_sql" "$server_dump" mariadb-dump
row "innoscan dump --format sql (writes files)" "$warm_files" "$server_dump" mariadb-dump
row "innoscan dump --format text" "$warm_text" "$server_dump" mariadb-dump
row "innoscan scan" "$warm_scan" "$server_dump" mariadb-dump
row "innoscan scan --checksum" "$warm_sum" "$server_dump" mariadb-dump
