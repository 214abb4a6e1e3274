#!/usr/bin/env python3
"""behaviour.py LRA_SO: what the plugin does on a real server, table by table.

Every scan is made cold, with and without read-ahead, and must give the same; the counters must
say what is expected of them."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from server import Server, shuffled, temporary_directory

ROWS = 300_000
TABLES = f"""
CREATE DATABASE t; USE t;{shuffled("plain", "id INT PRIMARY KEY, k INT, pad VARCHAR(200), KEY (k)", ROWS, 180)}
CREATE TABLE no_rows LIKE plain;
CREATE TABLE one_row LIKE plain;
INSERT INTO one_row VALUES (1, 1, 'x');
CREATE TABLE parts (id INT PRIMARY KEY, k INT, pad VARCHAR(200)) PARTITION BY HASH (id) PARTITIONS 4;
INSERT INTO parts SELECT * FROM plain WHERE id < 150000;
CREATE TABLE zipped (id INT PRIMARY KEY, k INT, pad VARCHAR(200)) ROW_FORMAT=COMPRESSED;
INSERT INTO zipped SELECT * FROM plain WHERE id < 60000;
CREATE TABLE no_key (a INT, pad VARCHAR(200));
INSERT INTO no_key SELECT k, pad FROM plain WHERE id < 60000;
CREATE TABLE texts (id INT PRIMARY KEY, body LONGTEXT);
INSERT INTO texts SELECT id, REPEAT(pad, 1 + k % 60) FROM plain WHERE id < 6000;
CREATE TABLESPACE shared ADD DATAFILE 'shared.ibd';
CREATE TABLE in_shared (id INT PRIMARY KEY, k INT, pad VARCHAR(200)) TABLESPACE shared;
INSERT INTO in_shared SELECT * FROM plain WHERE id < 60000;
"""
ON = "SET lra_size = 16"


class Checks:
    def __init__(self):
        self.failed = []
        self.passed = 0

    def that(self, is_so, what, *seen):
        if is_so:
            self.passed += 1
        else:
            self.failed.append(what)
            print("FAILED:", what, *seen, flush=True)

    def equal(self, got, expected, what):
        self.that(got == expected, what, f"got {got}, expected {expected}")


def cold(server, settings, query):
    server.restart()
    return server.session(settings, query)


def same_rows(server, checks):
    """Scans of every kind give with read-ahead what they give without."""
    sums = "BIT_XOR(CRC32(CONCAT_WS(',', id, k, pad)))"
    queries = {
        "full": "SELECT COUNT(pad), SUM(id) FROM t.plain IGNORE INDEX (k)",
        "checksum": "CHECKSUM TABLE t.plain",
        "range": f"SELECT {sums}, COUNT(*) FROM t.plain WHERE id BETWEEN 100000 AND 200000",
        "ranges": f"SELECT {sums} FROM t.plain WHERE id < 30000 OR id BETWEEN 90000 AND 95000",
        "backward": "SELECT SUM(n), MIN(n) FROM (SELECT id AS n FROM t.plain ORDER BY id DESC "
        "LIMIT 200000) d",
        "secondary": "SELECT SUM(k), COUNT(k) FROM t.plain FORCE INDEX (k)",
        "one key": "SELECT COUNT(*) FROM t.plain FORCE INDEX (k) WHERE k = 77",
        "count": "SELECT COUNT(*) FROM t.plain",
        "check": "CHECK TABLE t.plain",
        "partitions": f"SELECT {sums}, COUNT(*) FROM t.parts",
        "count partitions": "SELECT COUNT(*) FROM t.parts",
        "check partitions": "CHECK TABLE t.parts",
        "check a partition": "ALTER TABLE t.parts CHECK PARTITION p2",
        "partitions in order": "SELECT SUM(id) FROM (SELECT id FROM t.parts ORDER BY id LIMIT 90000) d",
        "compressed": f"SELECT {sums}, COUNT(*) FROM t.zipped",
        "no key": "CHECKSUM TABLE t.no_key",
        "texts": "CHECKSUM TABLE t.texts",
        "general tablespace": f"SELECT {sums}, COUNT(*) FROM t.in_shared",
        "no rows": "SELECT COUNT(pad) FROM t.no_rows",
        "one row": "SELECT COUNT(pad) FROM t.one_row",
        "join": "SELECT COUNT(*), SUM(a.k) FROM t.parts a JOIN t.plain b ON a.id = b.id",
    }
    counted = {}
    for name, query in queries.items():
        plain, off = cold(server, "SET lra_size = 0", query)
        ahead, counted[name] = cold(server, ON, query)
        checks.equal(ahead, plain, f"{name}: the same rows")
        checks.equal(off["scans"], 0, f"{name}: nothing is read ahead when it is off")
    return counted


def counters(counted, checks):
    full = counted["full"]
    checks.equal(full["scans"], 1, "full: one scan")
    checks.equal(full["misses"], 0, "full: no leaf is missed on a quiet table")
    checks.that(full["pages_prefetched"] > 3000, "full: leaves are read ahead", full)
    checks.equal(full["evicted_unused"], 0, "full: no page is lost before it is used")
    checks.equal(full["pages_failed"], 0, "full: no read fails")
    checks.that(
        full["bytes"] == full["pages_prefetched"] * 16384 + full["gap_bytes"],
        "full: bytes are pages and gaps",
        full,
    )
    for name in ("checksum", "range", "backward", "secondary", "count", "check", "compressed",
                 "partitions", "count partitions", "check partitions", "check a partition", "no key", "general tablespace"):
        checks.that(counted[name]["pages_prefetched"] > 50, f"{name}: is read ahead", counted[name])
        if not name.startswith(("count", "check ")) and name != "check":
            checks.equal(counted[name]["misses"], 0, f"{name}: no leaf is missed")
    for name in ("no rows", "one row"):
        checks.equal(counted[name]["pages_prefetched"], 0, f"{name}: there is nothing to read ahead")
    span = counted["range"]["pages_prefetched"] / full["pages_prefetched"]
    checks.that(0.2 < span < 0.3, "range: reading ahead ends where the range ends", span)


def early_end(server, checks):
    """A query that ends early costs little, whatever the window."""
    query = "SELECT COUNT(pad) FROM (SELECT pad FROM t.plain IGNORE INDEX (k) LIMIT 1000) d"
    read = []
    for settings in ("SET lra_size = 0", "SET lra_size = 512"):
        server.restart()
        before = server.status("Innodb_pages_read")
        server.session(settings, query)
        read.append(server.status("Innodb_pages_read") - before)
    more = (read[1] - read[0]) * 16384
    checks.that(more <= 4 << 20, "LIMIT 1000 reads at most 4 MB more", more)


def functions(server, checks):
    server.restart()
    [[pages]] = server.sql("SELECT lra_prefetch('t/plain', 16)")
    checks.equal(int(pages), 1024, "lra_prefetch reads what it is told to")
    [[again]] = server.sql("SELECT lra_prefetch('t/plain', 16)")
    checks.equal(int(again), 0, "lra_prefetch reads nothing twice")
    [[pages]] = server.sql("SELECT buf_warmup('t', 'plain')")
    checks.that(int(pages) > 3000, "buf_warmup reads the whole file", pages)
    checks.equal(server.sql("SELECT lra_prefetch('t/missing', 1), buf_warmup('t', 'missing')"),
                 [["NULL", "NULL"]], "a table that is not there gives NULL")
    _, counted = server.session(ON, "SELECT COUNT(pad) FROM t.plain IGNORE INDEX (k)")
    checks.that(counted["pages_prefetched"] < 100, "what is in the pool is not read again", counted)


def too_large(server, checks):
    """A window that the pool cannot hold is warned of when it is set, and not again."""
    server.restart()
    rows = server.sql(
        "SET lra_size = 16384; SHOW WARNINGS; SELECT COUNT(pad) FROM t.plain IGNORE INDEX (k); "
        "SHOW WARNINGS; CHECK TABLE t.plain; SHOW WARNINGS; ALTER TABLE t.one_row FORCE; SHOW WARNINGS")
    warnings = [row for row in rows if "innodb_old_blocks_pct" in row[-1]]
    checks.equal(len(warnings), 1, "one warning, when the variable is set")
    checks.equal(len(rows), 3, "a statement's warnings are its own")
    checks.equal(server.sql("SET lra_size = 16; SHOW WARNINGS"), [], "a window that fits is not warned of")


# Not CHECKSUM TABLE: a primary key's columns become NOT NULL, which changes it.
ROWS_SUM = "SELECT COUNT(*), BIT_XOR(CRC32(CONCAT_WS(',', id, k, pad))) FROM t.copy"


def altered(server, statement, settings=ON):
    """A cold ALTER of a copy of t.plain: its rows' sum, and what the session counted."""
    server.sql("DROP TABLE IF EXISTS t.copy; CREATE TABLE t.copy LIKE t.plain; "
               "INSERT INTO t.copy SELECT * FROM t.plain ORDER BY pad, id")
    _, counted = cold(server, settings, statement)
    return server.sql(ROWS_SUM), counted


