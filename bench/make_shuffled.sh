#!/bin/bash
# make_shuffled.sh DIR [ROWS]
#
# Makes the table the benchmarks read: ROWS rows (6,000,000: 1.4 GB) whose clustered index's leaves
# are in no order at all in the file. Row i of the input gets key number (i * 2654435761) mod ROWS,
# so each insert goes to another leaf and every leaf is split at another time. That spaces the
# leaves of a range of keys evenly in the file; with ORDER=random the keys come in a random order
# (seeded), and so do the leaves. With ORDER=runs the table has grown as tables do: runs of 50 to
# 500 neighbouring keys in a random order, two secondary indexes, and a tenth of the rows, strewn
# over the table, made longer afterwards. With ORDER=rounds it was loaded in four rounds, each of a
# quarter of the keys, strewn over all of them, in ascending order: the one that a table many times
# larger than memory can be made in.
#
# Leaves DIR/data, a data directory after a clean shutdown, with the table bench.shuffled. Does
# nothing when it is there. Needs about twice the table's size of disk and the server, as
# tests/servers/install.sh has it. SERVER (mariadb-10.11): which. BUFFER_POOL (6G): its memory.
# BODY_BYTES: so many more in each row, half of them words, half noise.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 1; }
ROWS=${2:-6000000}
mkdir -p "$1"
DIR=$(cd "$1" && pwd)
NAME=${SERVER:-mariadb-10.11}
SERVER=("$(dirname "$0")/../tests/servers/server.sh" "$NAME")
case $NAME in
mysql-[89]*) LOG_SIZE=--innodb-redo-log-capacity=4G ;;
*) LOG_SIZE=--innodb-log-file-size=2G ;;
esac
[ ! -e "$DIR/shuffled.$ROWS" ] || exit 0

rows() {
    python3 - "$ROWS" "${ORDER:-even}" "${BODY_BYTES:-0}" <<'PY'
import array
import base64
import random
import sys

rows, order, body_bytes = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if order == "random":
    keys = array.array("q", range(rows))
    random.Random(1).shuffle(keys)
elif order == "runs":
    chance = random.Random(1)
    starts, at = [], 0
    while at < rows:
        starts.append(at)
        at += chance.randint(50, 500)
    ends = dict(zip(starts, starts[1:] + [rows]))
    chance.shuffle(starts)
    keys = (key for start in starts for key in range(start, ends[start]))
elif order == "rounds":
    keys = (key for round_ in range(4) for key in range(rows)
            if (key * 2654435761 >> 16) % 4 == round_)
else:
    keys = (i * 2654435761 % rows for i in range(rows))
out = sys.stdout
lines = []
words = "lorem ipsum dolor sit amet " * (body_bytes // 27 + 1)
noise = base64.b85encode(random.Random(2).randbytes(4 << 20)).decode()
for i, key in enumerate(keys):
    user, object_ = key // 100 + 1, key % 100 * 1000 + 7
    title = f"title {key:08d} of object {object_}"
    body = f"body {i} " + "lorem ipsum dolor sit amet " * (key % 7)
    if body_bytes:
        at = i * 7919 % (4 << 20)
        body += words[: body_bytes // 2] + noise[at : at + body_bytes // 2]
    day = 1 + key % 28
    lines.append(
        f"{user}\t{object_}\t{title}\t{body}\t2026-{1 + key % 12:02d}-{day:02d} "
        f"{key % 24:02d}:{key % 60:02d}:{i % 60:02d}\t{key % 100000}.{i % 100:02d}\n"
    )
    if len(lines) == 10000:
        out.write("".join(lines))
        lines = []
out.write("".join(lines))
PY
}

INDEXES=
[ "${ORDER:-even}" != runs ] || INDEXES=', KEY (created), KEY (title)'
"${SERVER[@]}" run "$DIR" --innodb-buffer-pool-size="${BUFFER_POOL:-6G}" \
    "$LOG_SIZE" --innodb-flush-log-at-trx-commit=0 --innodb-flush-method=O_DIRECT
trap '"${SERVER[@]}" stop "$DIR"' EXIT
"${SERVER[@]}" sql "$DIR" -e "
    DROP DATABASE IF EXISTS bench; CREATE DATABASE bench;
    CREATE TABLE bench.shuffled (
        user_id BIGINT UNSIGNED NOT NULL,
        object_id BIGINT UNSIGNED NOT NULL,
        title VARCHAR(255) NOT NULL,
        body VARCHAR($((1000 + ${BODY_BYTES:-0}))) NOT NULL,
        created DATETIME NOT NULL,
        price DECIMAL(12,2) NOT NULL,
        PRIMARY KEY (user_id, object_id)$INDEXES
    ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
FIFO=$DIR/rows.fifo
rm -f "$FIFO"
mkfifo "$FIFO"
rows > "$FIFO" &
"${SERVER[@]}" sql "$DIR" -e "
    SET unique_checks = 0; SET foreign_key_checks = 0;
    LOAD DATA INFILE '$FIFO' INTO TABLE bench.shuffled"
if [ "${ORDER:-even}" = runs ]; then
    "${SERVER[@]}" sql "$DIR" -e "
        UPDATE bench.shuffled SET body = CONCAT(body, 'and what was written to it later')
        WHERE CRC32(CONCAT(user_id, '.', object_id)) % 10 = 0"
fi
rm -f "$FIFO"
"${SERVER[@]}" sql "$DIR" -e "SET GLOBAL innodb_fast_shutdown = 0"
touch "$DIR/shuffled.$ROWS"
