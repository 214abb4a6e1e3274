#!/usr/bin/env python3
"""dumps.py LRA_SO [DIR...]: mysqldump and CHECKSUM TABLE give with read-ahead what they give
without, for every table of the torture schema, or of the data directories DIR/data.

The pool is cold before each and small, so that pages leave it while they are read ahead."""

import hashlib
import shutil
import subprocess
import sys
import tempfile

from server import ROOT, Server, temporary_directory

POOL = "--innodb-buffer-pool-size=64M"
SIZES = (0, 8)


def corpus(directory):
    subprocess.run([str(ROOT / "tests/servers/build_corpus.sh"), "mysql-9.7", directory], check=True,
                   stdout=subprocess.DEVNULL)
    return directory


def tables(server):
    return [
        (database, table)
        for database, table in server.sql(
            "SELECT HEX(table_schema), HEX(table_name) FROM information_schema.tables WHERE "
            "table_type = 'BASE TABLE' AND engine = 'InnoDB' AND table_schema NOT IN "
            "('mysql', 'sys', 'information_schema', 'performance_schema') ORDER BY 1, 2"
        )
    ]


def name(identifier):
    return bytes.fromhex(identifier).decode()


def quoted(identifier):
    return "`" + name(identifier).replace("`", "``") + "`"


def sums(server, wanted, size):
    statements = "".join(
        f"CHECKSUM TABLE {quoted(database)}.{quoted(table)};\n" for database, table in wanted
    )
    got = server.sql(f"SET NAMES utf8mb4; SET lra_size = {size};\n" + statements)
    return [row[-1] for row in got]


def dump(server, size):
    """The sum of mysqldump's text, and its bytes."""
    done = subprocess.Popen(
        server.mysqldump("--all-databases", "--single-transaction", "--skip-dump-date", "--hex-blob",
                         "--set-gtid-purged=OFF", f"--init-command=SET lra_size = {size}"),
        stdout=subprocess.PIPE,
    )
    digest, text_bytes = hashlib.sha256(), 0
    while part := done.stdout.read(1 << 20):
        digest.update(part)
        text_bytes += len(part)
    if done.wait() != 0:
        raise AssertionError("mysqldump failed")
    return digest.hexdigest(), text_bytes


def compare(server):
    """What differs, and how much was compared."""
    wanted = tables(server)
    differs = []
    by_size = {}
    for size in SIZES:
        server.restart()
        by_size[size] = sums(server, wanted, size)
    for table, off, on in zip(wanted, *(by_size[size] for size in SIZES)):
        if off == on:
            continue
        # Some sums are the server's own chance: of a value's place in memory, say.
        again = {sums(server, [table], 0)[0] for _ in range(8)}
        if len(again | {off}) > 1:
            print(f"{name(table[0])}.{name(table[1])}: the server itself does not repeat its sum")
        else:
            differs.append(f"CHECKSUM TABLE {name(table[0])}.{name(table[1])}: {off} and {on}")
    dumps = {}
    for size in SIZES:
        server.restart()
        dumps[size] = dump(server, size)
    if dumps[SIZES[0]] != dumps[SIZES[1]]:
        differs.append(f"mysqldump: {dumps}")
    if server.status("lra_pages_prefetched") == 0:
        differs.append("nothing was read ahead")
    differs += [f"the error log: {line}" for line in server.errors()]
    print(f"{server.directory}: {len(wanted)} tables, a dump of {dumps[0][1]} bytes, "
          f"{server.status('lra_pages_prefetched')} pages read ahead of it")
    return differs


def main():
    directory = tempfile.mkdtemp(prefix="lra-", dir=temporary_directory())
    plugin = shutil.copy(sys.argv[1], directory)
    failed = []
    for place in sys.argv[2:] or [corpus(f"{directory}/torture")]:
        server = Server(place, plugin, POOL, "--plugin-load=lra=" + plugin.rsplit("/", 1)[1])
        server.start()
        try:
            failed += compare(server)
        finally:
            server.stop()
    for line in failed:
        print("FAILED:", line)
    shutil.rmtree(directory)
    print(f"dumps: {len(failed)} failed")
    sys.exit(1 if failed else 0)


main()
