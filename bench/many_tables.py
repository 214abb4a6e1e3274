#!/usr/bin/env python3
"""many_tables.py INNOSCAN DIR [TABLES [VERSION]]

What a dump of very many small tables costs, and what it costs the server it is made of. A server (mariadb-10.11, or VERSION
as tests/servers/install.sh names it) gets TABLES (10000) tables of 100 rows in DIR/server; eight clients
update single rows of random tables all the while. Then the tables are dumped by innoscan, by no flag but
the output, and by mydumper with as many threads as there are cores, twice each, in turn. Printed for
each:

  seconds   from start to end
  blocked   how long commits were blocked, as innoscan prints it
  stall     the longest that any client waited for its update
  memory    the most that the tool had

Then the clients end. mydumper dumps the idle server, innoscan its data directory when it has stopped, three
times each, in turn; the medians are compared.

Every dump gets a directory of its own, and none is removed before the end: ext4 is slow to make files
where many were just removed. Needs mydumper and the server (tests/servers/install.sh mydumper VERSION).
The tables are made once.
"""

import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, "../tests/servers/server.sh")
OPTIONS = ["--table-open-cache=25000", "--open-files-limit=60000", "--table-definition-cache=25000",
           "--innodb-flush-log-at-trx-commit=2"]
WRITERS = 8


def client(socket, *words):
    return ["mariadb", "--no-defaults", "-uroot", "-N", "-B", "-S", socket, *words]


def sql(socket, statements):
    done = subprocess.run(client(socket), input=statements, text=True, capture_output=True, check=True)
    return done.stdout


def fill(socket, tables):
    if "many" in sql(socket, "SHOW DATABASES LIKE 'many';"):
        return
    columns = "(id INT PRIMARY KEY, a INT, b VARCHAR(60), KEY (a)) ENGINE=InnoDB"
    rows = ", ".join(f"({id}, {id % 7}, REPEAT('x', {id % 60}))" for id in range(1, 101))
    sql(socket, f"CREATE DATABASE seed; CREATE TABLE seed.rows_ {columns}; "
                f"INSERT INTO seed.rows_ VALUES {rows}; CREATE DATABASE many;")
    made = "".join(f"CREATE TABLE many.t{n} {columns}; INSERT INTO many.t{n} SELECT * FROM seed.rows_;\n"
                   for n in range(tables))
    sql(socket, made)


class Writer(threading.Thread):
    """A client that updates one row after the other."""

    def __init__(self, socket, seed, tables):
        super().__init__(daemon=True)
        self.random, self.tables = random.Random(seed), tables
        self.ends, self.longest_s, self.updates = False, 0.0, 0
        self.client = subprocess.Popen(client(socket, "-n", "many"), stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True, bufsize=1)
        self.start()

    def run(self):
        while not self.ends:
            table, row = self.random.randrange(self.tables), self.random.randrange(100) + 1
            begun = time.monotonic()
            self.client.stdin.write(f"UPDATE t{table} SET a = a + 1 WHERE id = {row}; SELECT 1;\n")
            self.client.stdout.readline()
            self.longest_s = max(self.longest_s, time.monotonic() - begun)
            self.updates += 1

    def end(self):
        self.ends = True
        self.join()
        self.client.communicate()


def measure(socket, tables, command):
    writers = [Writer(socket, seed, tables) for seed in range(WRITERS)]
    # All of them are at work.
    while min(writer.updates for writer in writers) < 100:
        time.sleep(0.01)
    for writer in writers:
        writer.longest_s = 0.0
    begun = time.monotonic()
    done = subprocess.run(["/usr/bin/time", "-f", "%M KB", *command], stderr=subprocess.PIPE, text=True)
    seconds = time.monotonic() - begun
    for writer in writers:
        writer.end()
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    stopped = re.search(r"commits were blocked for ([0-9.]+) s", done.stderr)
    memory_kb = int(re.search(r"(\d+) KB\s*$", done.stderr).group(1))
    return seconds, stopped and float(stopped.group(1)), max(w.longest_s for w in writers), memory_kb


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    innoscan, directory = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    tables = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    version = sys.argv[4] if len(sys.argv) > 4 else "mariadb-10.11"
    home = os.path.join(directory, "server")
    subprocess.run([SERVER, version, "run", home, *OPTIONS], check=True)
    socket = subprocess.check_output([SERVER, version, "socket", home], text=True).strip()
    out = os.path.join(directory, f"out-{os.getpid()}")
    os.makedirs(out)
    ways = {
        "innoscan": [innoscan, "dump", "-S", socket, "-u", "root", "-B", "many", "-o"],
        f"mydumper -t {os.cpu_count()}":
            ["mydumper", "-S", socket, "-u", "root", "-B", "many", "-t", str(os.cpu_count()), "-o"],
    }
    try:
        fill(socket, tables)
        print(f"{version}, {tables} tables of 100 rows, {WRITERS} clients update single rows")
        print(f"{'':16} {'seconds':>8} {'blocked':>8} {'stall':>8} {'memory':>8}")
        spent = dict.fromkeys(ways, 0.0)
        for turn in range(2):
            for nth, (way, command) in enumerate(ways.items()):
                found = measure(socket, tables, [*command, os.path.join(out, f"{turn}-{nth}")])
                seconds, stopped, stall, memory_kb = found
                spent[way] += seconds
                shown = f"{stopped:.2f}" if stopped is not None else "-"
                print(f"{way:16} {seconds:8.1f} {shown:>8} {stall:8.2f} {memory_kb / 1024:6.0f} MB", flush=True)
        ours, theirs = spent.values()
        print(f"innoscan takes {ours / theirs:.2f} of mydumper's time")
    finally:
        subprocess.run([SERVER, version, "stop", home], check=True)
    idle(version, home, out, innoscan, ways)


def idle(version, home, out, innoscan, ways):
    """The idle server by mydumper, and its data directory by innoscan."""
    ways = {way: command for way, command in ways.items() if way != "innoscan"}
    ways["innoscan, of the directory"] = [innoscan, "dump", os.path.join(home, "data"), "-B", "many", "-o"]
    seconds = {way: [] for way in ways}
    for turn in range(3):
        for nth, (way, command) in enumerate(ways.items()):
            needs_server = way.startswith("mydumper")
            if needs_server:
                subprocess.run([SERVER, version, "start", home, *OPTIONS], check=True, stdout=subprocess.DEVNULL)
            begun = time.monotonic()
            subprocess.run([*command, os.path.join(out, f"idle-{turn}-{nth}")], check=True,
                           stderr=subprocess.DEVNULL)
            seconds[way].append(time.monotonic() - begun)
            if needs_server:
                subprocess.run([SERVER, version, "stop", home], check=True)
    print("the server idle, or stopped; medians of 3")
    for way, each in seconds.items():
        print(f"{way:28} {statistics.median(each):8.2f} s ({min(each):.2f}-{max(each):.2f})")
    theirs, ours = (statistics.median(each) for each in seconds.values())
    print(f"innoscan is {theirs / ours:.1f} times as fast")


main()
