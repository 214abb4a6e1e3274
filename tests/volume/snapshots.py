#!/usr/bin/env python3
"""snapshots.py INNOSCAN SERVER [ROUNDS [DIR]]

Snapshots of a volume under a running server: btrfs in a file of DIR (/var/tmp), on a loop device. SERVER
(mariadb-10.11, mysql-8.0.33, ...) runs there under sysbench (oltp_read_write, 4 clients). ROUNDS (10) times its
subvolume is snapshot, read-only, at a random LSN; innoscan reads each table of the snapshot, and the server
recovers a writable copy of it. CHECKSUM TABLE of the recovered server must be what innoscan says. Needs root,
sysbench, btrfs-progs, and 4 GB of disk.
"""

import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "../servers/server.sh")
TABLES = 4
# A log that wraps, and pages that stay in the pool.
OPTIONS = ["--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=256M", "--innodb-max-dirty-pages-pct=99",
           "--innodb-max-dirty-pages-pct-lwm=98"]


def run(*words, **more):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, **more).stdout


class Server:
    def __init__(self, version, home):
        self.version, self.home = version, home
        self.data = os.path.join(home, "data")

    def call(self, command, *words, **more):
        return run(SCRIPT, self.version, command, self.home, *words, **more)

    def sql(self, text):
        return self.call("sql", "-N", "-B", "-e", text).strip()

    def lsn(self):
        rows = self.sql("SHOW GLOBAL STATUS WHERE variable_name IN ('Innodb_lsn_current', "
                        "'Innodb_redo_log_current_lsn')")
        return int(rows.split("\t")[-1])

    def recover(self):
        """Starts it on a copy of a running server's directory."""
        for name in os.listdir(self.home):
            if "pid" in name or name.startswith("s.sock"):
                os.remove(os.path.join(self.home, name))
        self.call("start")


def sysbench(server, command, *words):
    socket = server.call("socket").strip()
    return ["sysbench", "oltp_read_write", f"--mysql-socket={socket}", "--mysql-user=root", "--mysql-db=sbtest",
            "--mysql-ssl=off", f"--tables={TABLES}", "--table-size=20000", *words, command]


def read(innoscan, data, table):
    """innoscan's checksum of a table, and its notes."""
    done = subprocess.run([innoscan, "scan", "--checksum", f"sbtest.{table}", "--datadir", data],
                          text=True, capture_output=True)
    assert done.returncode == 0, f"{table}: {done.stderr}"
    return re.search(r"^checksum +(\d+)", done.stdout, re.M).group(1), done.stderr


def compare(innoscan, version, volume, number):
    snapshot, copy = os.path.join(volume, "snapshot"), os.path.join(volume, "copy")
    run("btrfs", "subvolume", "snapshot", "-r", os.path.join(volume, "live"), snapshot)
    ours, notes = {}, ""
    for table in (f"sbtest{number}" for number in range(1, TABLES + 1)):
        ours[table], notes = read(innoscan, os.path.join(snapshot, "server", "data"), table)
    run("btrfs", "subvolume", "snapshot", snapshot, copy)
    recovered = Server(version, os.path.join(copy, "server"))
    recovered.recover()
    try:
        theirs = {table: recovered.sql(f"CHECKSUM TABLE sbtest.{table}").split("\t")[1] for table in ours}
    finally:
        recovered.call("stop")
    said = [line.split("note: ", 1)[1] for line in notes.splitlines() if "note: " in line]
    assert ours == theirs, f"round {number}: {ours}, the server has {theirs}"
    for subvolume in (copy, snapshot):
        run("btrfs", "subvolume", "delete", subvolume)
    print(f"round {number}: {len(ours)} tables equal; {'; '.join(said)}", flush=True)


def under_load(innoscan, version, volume, rounds):
    run("btrfs", "subvolume", "create", os.path.join(volume, "live"))
    server = Server(version, os.path.join(volume, "live", "server"))
    os.makedirs(server.home)
    server.call("run", *OPTIONS)
    load = None
    try:
        server.sql("CREATE DATABASE sbtest")
        run(*sysbench(server, "prepare"))
        load = subprocess.Popen(sysbench(server, "run", "--threads=4", "--time=0"), stdout=subprocess.DEVNULL)
        chance = random.Random(version)
        for number in range(1, rounds + 1):
            until = server.lsn() + chance.randrange(1 << 20, 8 << 20)
            while server.lsn() < until:
                assert load.poll() is None, "sysbench has ended"
            compare(innoscan, version, volume, number)
    finally:
        if load:
            load.terminate()
            load.wait()
        server.call("stop")


def main():
    innoscan, version = os.path.abspath(sys.argv[1]), sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    directory = tempfile.mkdtemp(prefix="volume-", dir=sys.argv[4] if len(sys.argv) > 4 else "/var/tmp")
    image, volume = os.path.join(directory, "image"), os.path.join(directory, "v")
    os.mkdir(volume)
    with open(image, "wb") as file:
        file.truncate(4 << 30)
    run("mkfs.btrfs", "-q", image)
    run("mount", "-o", "loop", image, volume)
    try:
        under_load(innoscan, version, volume, rounds)
    finally:
        run("umount", volume)
        os.remove(image)
        os.rmdir(volume)
        os.rmdir(directory)
    print(f"{version}: {rounds} snapshots, all equal")


if __name__ == "__main__":
    main()
