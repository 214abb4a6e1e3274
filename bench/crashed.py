#!/usr/bin/env python3
"""crashed.py INNOSCAN DIR [ROWS [BODY_BYTES [LOG_MB]]]

What it costs to read the directory of a killed server. SERVER (mariadb-10.11) gets the shuffled table of
make_shuffled.sh with ROWS rows (6,000,000) with BODY_BYTES more in each (0: 1.4 GB; 3000: some 20 GB), unless DIR
has it from a run before. It is then killed when LOG_MB (1,000) of its log were written since the last checkpoint.
Printed, each from a cold page cache, the best of 3:

  small    the killed directory: one table of ten rows, the log included
  killed   innoscan dumps the directory as it was left
  server   the server recovers it, once, until it answers; then mariadb-dump
  clean    innoscan dumps the directory that the server recovered and shut down

The rows of the two dumps must be equal. Needs root (to drop the page cache), twice the table's size of disk, and
the server (tests/servers/install.sh). Run nothing beside it.
"""

import hashlib
import os
import resource
import shutil
import subprocess
import sys
import time

from tablespaces import drop_caches

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "../tests/servers/server.sh")
NAME = os.environ.get("SERVER", "mariadb-10.11")
IS_MYSQL = NAME.startswith("mysql")
LOG = "--innodb-redo-log-capacity=6G" if IS_MYSQL else "--innodb-log-file-size=4G"
DIRTY = [LOG, "--innodb-buffer-pool-size=6G", "--innodb-max-dirty-pages-pct=99",
         "--innodb-max-dirty-pages-pct-lwm=98", "--innodb-flush-log-at-trx-commit=2",
         "--innodb-flush-method=O_DIRECT"]
# Statements change so many rows each.
ROWS = 10
LSN = ("SELECT variable_value FROM {}.global_status WHERE variable_name = '{}'".format(
    *(("performance_schema", "Innodb_redo_log_current_lsn") if IS_MYSQL else
      ("information_schema", "Innodb_lsn_current"))))


def server(home, command, *words, **more):
    return subprocess.run([SCRIPT, NAME, command, home, *words], text=True, check=True,
                          env={**os.environ, "INNOSCAN_DEADLINE": "1800"}, **more)


def sql(home, text):
    return server(home, "sql", "-N", "-e", text, capture_output=True).stdout.strip()


def make(home, rows, body_bytes):
    env = {**os.environ, "ORDER": "rounds", "BODY_BYTES": str(body_bytes)}
    subprocess.run([os.path.join(HERE, "make_shuffled.sh"), home, str(rows)], check=True, env=env)


def changes(users):
    """Statements that change rows all over the table."""
    at = 1
    while True:
        at = (at * 1103515245 + 12345) % (1 << 31)
        user = 1 + at % users
        yield (f"UPDATE bench.shuffled SET body = CONCAT(REVERSE(body)), price = price + 1 WHERE user_id = {user} "
               f"LIMIT {ROWS};\n")


def kill_with_log(home, rows, log_bytes):
    """Kills the server when its log has so many bytes after the checkpoint."""
    server(home, "start", *DIRTY, stdout=subprocess.DEVNULL)
    sql(home, "CREATE TABLE IF NOT EXISTS bench.small (id INT PRIMARY KEY, v INT); REPLACE INTO bench.small "
              "VALUES (1,1),(2,2),(3,3),(4,4),(5,5),(6,6),(7,7),(8,8),(9,9),(10,10)")
    begun = int(sql(home, LSN))
    client = subprocess.Popen([SCRIPT, NAME, "sql", home], stdin=subprocess.PIPE, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    statements = changes(rows // 100)
    written = 0
    while written < log_bytes:
        client.stdin.write("".join(next(statements) for _ in range(200)))
        client.stdin.flush()
        written = int(sql(home, LSN)) - begun
    server(home, "kill")
    client.wait()
    return written


def timed(words):
    """Seconds by the clock and of the processors, of a command, from a cold page cache; and its output's lines."""
    drop_caches()
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.time() - begun, cpu_s, done.stderr


def best(words):
    return min((timed(words) for _ in range(3)), key=lambda run: run[0])


def sums(directory):
    found = {}
    for base, _, files in os.walk(directory):
        for file in files:
            if file.endswith(".csv"):
                with open(os.path.join(base, file), "rb") as rows:
                    found[file] = hashlib.file_digest(rows, "sha256").hexdigest()
    return found


def dump(innoscan, data, out):
    """The best of three dumps, and the sums of their files."""
    def once():
        run = timed([innoscan, "dump", data, "--format", "csv", "-o", out, "-B", "bench"])
        found = sums(out)
        shutil.rmtree(out)
        return run, found
    runs = [once() for _ in range(3)]
    assert all(found == runs[0][1] for _, found in runs), "the dumps of a directory differ"
    return min((run for run, _ in runs), key=lambda run: run[0]), runs[0][1]


def main():
    innoscan, directory = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    rows = int(sys.argv[3]) if len(sys.argv) > 3 else 6_000_000
    body_bytes = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    log_bytes = (int(sys.argv[5]) if len(sys.argv) > 5 else 1000) * 1_000_000
    home, out = os.path.join(directory, "server"), os.path.join(directory, "out")
    data = os.path.join(home, "data")
    if not os.path.exists(os.path.join(data, "bench")):
        make(home, rows, body_bytes)
    written = kill_with_log(home, rows, log_bytes)
    print(f"{NAME}: {os.path.getsize(os.path.join(data, 'bench/shuffled.ibd')) / 1e9:.1f} GB, "
          f"{written / 1e6:.0f} MB of log after the start", flush=True)

    small = best([innoscan, "scan", "bench.small", "--datadir", data])
    print(f"small    {small[0]:.2f} s, {small[1]:.2f} s of the processors", flush=True)
    killed, rows_of_killed = dump(innoscan, data, out)

    drop_caches()
    begun = time.time()
    server(home, "start", *DIRTY, stdout=subprocess.DEVNULL)
    recovered_s = time.time() - begun
    begun = time.time()
    rows_of_server = os.path.join(directory, "server.sql")
    with open(rows_of_server, "w") as dumped:
        server(home, "dump", "--single-transaction", "bench", stdout=dumped)
    dumped_s = time.time() - begun
    os.remove(rows_of_server)
    print(f"server   {recovered_s + dumped_s:.1f} s: recovered in {recovered_s:.1f}, dumped in {dumped_s:.1f}",
          flush=True)
    server(home, "stop")

    clean, rows_of_clean = dump(innoscan, data, out)
    for name, run in [("clean", clean), ("killed", killed)]:
        print(f"{name:8} {run[0]:.2f} s, {run[1]:.2f} s of the processors", flush=True)
    print(f"killed takes {killed[0] / clean[0]:.2f} times as long as clean, {killed[1] / clean[1]:.2f} times the "
          f"processors; the server {(recovered_s + dumped_s) / killed[0]:.1f} times as long as innoscan", flush=True)
    assert rows_of_killed == rows_of_clean, "the rows differ"
    print("the rows of both are equal")


if __name__ == "__main__":
    main()
