#!/bin/bash
# make.sh: writes VERSION.pages beside it, for mariadb-10.11 and mysql-8.0.33 (see README.md).
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
SERVER=$HERE/../../servers/server.sh
for version in mariadb-10.11 mysql-8.0.33; do
    dir=$(mktemp -d)
    "$SERVER" $version run "$dir" --innodb-page-size=4k
    {
        echo "CREATE DATABASE d; USE d;"
        echo "CREATE TABLE t (a INT PRIMARY KEY, n INT NOT NULL, v VARCHAR(200), b TEXT) ENGINE=InnoDB;"
        for a in $(seq 1 40); do
            echo "INSERT INTO t VALUES ($a, $a, REPEAT('v$a', $((a % 7))), REPEAT('b$a', $((a * a))));"
        done
    } | "$SERVER" $version sql "$dir"
    # the client holds its transaction open until the server is gone
    {
        echo "USE d; BEGIN;"
        for a in $(seq 1 3 40); do
            echo "UPDATE t SET n = n + 1, v = NULL WHERE a = $a; UPDATE t SET b = 'short' WHERE a = $a;"
            echo "DELETE FROM t WHERE a = $((a + 1)); UPDATE t SET v = 'again' WHERE a = $a;"
            echo "INSERT INTO t VALUES ($((a + 1)), 7, 'back', NULL), ($((a + 100)), 8, NULL, 'new');"
        done
        echo "SELECT 1 INTO OUTFILE '$dir/changed';"
        while kill -0 "$(cat "$dir/pid")" 2>/dev/null; do sleep 0.1; done
    } | "$SERVER" $version sql "$dir" >/dev/null 2>&1 &
    until [ -s "$dir/changed" ]; do sleep 0.1; done
    "$SERVER" $version kill "$dir"
    wait
    "$SERVER" $version start "$dir" --innodb-force-recovery=3
    "$SERVER" $version stop "$dir"
    python3 - "$dir/data" "$HERE/$version.pages" <<'PY'
import pathlib, sys
data, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
number = lambda page, at: int.from_bytes(page[at:at + 2], "big")
found = []
for name in ["ibdata1", "undo_001", "undo_002"]:
    path = data / name
    bytes = path.read_bytes() if path.exists() else b""
    for at in range(0, len(bytes), 4096):
        page = bytes[at:at + 4096]
        # undo pages with records of the newest log, which is active where it begins on the page
        if number(page, 24) == 2 and number(page, 42) > number(page, 40) and number(page, 56) in (0, 1):
            found.append(page)
out.write_bytes(b"".join(found[:4]))
PY
    rm -rf "$dir"
done
