#!/usr/bin/env python3
"""live.py INNOSCAN DIR [TABLES [WAY...]]

What a backup costs the server it is made of. A MariaDB with TABLES (14) tables of 1.4 GB each lies
on an XFS of its own, in DIR/xfs.img; four clients update single rows of a twentieth of it all the
while. Then the same tables are dumped by innoscan, locked until they are copied by reflink and
locked until they are read, by mariadb-dump with --lock-tables and with --single-transaction, and by
mydumper; into files on the other file system, compressed where the tool can. Printed for each:

  seconds        from start to end
  lock           how long innoscan says that it held the lock
  stall          the longest that any client waited for its update, and how long without a dump
  hit before/after   the server's buffer pool: reads that found their page there, in five seconds
                 before the dump and in the five after it

WAY: only the ways whose names have all these words.

Needs root (to mount), about 45 GB of disk for 14 tables, mariadb-server, mydumper and xfsprogs
(tests/servers/install.sh mariadb-10.11 mydumper; apt-get install xfsprogs). The table is made once.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, "../tests/servers/server.sh")
VERSION = "mariadb-10.11"
ROWS = 6_000_000
HOT_ROWS = ROWS // 20
POOL = "--innodb-buffer-pool-size=1G"


def run(*words, **more):
    return subprocess.run(words, check=True, **more)


class Server:
    """The server on its XFS."""

    def __init__(self, directory, tables):
        self.image = os.path.join(directory, "xfs.img")
        self.mount = os.path.join(directory, "xfs")
        self.home = os.path.join(self.mount, "server")
        self.tables = [f"t{number}" for number in range(1, tables + 1)]

    def start(self):
        os.makedirs(self.mount, exist_ok=True)
        if not os.path.exists(self.image):
            run("truncate", "-s", f"{3 * len(self.tables) + 12}G", self.image)
            run("mkfs.xfs", "-q", self.image)
        if not os.path.ismount(self.mount):
            run("mount", "-o", "loop", self.image, self.mount)
        run(SERVER, VERSION, "run", self.home, POOL, "--innodb-flush-method=O_DIRECT",
            "--innodb-io-capacity=2000")
        self.socket = subprocess.check_output([SERVER, VERSION, "socket", self.home], text=True).strip()

    def stop(self):
        run(SERVER, VERSION, "stop", self.home)
        run("umount", self.mount)

    def sql(self, statements):
        words = ["mariadb", "--no-defaults", "-uroot", "-N", "-B", "-S", self.socket]
        return run(*words, input=statements, text=True, capture_output=True).stdout

    def fill(self):
        if "bench" in self.sql("SHOW DATABASES LIKE 'bench';"):
            return
        self.sql(f"""CREATE DATABASE filling; USE filling;
            CREATE TABLE t1 (id INT PRIMARY KEY, n INT NOT NULL, title VARCHAR(80) NOT NULL,
                body VARCHAR(300) NOT NULL) ENGINE=InnoDB;
            INSERT INTO t1 SELECT seq, 0, MD5(seq), REPEAT(MD5(seq + 1), 5) FROM seq_1_to_{ROWS};""")
        files = os.path.join(self.home, "data/filling")
        for table in self.tables[1:]:
            self.sql(f"""USE filling; CREATE TABLE {table} LIKE t1;
                ALTER TABLE {table} DISCARD TABLESPACE; FLUSH TABLES t1 FOR EXPORT;
                system cp --reflink=always {files}/t1.ibd {files}/{table}.ibd
                system cp {files}/t1.cfg {files}/{table}.cfg
                UNLOCK TABLES; ALTER TABLE {table} IMPORT TABLESPACE;
                system rm {files}/{table}.cfg""")
        moves = ", ".join(f"filling.{table} TO bench.{table}" for table in self.tables)
        self.sql(f"CREATE DATABASE bench; RENAME TABLE {moves}; DROP DATABASE filling;")

    def pool(self):
        """Reads that were asked for, and those that had to go to the file."""
        rows = self.sql("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_read%';")
        counts = dict(line.split("\t") for line in rows.splitlines())
        return (int(counts["Innodb_buffer_pool_read_requests"]),
                int(counts["Innodb_buffer_pool_reads"]))

    def hit_rate(self, seconds=5):
        asked, read = self.pool()
        time.sleep(seconds)
        asked_then, read_then = self.pool()
        return 1 - (read_then - read) / max(asked_then - asked, 1)


class Client(threading.Thread):
    """Updates one row after the other, and notes how long it waited."""

    def __init__(self, server, seed):
        super().__init__(daemon=True)
        words = ["mariadb", "--no-defaults", "-uroot", "-N", "-B", "-n", "-S", server.socket]
        self.client = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.tables, self.random = server.tables, random.Random(seed)
        self.longest, self.updates, self.is_over = 0.0, 0, False

    def run(self):
        while not self.is_over:
            table, row = self.random.choice(self.tables), self.random.randrange(HOT_ROWS) + 1
            begun = time.monotonic()
            self.client.stdin.write(f"UPDATE bench.{table} SET n = n + 1 WHERE id = {row}; SELECT 1;\n")
            self.client.stdin.flush()
            if not self.client.stdout.readline():
                raise RuntimeError("a client lost its server")
            self.longest = max(self.longest, time.monotonic() - begun)
            self.updates += 1

    def end(self):
        self.is_over = True
        self.join()
        self.client.stdin.close()
        self.client.wait()


def ways(innoscan, server, out):
    files = os.path.join(out, "dump")
    login = ["--no-defaults", "-u", "root", "-S", server.socket]
    ours = [innoscan, "dump", *login, "-B", "bench", "-o", files, "--lock-mode"]
    theirs = f"mariadb-dump --no-defaults -uroot -S {server.socket} --databases bench"
    return {
        "innoscan --lock-mode clone": ours + ["clone"],
        "innoscan --lock-mode export": ours + ["export"],
        "mariadb-dump --lock-tables": ["sh", "-c", f"{theirs} --lock-tables > {out}/dump.sql"],
        "mariadb-dump --single-transaction":
            ["sh", "-c", f"{theirs} --skip-lock-tables --single-transaction > {out}/dump.sql"],
        "mydumper -t 2":
            ["mydumper", "-u", "root", "-S", server.socket, "-B", "bench", "-t", "2", "-o", files],
    }


def measure(server, command, out):
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    clients = [Client(server, seed) for seed in range(4)]
    for client in clients:
        client.start()
    before = server.hit_rate(20)
    usual = max(client.longest for client in clients)
    for client in clients:
        client.longest = 0.0
    begun = time.monotonic()
    said = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
    seconds = time.monotonic() - begun
    # Those that wait still are let through first.
    counts = [client.updates for client in clients]
    while any(client.updates == count for client, count in zip(clients, counts)):
        time.sleep(0.01)
    stall = max(client.longest for client in clients)
    after = server.hit_rate()
    for client in clients:
        client.end()
    lock = re.search(r"were locked for ([\d.]+) s", said)
    return {"seconds": seconds, "lock": float(lock[1]) if lock else None, "usual": usual,
            "stall": stall, "before": before, "after": after}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    innoscan, directory = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    server = Server(directory, int(sys.argv[3]) if len(sys.argv) > 3 else 14)
    server.start()
    results = {}
    try:
        server.fill()
        out = os.path.join(directory, "out")
        for name, command in ways(innoscan, server, out).items():
            if not all(word in name for word in sys.argv[4:]):
                continue
            told = results[name] = measure(server, command, out)
            lock = "" if told["lock"] is None else f"{told['lock']:.2f} s"
            print(f"{name:36} {told['seconds']:7.1f} s  lock {lock:8}  stall {told['stall']:7.3f} s "
                  f"(without {told['usual']:.3f})  hit {100 * told['before']:.2f} -> "
                  f"{100 * told['after']:.2f} %", flush=True)
        shutil.rmtree(out)
    finally:
        server.stop()
    with open(os.path.join(directory, "live.json"), "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)


main()
