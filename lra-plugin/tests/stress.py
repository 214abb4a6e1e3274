#!/usr/bin/env python3
"""stress.py LRA_SO [SECONDS [WRITERS [ROWS]]]: scans read ahead of while everything else goes on.

A snapshot's sum is taken, then taken again and again from the same snapshot with read-ahead on,
while writers change the table, DDL rebuilds and drops others, and queries are killed. The pool is
small. Then CHECK TABLE, the error log, a SIGKILL, and recovery. 200000 ROWS are a table of 180 MB."""

import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from server import Server, keys_below, shuffled, temporary_directory

SUM = "SELECT COUNT(*), SUM(id), BIT_XOR(CRC32(CONCAT_WS(',', id, k, pad))) FROM s.t"
OPTIONS = ["--innodb-stats-persistent=OFF"]
POOL = "--innodb-buffer-pool-size=128M"
# The table is made in a pool that holds it.
POOL_OF_MAKER = "--innodb-buffer-pool-size=3G"


def tables(rows):
    columns = "id INT PRIMARY KEY, k INT, pad VARCHAR(700), KEY (k)"
    return f"""
CREATE DATABASE s; USE s;{shuffled("t", columns, rows, 600)}
CREATE TABLE d LIKE t;
INSERT INTO d SELECT * FROM t WHERE id < 40000;
"""


