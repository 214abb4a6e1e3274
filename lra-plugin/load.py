#!/usr/bin/env python3
"""load.py LRA_SO [PROFILE]: a dump beside a load that reads and writes other tables, with and
without read-ahead: seconds of the dump, and the load's latency meanwhile.

PROFILE is one of throttle.sh's (hdd). The load is transactions as sysbench's oltp_read_write makes
them (10 point reads, a range of 100 rows, 2 updates, a delete and an insert), begun at a fixed rate
whatever becomes of them, so that a transaction that has to queue counts its wait. The rate is set
so that the load alone makes 30 % of the device's reads. Needs root and PyMySQL.
  ROWS  3500000: rows of the dumped table, 1.06 GB    DIR  bench/data/mysql-9.7-load: kept between runs
  SIZE  512: lra_size"""

import os
import pathlib
import queue
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
THROTTLE = str(HERE.parent / "bench/throttle.sh")
sys.path.insert(0, str(HERE / "tests"))
from server import ROOT, Server  # noqa: E402

try:
    import pymysql
except ImportError:
    sys.exit("load.py: PyMySQL is missing: pip install pymysql (or apt-get install python3-pymysql)")

LOAD_SHARE = 0.3
TABLES, TABLE_ROWS = 4, 1_500_000
CONNECTIONS = 48
WARM_UP_S = 20
OPTIONS = ["--innodb-buffer-pool-size=1G", "--innodb-old-blocks-pct=95",
           "--innodb-redo-log-capacity=1G", "--max-connections=100"]


def make(directory, rows):
    """The table to dump, as make_shuffled.sh leaves it, and the tables of the load."""
    subprocess.run([str(ROOT / "bench/make_shuffled.sh"), directory, str(rows)], check=True,
                   env={**os.environ, "ORDER": "random", "SERVER": "mysql-9.7"})
    done = pathlib.Path(directory, f"load.{TABLES}.{TABLE_ROWS}")
    if done.exists():
        return
    server = Server(directory, "none")
    server.start("--innodb-buffer-pool-size=2G", "--innodb-redo-log-capacity=2G")
    try:
        server.sql("DROP DATABASE IF EXISTS load_; CREATE DATABASE load_")
        server.sql(f"""
USE load_; SET cte_max_recursion_depth = {TABLE_ROWS};
CREATE TABLE t0 (id INT PRIMARY KEY, k INT, c CHAR(120), pad CHAR(60), KEY (k));
INSERT INTO t0 WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < {TABLE_ROWS - 1})
  SELECT n, n * 7919 % {TABLE_ROWS}, REPEAT(LEFT(SHA2(n, 256), 40), 3), LEFT(SHA2(n, 256), 60) FROM s;
""" + "".join(f"CREATE TABLE t{n} LIKE t0; INSERT INTO t{n} SELECT * FROM t0;" for n in range(1, TABLES))
            # or the optimizer takes them for empty, and scans
            + "ANALYZE TABLE " + ", ".join(f"t{n}" for n in range(TABLES)))
    finally:
        server.stop()
    done.touch()


def transaction(cursor, chance):
    table = f"load_.t{chance.randrange(TABLES)}"

    def key():
        return chance.randrange(TABLE_ROWS)

    cursor.execute("BEGIN")
    for _ in range(10):
        cursor.execute(f"SELECT c FROM {table} WHERE id = {key()}")
    first = key()
    cursor.execute(f"SELECT SUM(k) FROM {table} WHERE id BETWEEN {first} AND {first + 99}")
    cursor.execute(f"UPDATE {table} SET k = k + 1 WHERE id = {key()}")
    cursor.execute(f"UPDATE {table} SET c = REVERSE(c) WHERE id = {key()}")
    again = key()
    cursor.execute(f"DELETE FROM {table} WHERE id = {again}")
    cursor.execute(f"INSERT IGNORE INTO {table} VALUES ({again}, {key()}, 'c', 'pad')")
    cursor.execute("COMMIT")


def reads_a_second(work):
    """What throttle.sh set for the server in WORK."""
    told = subprocess.run([THROTTLE, "reads", work], capture_output=True, text=True)
    if told.returncode != 0:
        sys.exit("load.py: the load is a share of the device's reads: name a profile that limits them")
    return int(told.stdout)


