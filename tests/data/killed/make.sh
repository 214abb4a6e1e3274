#!/bin/bash
# make.sh [VERSION]: the directory of a killed server, VERSION (mariadb-10.11 unless named), with 4 KiB pages, and
# what the server itself reads from a copy of it after its recovery. See README.md.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
SERVER=$HERE/../../servers/server.sh
VERSION=${1:-mariadb-10.11}
WORK=$(mktemp -d /var/tmp/innoscan-killed-fixture-XXXXXX)
trap 'rm -rf "$WORK"' EXIT

server() { "$SERVER" "$VERSION" "$@"; }
sql() { server sql "$WORK/server" -N -B; }

server run "$WORK/server" --innodb-page-size=4k --innodb-log-file-size=4M --innodb-max-dirty-pages-pct=99 \
    --innodb-undo-tablespaces=0 --innodb-data-file-path=ibdata1:4M:autoextend
sql <<'SQL'
CREATE DATABASE d; USE d;
CREATE TABLE dyn (id INT PRIMARY KEY AUTO_INCREMENT, k INT, v VARCHAR(300), b BLOB, KEY (k)) ENGINE=InnoDB;
CREATE TABLE red (id INT PRIMARY KEY AUTO_INCREMENT, k INT, v VARCHAR(300), b BLOB, KEY (k)) ENGINE=InnoDB ROW_FORMAT=REDUNDANT;
INSERT INTO dyn (k, v) SELECT seq, REPEAT(CHAR(97 + seq % 26), seq % 90) FROM seq_1_to_400;
INSERT INTO red (k, v) SELECT seq, REPEAT(CHAR(65 + seq % 26), seq % 70) FROM seq_1_to_400;
SQL
# A checkpoint, so that the files have pages that the log changes.
server stop "$WORK/server"
server start "$WORK/server"
sql <<'SQL'
USE d;
CREATE TABLE young (id INT PRIMARY KEY, v VARCHAR(40)) ENGINE=InnoDB;
INSERT INTO young SELECT seq, CONCAT('row ', seq) FROM seq_1_to_150;
CREATE TABLE zip (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=2;
INSERT INTO zip SELECT seq, REPEAT(seq, 20) FROM seq_1_to_200;
DELETE FROM dyn WHERE id % 7 = 3;
DELETE FROM red WHERE id BETWEEN 100 AND 160;
UPDATE dyn SET v = CONCAT(v, ' longer ', REPEAT('x', id % 60)) WHERE id % 5 = 0;
UPDATE red SET id = id + 10000, v = 'moved' WHERE id % 11 = 0;
INSERT INTO dyn (k, v, b) VALUES (1, 'off-page', REPEAT('b', 9000)), (2, 'two', REPEAT('c', 30000));
INSERT INTO red (k, v, b) VALUES (1, 'off-page', REPEAT('d', 9000));
ALTER TABLE dyn ADD COLUMN late INT DEFAULT 7, ALGORITHM=INSTANT;
INSERT INTO dyn (k, v, late) SELECT seq, 'late', seq FROM seq_1_to_120;
BEGIN; UPDATE red SET v = NULL WHERE id < 50; ROLLBACK;
SQL
until [ "$(echo 'SELECT COUNT(*) FROM information_schema.innodb_trx;' | sql)" = 0 ]; do :; done
server kill "$WORK/server"

cp -a "$WORK/server" "$WORK/recovered"
server start "$WORK/recovered"
for table in dyn red young zip; do
    server sql "$WORK/recovered" -N -B -e "CHECKSUM TABLE d.$table"
done >"$WORK/checksums"
server stop "$WORK/recovered"

NAME=$VERSION-4k
mkdir "$WORK/$NAME"
for part in d ibdata1 ib_logfile0; do mv "$WORK/server/data/$part" "$WORK/$NAME/"; done
mv "$WORK/checksums" "$WORK/$NAME/checksums.tsv"
server version "$WORK/server" >"$WORK/$NAME/version"
tar -c -S -C "$WORK" --sort=name --owner=0 --group=0 "$NAME" | zstd -q -19 --long=27 -f -o "$HERE/$NAME.tar.zst"