class Stress:
    def __init__(self, server, keys):
        self.server = server
        self.keys = keys
        self.until = time.monotonic()
        self.failed = []
        self.counts = {}
        self.lock = threading.Lock()

    def goes_on(self):
        return time.monotonic() < self.until

    def count(self, what, amount=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + amount

    def fail(self, what):
        with self.lock:
            self.failed.append(what)
            print("FAILED:", what, flush=True)

    def writer(self, seed):
        """Inserts, updates and deletes, many of them in runs so that pages split and merge. As many
        rows come as go, so that the table keeps its size."""
        number = random.Random(seed)
        while self.goes_on():
            statements = []
            for _ in range(200):
                at = number.randrange(self.keys)
                statements.append(
                    number.choice(
                        [
                            f"INSERT IGNORE INTO s.t SELECT {at} + n, n, REPEAT('w', 300 + {at} % 400) FROM s.digits WHERE n < 61",
                            f"UPDATE s.t SET k = k + 1, pad = REPEAT('u', {at % 700}) WHERE id = {at}",
                            f"DELETE FROM s.t WHERE id BETWEEN {at} AND {at + 60}",
                            f"REPLACE INTO s.t SELECT id + {self.keys // 2}, k, pad FROM s.t WHERE id BETWEEN {at} AND {at + 40}",
                            "ROLLBACK; START TRANSACTION",
                            "COMMIT; START TRANSACTION",
                        ]
                    )
                )
            done = self.server.try_sql("START TRANSACTION;" + ";\n".join(statements) + "; COMMIT", "--force")
            self.count("writers' batches")
            for line in done.stderr.splitlines():
                if line.startswith("ERROR") and not any(
                    known in line for known in ("Deadlock", "Lock wait", "interrupted", "Duplicate")
                ):
                    self.fail(f"a writer: {line}")

    def reader(self, number):
        """One snapshot, summed again and again."""
        while self.goes_on():
            client = subprocess.Popen(
                self.server.client(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True,
            )
            scans = number.randrange(2, 6)
            size = number.choice([1, 4, 16, 64])
            text = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT;"
            text += f"SET lra_size = 0; {SUM}; SET lra_size = {size};" + f"{SUM};" * scans
            text += f"SET lra_gap = {number.choice([-1, 0, 3])}; {SUM}; COMMIT;"
            out, errors = client.communicate(text)
            lines = out.splitlines()
            if len(set(lines)) > 1:
                self.fail(f"a snapshot changed: {lines}")
            self.count("scans compared", max(len(lines) - 1, 0))
            # The killer came by: in a statement, or between two. A server that died fails all that
            # comes after.
            if errors and not any(known in errors for known in ("ERROR 1317", "ERROR 2013", "ERROR 2006")):
                self.fail(f"a reader: {errors}")

    def definer(self, number):
        """DDL on tables that are scanned meanwhile."""
        forms = [
            "ALTER TABLE s.d ENGINE=InnoDB",
            "ALTER TABLE s.d ADD INDEX extra (pad(20), k); ALTER TABLE s.d DROP INDEX extra",
            "OPTIMIZE TABLE s.d",
            "ALTER TABLE s.d ROW_FORMAT=COMPRESSED",
            "ALTER TABLE s.d ROW_FORMAT=DYNAMIC",
            "ALTER TABLE s.d ADD COLUMN extra INT, ALGORITHM=INSTANT; ALTER TABLE s.d DROP COLUMN extra, ALGORITHM=INSTANT",
            "ALTER TABLE s.d DISCARD TABLESPACE; DROP TABLE s.d; CREATE TABLE s.d LIKE s.t",
            "TRUNCATE s.d; INSERT INTO s.d SELECT * FROM s.t WHERE id < 40000",
            "DROP TABLE s.d; CREATE TABLE s.d LIKE s.t; INSERT INTO s.d SELECT * FROM s.t WHERE id < 40000",
            "FLUSH TABLES",
        ]
        while self.goes_on():
            begin = f"SET lra_size = {number.choice([0, 1, 8])}; SET lock_wait_timeout = 2; CREATE TABLE IF NOT EXISTS s.d LIKE s.t;"
            self.server.try_sql(begin + number.choice(forms))
            self.server.try_sql("SET lra_size = 8; CHECKSUM TABLE s.d; SELECT COUNT(*) FROM s.d; SELECT SUM(k) FROM s.d FORCE INDEX (k)")
            self.count("definitions changed")

    def killer(self, number):
        while self.goes_on():
            for row in self.server.try_sql("SHOW PROCESSLIST").stdout.splitlines():
                fields = row.split("\t")
                if len(fields) > 7 and "SUM(id)" in fields[7] and number.random() < 0.3:
                    self.server.try_sql(number.choice(["KILL QUERY ", "KILL "]) + fields[0])
                    self.count("killed")
            threading.Event().wait(1.3)

    def run(self, writers):
        work = [threading.Thread(target=self.writer, args=(seed,)) for seed in range(writers)]
        work += [threading.Thread(target=self.reader, args=(random.Random(100 + n),)) for n in range(3)]
        work += [threading.Thread(target=self.definer, args=(random.Random(200),)),
                 threading.Thread(target=self.killer, args=(random.Random(300),))]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 30
    writers = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    rows = int(sys.argv[4]) if len(sys.argv) > 4 else 200_000
    directory = tempfile.mkdtemp(prefix="lra-", dir=temporary_directory())
    plugin = shutil.copy(sys.argv[1], directory)
    server = Server(f"{directory}/server", plugin, *OPTIONS)
    server.init()
    stress = Stress(server, keys_below(rows))
    try:
        server.restart(POOL_OF_MAKER)
        server.sql(tables(rows))
        server.restart(POOL)
        stress.until = time.monotonic() + seconds
        stress.run(writers)
        for name in ("lra_pages_prefetched", "lra_scans", "lra_misses", "lra_evicted_unused", "lra_pages_failed"):
            stress.counts[name] = server.status(name)
        # The last definition may have been cut short between DROP and CREATE.
        server.sql("CREATE TABLE IF NOT EXISTS s.d LIKE s.t")
        for table in ("s.t", "s.d"):
            found = server.sql(f"CHECK TABLE {table} EXTENDED")
            if [row[-1] for row in found] != ["OK"]:
                stress.fail(f"CHECK TABLE: {found}")
        if server.errors():
            stress.fail(f"the error log: {server.errors()}")
        before = server.sql(SUM)
        # The end of a server that nobody warned, with scans under way.
        scan = subprocess.Popen(server.client("-e", f"SET lra_size = 8; {SUM}"),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.kill()
        scan.wait()
        server.start(POOL)
        if server.sql(SUM) != before:
            stress.fail("rows changed by the crash")
        if [row[-1] for row in server.sql("CHECK TABLE s.t")] != ["OK"]:
            stress.fail("CHECK TABLE after recovery")
        if server.errors():
            stress.fail(f"the error log after recovery: {server.errors()}")
    finally:
        server.stop()
    if stress.counts.get("scans compared", 0) == 0 or stress.counts.get("lra_pages_prefetched", 0) == 0:
        stress.fail("nothing was compared")
    print(stress.counts)
    if not stress.failed:
        shutil.rmtree(directory)
    print(f"stress: {stress.counts.get('scans compared', 0)} passed, {len(stress.failed)} failed")
    sys.exit(1 if stress.failed else 0)


main()