def alters(server, checks):
    """InnoDB's own reading of a table for an ALTER in place is read ahead of; rows stay as they are."""
    expected = server.sql(ROWS_SUM.replace("t.copy", "t.plain"))
    for statement in (
        "ALTER TABLE t.copy FORCE, ALGORITHM=INPLACE",
        "ALTER TABLE t.copy ADD INDEX (pad), ALGORITHM=INPLACE",
        "ALTER TABLE t.copy ADD INDEX (k, id), ADD UNIQUE (pad, id), ALGORITHM=INPLACE",
        "SET innodb_parallel_read_threads = 1; ALTER TABLE t.copy ADD INDEX (pad), ALGORITHM=INPLACE",
        "OPTIMIZE TABLE t.copy",
        "ALTER TABLE t.copy DROP PRIMARY KEY, ADD PRIMARY KEY (k, id), ALGORITHM=INPLACE",
    ):
        rows, counted = altered(server, statement)
        checks.equal(rows, expected, f"{statement}: the same rows")
        checks.that(counted["pages_prefetched"] > 500, f"{statement}: is read ahead", counted)
        checks.equal(server.sql("CHECK TABLE t.copy")[0][-1], "OK", f"{statement}: the table is whole")
    for statement in (
        "ALTER TABLE t.copy ADD COLUMN extra INT, ALGORITHM=INSTANT",
        "ALTER TABLE t.copy DROP INDEX k, ALGORITHM=INPLACE",
        "ALTER TABLE t.copy RENAME INDEX k TO other, ALGORITHM=INPLACE",
    ):
        _, counted = altered(server, statement)
        checks.equal(counted["scans"], 0, f"{statement}: there is nothing to read ahead")
    _, counted = altered(server, "ALTER TABLE t.copy ADD INDEX (pad)", "SET lra_size = 0")
    checks.equal(counted["pages_prefetched"], 0, "ALTER: nothing is read ahead when it is off")
    for table in ("parts", "zipped", "in_shared", "no_rows", "one_row", "no_key", "texts"):
        sums = server.sql(f"CHECKSUM TABLE t.{table}")
        cold(server, ON, f"ALTER TABLE t.{table} FORCE")
        checks.equal(server.sql(f"CHECKSUM TABLE t.{table}"), sums, f"{table}: FORCE keeps the rows")


