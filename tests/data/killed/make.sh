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
# MySQL has no sequences as tables.
sql() {
    case $VERSION in
    mysql-*) sed -E 's/FROM seq_1_to_([0-9]+)/FROM (WITH RECURSIVE n (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < \1) SELECT seq FROM n) AS numbers/' ;;
    *) cat ;;
    esac | server sql "$WORK/server" -N -B
}
case $VERSION in
mysql-*)
    SIZES='--innodb-redo-log-capacity=32M --innodb-idle-flush-pct=0 --innodb-max-dirty-pages-pct-lwm=0 --innodb-data-file-path=ibdata1:5M:autoextend --innodb-autoextend-increment=1'
    PARTS=('#innodb_redo' mysql.ibd undo_001 undo_002) ;;
*)
    SIZES='--innodb-log-file-size=4M --innodb-undo-tablespaces=0 --innodb-data-file-path=ibdata1:4M:autoextend'
    PARTS=(ib_logfile0) ;;
esac

server run "$WORK/server" --innodb-page-size=4k --innodb-max-dirty-pages-pct=99 $SIZES
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
case $VERSION in
mysql-*)
    sql <<'SQL'
USE d;
CREATE TABLE doc (id INT PRIMARY KEY, j JSON) ENGINE=InnoDB;
INSERT INTO doc SELECT seq, JSON_OBJECT('n', seq, 'text', REPEAT('j', 3000)) FROM seq_1_to_20;
UPDATE doc SET j = JSON_SET(j, '$.n', 0) WHERE id < 9;
SQL
    # A transaction is open when the server is killed.
    mkfifo "$WORK/open"
    server sql "$WORK/server" <"$WORK/open" &
    exec 9>"$WORK/open"
    echo "BEGIN; UPDATE d.dyn SET v = 'never', b = REPEAT('n', 20000) WHERE id < 30; DELETE FROM d.red;
          UPDATE d.doc SET j = JSON_SET(j, '$.n', -1);" >&9
    until [ "$(echo "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_rows_modified > 20
                     AND trx_query IS NULL;" | sql)" = 1 ]; do :; done
    tables='dyn red young zip doc' ;;
*) tables='dyn red young zip' ;;
esac
server kill "$WORK/server"

cp -a "$WORK/server" "$WORK/recovered"
server start "$WORK/recovered"
for table in $tables; do
    server sql "$WORK/recovered" -N -B -e "CHECKSUM TABLE d.$table"
done >"$WORK/checksums"
server stop "$WORK/recovered"

NAME=$VERSION-4k
mkdir "$WORK/$NAME"
for part in d ibdata1 "${PARTS[@]}"; do mv "$WORK/server/data/$part" "$WORK/$NAME/"; done
mv "$WORK/checksums" "$WORK/$NAME/checksums.tsv"
server version "$WORK/server" >"$WORK/$NAME/version"
tar -c -S -C "$WORK" --sort=name --owner=0 --group=0 "$NAME" | zstd -q -19 --long=27 -f -o "$HERE/$NAME.tar.zst"