class Load:
    """Transactions at a rate, from a number of connections."""

    def __init__(self, socket, rate):
        self.socket, self.rate = socket, rate
        self.due = queue.SimpleQueue()
        self.latencies = []  # (when it was due, seconds until it was done)
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(n,)) for n in range(CONNECTIONS)]
        self.threads.append(threading.Thread(target=self.pace))
        for thread in self.threads:
            thread.start()

    def pace(self):
        begin, count = time.monotonic(), 0
        while not self.is_over.is_set():
            count += 1
            at = begin + count / self.rate
            self.is_over.wait(max(at - time.monotonic(), 0))
            self.due.put(at)
        for _ in range(CONNECTIONS):
            self.due.put(None)

    def work(self, number):
        chance = random.Random(number)
        connection = pymysql.connect(unix_socket=self.socket, user="root", autocommit=True)
        with connection, connection.cursor() as cursor:
            while (at := self.due.get()) is not None:
                try:
                    transaction(cursor, chance)
                except pymysql.err.OperationalError as error:
                    # a deadlock with another transaction: it counts, as begun again
                    if error.args[0] != 1213:
                        raise
                    cursor.execute("ROLLBACK")
                    self.due.put(at)
                    continue
                self.latencies.append((at, time.monotonic() - at))

    def stop(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def between(self, begin, end):
        return sorted(latency for at, latency in self.latencies if begin <= at < end)


def told(latencies):
    if len(latencies) < 2:
        return f"{len(latencies):>6} {'-':>8} {'-':>8} {'-':>8}"
    p99 = statistics.quantiles(latencies, n=100, method="inclusive")[98]
    return "{:>6} {:>8.0f} {:>8.0f} {:>8.0f}".format(
        len(latencies), 1e3 * statistics.mean(latencies), 1e3 * p99, 1e3 * latencies[-1])


class Case:
    """A cold server under the load, warmed up."""

    def __init__(self, server, launch, rate):
        self.server = server
        server.stop()
        # What the load before has left to purge would read beside this one.
        os.environ["LAUNCH"] = ""
        server.start(*OPTIONS)
        server.sql("SET GLOBAL innodb_fast_shutdown = 0")
        server.stop()
        subprocess.run(["sync"], check=True)
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3\n")
        os.environ["LAUNCH"] = launch
        server.start(*OPTIONS, "--plugin-load=lra=lra.so")
        self.load = Load(server.socket, rate)
        threading.Event().wait(WARM_UP_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.load.stop()


def reads_of_transaction(server, launch, rate):
    with Case(server, launch, rate) as case:
        before, begin = server.status("Innodb_data_reads"), time.monotonic()
        threading.Event().wait(WARM_UP_S)
        reads = server.status("Innodb_data_reads") - before
        return reads / len(case.load.between(begin, time.monotonic()))


def dump_beside(server, launch, rate, settings):
    with Case(server, launch, rate) as case:
        begin = time.monotonic()
        subprocess.run(
            server.mysqldump("--single-transaction", "--set-gtid-purged=OFF",
                             f"--init-command=SET {settings}", "bench", "shuffled"),
            check=True, stdout=subprocess.DEVNULL)
        end = time.monotonic()
    # what was due while the dump ran, whenever it was done
    return end - begin, case.load.between(begin, end), case.load.between(begin - WARM_UP_S / 2, begin)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    profile = sys.argv[2] if len(sys.argv) > 2 else "hdd"
    size = int(os.environ.get("SIZE", "512"))
    directory = os.environ.get("DIR") or str(ROOT / "bench/data/mysql-9.7-load")
    make(directory, int(os.environ.get("ROWS", "3500000")))
    work = tempfile.mkdtemp()
    plugin = shutil.copy(sys.argv[1], f"{work}/lra.so")
    launch = subprocess.run([THROTTLE, profile, directory, work], check=True,
                            capture_output=True, text=True).stdout.strip()
    server = Server(directory, plugin)
    try:
        device_reads = reads_a_second(work)
        wanted_reads = device_reads * LOAD_SHARE
        a_transaction = reads_of_transaction(server, launch, wanted_reads / 15)
        rate = wanted_reads / a_transaction
        bytes_ = pathlib.Path(directory, "data/bench/shuffled.ibd").stat().st_size
        print(f"{profile}: {device_reads} reads a second; a table of {bytes_} bytes; pool 1 GB; "
              f"load {rate:.1f} transactions a second of {a_transaction:.1f} reads; "
              f"{os.cpu_count()} cores\n")
        print(f"{'':<26} {'dump s':>8} {'ratio':>7} | load meanwhile: {'count':>6} {'mean ms':>8} "
              f"{'p99 ms':>8} {'max ms':>8}")
        plain = None
        for settings in ("lra_size = 0", f"lra_size = {size}", f"lra_size = {size}, lra_sleep = 50"):
            took, meanwhile, alone = dump_beside(server, launch, rate, settings)
            plain = plain or took
            print(f"{settings:<26} {took:>8.1f} {plain / took:>6.1f}x | {'':15} {told(meanwhile)}", flush=True)
            print(f"{'  the load before it':<26} {'':>8} {'':>7} | {'':15} {told(alone)}", flush=True)
    finally:
        server.stop()
        subprocess.run([THROTTLE, "end", work], check=True)
        shutil.rmtree(work)


main()