def failing_alters(server, checks):
    """An ALTER that fails or is killed leaves the table as it was."""
    server.sql("DROP TABLE IF EXISTS t.copy; CREATE TABLE t.copy LIKE t.plain; "
               "INSERT INTO t.copy SELECT * FROM t.plain ORDER BY pad, id")
    expected = server.sql(ROWS_SUM)
    server.restart()
    refused = server.try_sql(f"{ON}; ALTER TABLE t.copy ADD UNIQUE (pad), ALGORITHM=INPLACE")
    checks.that("ERROR 1062" in refused.stderr, "a duplicate key ends an ALTER", refused.stderr)
    checks.equal(server.sql(ROWS_SUM), expected, "a duplicate key: the same rows")
    killed = 0
    for _ in range(4):
        server.restart()
        before = server.status("lra_scans")
        alter = subprocess.Popen(
            server.client("-e", f"{ON}; ALTER TABLE t.copy ADD INDEX i (pad), ADD INDEX j (k, pad)"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while server.status("lra_scans") == before and alter.poll() is None:
            pass
        for [number] in server.sql("SELECT id FROM information_schema.processlist WHERE info LIKE "
                                   "'ALTER TABLE%'"):
            server.try_sql(f"KILL QUERY {number}")
        alter.communicate()
        killed += alter.returncode != 0
        server.sql("ALTER TABLE t.copy ADD COLUMN n INT; ALTER TABLE t.copy DROP COLUMN n")
        if alter.returncode == 0:
            server.sql("ALTER TABLE t.copy DROP INDEX i, DROP INDEX j")
        checks.equal(server.sql(ROWS_SUM), expected, "KILL: the same rows")
    checks.that(killed > 0, "KILL ends an ALTER", killed)
    checks.equal(server.sql("CHECK TABLE t.copy")[0][-1], "OK", "KILL: the table is whole")
    server.sql("DROP TABLE t.copy")


def slow_scan(server):
    """A scan that is under way and will not end by itself, with read-ahead."""
    before = server.status("lra_scans")
    scan = subprocess.Popen(
        server.client("-e", f"{ON}; SELECT SUM(SLEEP(0.01)) FROM t.plain IGNORE INDEX (k)"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while server.status("lra_scans") == before:
        if scan.poll() is not None:
            raise AssertionError(scan.communicate()[1])
    return scan


def ends(server, checks):
    """A KILL and a shutdown end a scan that is read ahead of."""
    server.restart()
    scan = slow_scan(server)
    [[number]] = server.sql("SELECT id FROM information_schema.processlist WHERE info LIKE '%SLEEP(0%' "
                            "AND info NOT LIKE '%processlist%'")
    server.sql(f"KILL {number}")
    scan.communicate()
    checks.that(scan.returncode != 0, "KILL ends a scan")
    scan = slow_scan(server)
    server.stop()
    scan.communicate()
    checks.that(scan.returncode != 0, "a shutdown ends a scan")
    checks.equal(server.errors(), [], "in peace")
    server.start()


def leaves_in_pool(server, megabytes):
    """The numbers of the pages that hold the first leaves of t.plain, and of the branches above."""
    server.restart()
    server.sql(f"SELECT lra_prefetch('t/plain', {megabytes})")
    return {
        int(number)
        for [number] in server.sql(
            "SELECT page_number FROM information_schema.innodb_buffer_page "
            "WHERE table_name = '`t`.`plain`' AND index_name = 'PRIMARY'"
        )
    }


def damage(server, checks):
    """A damaged page fails the scan that comes to it, as it does without read-ahead, and no other."""
    # The first in the file, so that the sweep has come to it before the scan below is over.
    page = min(leaves_in_pool(server, 2) - leaves_in_pool(server, 1))
    server.stop()
    whole = pathlib.Path(server.directory, "data/t/plain.ibd")
    at = page * 16384 + 8000
    with whole.open("r+b") as file:
        file.seek(at)
        before = file.read(64)
        file.seek(at)
        file.write(bytes(255 - byte for byte in before))

    # The first leaves only; the window goes on to the damaged one.
    server.start()
    rows, counted = server.session(
        ON, "SELECT SUM(LENGTH(pad)) FROM (SELECT pad FROM t.plain IGNORE INDEX (k) LIMIT 3000) d")
    checks.equal(rows, [["540000"]], "damage: a scan that ends before it has its rows")
    checks.that(counted["pages_failed"] >= 1, "damage: the page is read ahead and dropped", counted)
    checks.equal(server.errors(), [], "damage: dropped in silence")
    said = {}
    for settings in ("SET lra_size = 0", ON):
        server.restart()
        done = server.try_sql(f"{settings}; SELECT SUM(LENGTH(pad)) FROM t.plain IGNORE INDEX (k)")
        checks.that(done.returncode != 0, f"damage: the scan fails ({settings})", done.stdout)
        log = " ".join(server.errors())
        checks.that(f"page number={page}" in log, f"damage: the log names the page ({settings})", log)
        said[settings] = done.stderr
    checks.equal(len(set(said.values())), 1, "damage: the client is told the same")

    # The server may have ended itself over it.
    server.kill()
    with whole.open("r+b") as file:
        file.seek(at)
        file.write(before)
    server.start()


def install(server, checks):
    """Other builds refuse the plugin, and it stays while it is in use."""
    # The build id is a text of 40 hexadecimal digits.
    other = server.plugin.with_name("lra_of_another_build.so")
    other.write_bytes(
        re.sub(rb"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])", b"0" * 40, server.plugin.read_bytes())
    )
    server.sql("SELECT COUNT(*) FROM t.plain")
    kept = server.try_sql("UNINSTALL PLUGIN lra")
    checks.that(kept.returncode != 0, "UNINSTALL is refused while tables are open", kept.stderr)
    checks.that(any("open tables" in line for line in server.errors()), "the log says why")
    server.sql("FLUSH TABLES")
    gone = server.try_sql("UNINSTALL PLUGIN lra")
    checks.that(gone.returncode == 0, "UNINSTALL works when no table is open", gone.stderr,
                server.errors())
    server.restart()
    refused = server.try_sql(f"INSTALL PLUGIN lra SONAME '{other.name}'")
    checks.that(refused.returncode != 0, "another build's plugin is refused", refused.stderr)
    checks.that(any("compiled for the server build" in line for line in server.errors()),
                "the log says which build it is for", server.errors())
    server.sql(f"INSTALL PLUGIN lra SONAME '{server.plugin.name}'")
    _, counted = cold(server, ON, "SELECT COUNT(pad) FROM t.plain IGNORE INDEX (k)")
    checks.that(counted["pages_prefetched"] > 3000, "it works again after INSTALL", counted)
    other.unlink()


def main():
    directory = tempfile.mkdtemp(prefix="lra-", dir=temporary_directory())
    plugin = shutil.copy(sys.argv[1], directory)
    server = Server(f"{directory}/server", plugin, "--innodb-buffer-pool-size=256M")
    checks = Checks()
    server.init()
    try:
        server.sql(TABLES)
        counters(same_rows(server, checks), checks)
        early_end(server, checks)
        functions(server, checks)
        too_large(server, checks)
        alters(server, checks)
        failing_alters(server, checks)
        checks.equal(server.errors(), [], "the error log tells of nothing")
        ends(server, checks)
        damage(server, checks)
        install(server, checks)
    finally:
        server.stop()
    if not checks.failed:
        shutil.rmtree(directory)
    print(f"behaviour: {checks.passed} passed, {len(checks.failed)} failed")
    sys.exit(1 if checks.failed else 0)


main()
