#!/bin/bash
# make.sh: rebuilds the tables of this folder.  Needs the server (../../servers/install.sh) and zstd.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
SERVERS=$HERE/../../servers
VERSION=mysql-8.0.33
"$SERVERS/install.sh" $VERSION
WORK=$(mktemp -d)
trap '"$SERVERS/server.sh" $VERSION stop "$WORK" || true; rm -rf "$WORK"' EXIT
"$SERVERS/server.sh" $VERSION run "$WORK" --innodb-page-size=4k --innodb-stats-persistent=OFF
sql() { "$SERVERS/server.sh" $VERSION sql "$WORK" "$@"; }
sql -e "
CREATE DATABASE r; USE r;
CREATE TABLE seq (n int PRIMARY KEY);
INSERT INTO seq VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
CREATE TABLE ascending (id int PRIMARY KEY, body char(100) CHARACTER SET latin1 NOT NULL);
INSERT INTO ascending SELECT a.n * 1000 + b.n * 100 + c.n * 10 + d.n AS i, REPEAT('a', 90)
  FROM seq a, seq b, seq c, seq d ORDER BY i;
CREATE TABLE grown (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL, c int NOT NULL, d int NOT NULL,
  body varchar(100) CHARACTER SET latin1 NOT NULL, KEY (a), KEY (b), KEY (c), KEY (d));
INSERT INTO grown SELECT i, i * 7919 % 5003, i * 104729 % 5003, i * 31 % 5003, i, REPEAT('g', 80)
  FROM (SELECT a.n * 1000 + b.n * 100 + c.n * 10 + d.n AS i FROM seq a, seq b, seq c, seq d) x
  WHERE i < 5003 ORDER BY i * 2671 % 5003;
UPDATE grown SET body = REPEAT('G', 100) WHERE id % 10 = 3;
DELETE FROM grown WHERE id % 10 = 7"
for table in ascending grown; do
    sql r -N -e "CHECKSUM TABLE $table" | cut -f2 >"$HERE/$table.checksum"
    sql r -N -r -e "SHOW CREATE TABLE $table" | sed '1s/^[^\t]*\t//' | head -c -1 >"$HERE/$table.create.sql"
done
# what was deleted is purged
sql -e "SET GLOBAL innodb_fast_shutdown = 0"
"$SERVERS/server.sh" $VERSION stop "$WORK"
for table in ascending grown; do zstd -q -f --ultra -22 "$WORK/data/r/$table.ibd" -o "$HERE/$table.ibd.zst"; done
ls -l "$HERE"
