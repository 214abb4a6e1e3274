#!/usr/bin/env bash
# demo.sh INNOSCAN: the main job on the two real tables of tests/data/demo, each step held to what
# the server that wrote the file said of it.
set -euo pipefail

innoscan=$(realpath "$1")
data=$(cd "$(dirname "$0")/data/demo" && pwd)
# Beside the build, not in /tmp: that may be memory, and this is about a disk.
work=$(mktemp -d "$(dirname "$innoscan")/demo-XXXXXX")
trap 'rm -rf "$work"' EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ innoscan %s\n' "$*"; (cd "$work" && "$innoscan" "$@" 2>"$work/stderr") || { cat "$work/stderr" >&2; exit 1; }; }
must_equal() {
  [ "$2" = "$3" ] || { printf '%s differs from what the server said:\n%s\n%s\n' "$1" "$2" "$3" >&2; exit 1; }
  printf '  = %s, as the server said\n' "$1"
}

for table in cities flights; do
  zstd -qdc --long=27 "$data/$table.tar.zst" | tar -xC "$work"
  expected=$data/expected/$table
  ibd=$table.ibd
  case $table in
    cities) say "cities.ibd: written by MySQL 8.0, definition in the file" ;;
    flights) say "flights.ibd: written by MariaDB 10.11, definition in flights.frm" ;;
  esac

  sync "$work/$ibd"
  # Around the page cache, so that the disk is seen; where the file system cannot, through it.
  direct=required
  "$innoscan" scan "$work/$ibd" --quiet --direct required >/dev/null 2>&1 || direct=off

  run schema "$ibd" | tee "$work/schema.out"
  must_equal "SHOW CREATE TABLE" "$(tail -n +2 "$work/schema.out")" "$(cat "$expected.create.sql")"

  say "$table: page by page in key order, as a server reads it"
  run scan "$ibd" --quiet --read-ahead none --io-engine pread --direct "$direct"
  say "$table: with logical read-ahead"
  run scan "$ibd" --quiet --checksum --direct "$direct" | tee "$work/scan.out"
  must_equal "CHECKSUM TABLE" "$(sed -n 's/^checksum *//p' "$work/scan.out")" "$(cat "$expected.checksum")"
  must_equal "COUNT(*)" "$(sed -n 's/^rows *//p' "$work/scan.out")" "$(cat "$expected.count")"

  say "$table: dumped"
  run dump "$ibd" --quiet --format text -o "$work/$table-text" --no-schemas
  must_equal "INTO OUTFILE, byte for byte" "$(cat "$work/$table-text"/*.txt | sha256sum | cut -d' ' -f1)" \
    "$(cut -d' ' -f1 "$expected.txt.sha256")"
  run dump "$ibd" --quiet --format sql -c none -o "$work/$table-sql"
  (cd "$work/$table-sql" && ls -l | tail -n +2 | awk '{ print "  " $5, "bytes", $9 }')
  tail -n 3 "$work/$table-sql"/*00000.sql | cut -c1-160
done

say "All of it equals what the servers said."
