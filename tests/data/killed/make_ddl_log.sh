#!/bin/bash
# make_ddl_log.sh: the DDL log of a server of MariaDB 10.11 that was killed while it altered a table. See README.md.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
WORK=$(mktemp -d /var/tmp/innoscan-killed-fixture-XXXXXX)
trap 'rm -rf "$WORK"' EXIT
server() { "$HERE/../../servers/server.sh" mariadb-10.11 "$@"; }

server run "$WORK/server"
server sql "$WORK/server" <<'SQL'
CREATE DATABASE d; USE d;
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(300)) ENGINE=InnoDB;
INSERT INTO t SELECT seq, REPEAT(seq, 30) FROM seq_1_to_200000;
CREATE TABLE other LIKE t; RENAME TABLE other TO renamed; ALTER TABLE renamed ADD KEY (v); DROP TABLE renamed;
SQL
server sql "$WORK/server" -e 'ALTER TABLE d.t ADD COLUMN c INT FIRST, ALGORITHM=COPY' 2>/dev/null &
# until the log has the copy
until grep -q '#sql-alter' "$WORK/server/data/ddl_recovery.log"; do :; done
server kill "$WORK/server"
wait || true
zstd -q -19 -f -o "$HERE/ddl_recovery.log.zst" "$WORK/server/data/ddl_recovery.log"
