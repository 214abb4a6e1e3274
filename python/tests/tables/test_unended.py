"""Directories of killed servers, and backups that were not prepared; a server says what the rows are."""

import pickle
import subprocess
import sys
import warnings

import innoscan
import pyarrow as pa
import pytest
from innoscan import errors

import servers

ROWS = "SELECT id, v FROM d.t ORDER BY id"


def opened(name, **places):
    """A table, and the warnings."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        table = innoscan.open(name, **places)
    assert all(warning.category is innoscan.InnoscanWarning for warning in given)
    assert [str(warning.message) for warning in given] == table.notes
    return table


def rows(stream):
    """The rows as the client of a server shows them."""
    return [[str(value) for value in row.values()] for row in pa.table(stream).to_pylist()]


READ = """
import pickle, sys, warnings
import innoscan, pyarrow as pa
warnings.simplefilter("ignore", innoscan.InnoscanWarning)
table, split = pickle.load(sys.stdin.buffer)
pickle.dump((table.notes, pa.table(table.scan(split=split)).to_pylist()), sys.stdout.buffer)
"""


def rows_of_other_processes(table, count):
    """The rows of splits, each read in a process of its own."""
    read = []
    splits = table.splits(count)
    assert len(splits) == count
    for split in splits:
        process = [sys.executable, "-c", READ]
        done = subprocess.run(process, input=pickle.dumps((table, split)), capture_output=True, cwd="/")
        assert done.returncode == 0, done.stderr.decode()
        notes, of_split = pickle.loads(done.stdout)
        assert notes == table.notes
        read += [[str(value) for value in row.values()] for row in of_split]
    return read


@pytest.fixture(scope="module")
def killed():
    """A server that was killed with an unfinished transaction: the files as they were left, what the server then
    said of them, and what a session sees of the transaction."""
    with servers.server() as server:
        server.sql(
            """CREATE DATABASE d; USE d; CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB;
            INSERT INTO d.t SELECT seq, REPEAT(CHAR(97 + seq % 26), 100) FROM seq_1_to_20000;
            CREATE TABLE d.u (id INT PRIMARY KEY) ENGINE=InnoDB"""
        )
        session = servers.Session(server)
        session.do(
            """USE d; START TRANSACTION; UPDATE d.t SET v = 'changed' WHERE id % 7 = 0; DELETE FROM d.t WHERE id % 5 = 0;
            INSERT INTO d.t SELECT 50000 + seq, 'new' FROM seq_1_to_500"""
        )
        # What is committed is in the log, with all before it.
        server.sql("INSERT INTO d.u VALUES (1)")
        server.script("kill")
        session.close()
        copy = server.copy(server.directory.parent / "copy")
        server.start()
        [[_, checksum]] = server.sql("CHECKSUM TABLE d.t")
        yield copy.data, server.sql(ROWS), int(checksum)


def test_a_killed_server(killed):
    data, expected, checksum = killed
    table = opened("d.t", datadir=data)
    assert rows(table) == expected
    assert table.checksum()["checksum"] == checksum
    [read_through, rolled_back] = table.notes
    assert read_through.startswith("its server was not shut down; read through the redo log, as of LSN ")
    assert rolled_back.startswith("1 unfinished transaction rolled back")
    assert innoscan.catalog(data) == ["d.t", "d.u"]
    assert rows(opened("d.u", datadir=data)) == [["1"]]
    # The same by its path, and of another choice that has nothing to decide.
    assert rows(opened(data / "d/t.ibd")) == rows(opened("d.t", datadir=data, prepared="rollback")) == expected
    # The files have the changes that were taken back.
    assert rows(opened("d.t", datadir=data, force=True)) != expected


def test_a_killed_server_in_other_processes(killed):
    data, expected, _ = killed
    assert rows_of_other_processes(opened("d.t", datadir=data), 3) == expected


def test_a_wrong_choice_is_refused(killed):
    data, _, _ = killed
    for call in [lambda **how: innoscan.open("d.t", datadir=data, **how), lambda **how: innoscan.catalog(data, **how)]:
        with pytest.raises(ValueError, match='^prepared is commit, rollback or refuse, not "drop"$'):
            call(prepared="drop")
        with pytest.raises(TypeError):
            call(incremental="/a")


def own_xid(number, server_id):
    """The XID of a server's own transaction."""
    return "X'" + (b"MySQLXid" + server_id.to_bytes(8, "little") + number.to_bytes(8, "little")).hex() + "'"


def test_prepared_transactions():
    with servers.server("--log-bin=bin", "--server-id=7", "--sync-binlog=1") as server:
        server.sql(
            """CREATE DATABASE d; USE d; CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB;
            INSERT INTO d.t VALUES (1, 'a'), (2, 'b'), (3, 'c')"""
        )
        xid = own_xid(1_000_000, 7)
        server.sql(
            f"""SET sql_log_bin = 0; XA START {xid}; UPDATE d.t SET v = 'changed' WHERE id = 1;
            INSERT INTO d.t VALUES (11, 'new'); XA END {xid}; XA PREPARE {xid}"""
        )
        server.script("kill")
        # Without the binary log nobody knows whether the server had committed it.
        for name in server.data.glob("bin.*"):
            name.unlink()
        with pytest.raises(errors.RefusedDirectoryError, match='prepared="commit", or prepared="rollback"') as raised:
            innoscan.open("d.t", datadir=server.data)
        assert any("prepared=" in remedy for remedy in raised.value.remedies)
        with pytest.raises(errors.RefusedDirectoryError, match="prepared="):
            innoscan.catalog(server.data)
        for choice in ["commit", "rollback"]:
            judge = server.copy(server.directory.parent / choice)
            assert innoscan.catalog(server.data, prepared=choice) == ["d.t"]
            table = opened("d.t", datadir=server.data, prepared=choice)
            of_other_process = rows_of_other_processes(table, 1)
            # The server's own option for this.
            judge.start("--skip-log-bin", f"--tc-heuristic-recover={choice}")
            expected = judge.sql(ROWS)
            assert ["1", "changed" if choice == "commit" else "a"] in expected
            assert rows(table) == of_other_process == expected


def test_incremental_backups():
    servers.install("mariadb-backup")
    # The backup asks for its account's rights.
    with servers.server("--innodb-log-file-size=64M", "--skip-grant-tables=OFF") as server:
        server.sql(
            """CREATE DATABASE d; USE d; CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB;
            INSERT INTO d.t SELECT seq, REPEAT('a', 100) FROM seq_1_to_5000; CREATE DATABASE gone;
            CREATE TABLE gone.t (id INT PRIMARY KEY) ENGINE=InnoDB"""
        )
        changes = [
            "DO 0",
            "UPDATE d.t SET v = 'changed' WHERE id % 11 = 0; DELETE FROM d.t WHERE id > 4000; DROP DATABASE gone",
            """USE d; INSERT INTO d.t SELECT 10000 + seq, 'new' FROM seq_1_to_9000; CREATE DATABASE later;
            CREATE TABLE later.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB; INSERT INTO later.t VALUES (1, 2)""",
        ]
        chain = []
        of_backups = []
        for number, change in enumerate(changes):
            server.sql(change)
            server.write_all_pages()
            chain.append(server.back_up(server.directory.parent / f"backup{number}", *chain[-1:]))
            [[_, checksum]] = server.sql("CHECKSUM TABLE d.t")
            of_backups.append((server.sql(ROWS), int(checksum), server.tables()))
        server.script("kill")
        base, *incremental = chain
        for number, (expected, checksum, tables) in enumerate(of_backups):
            places = {"datadir": base, "incremental": incremental[:number]}
            table = opened("d.t", **places)
            assert rows(table) == expected
            assert table.checksum()["checksum"] == checksum
            assert set(innoscan.catalog(base, incremental=incremental[:number])) == tables
            assert "the backup was not prepared" in table.notes[0]
            assert table.size_bytes > 0
        assert rows_of_other_processes(table, 3) == expected
        assert rows(opened("later.t", **places)) == [["1", "2"]]
        with pytest.raises(errors.NotFoundError):
            innoscan.open("gone.t", **places)
        with pytest.raises(errors.RefusedDirectoryError, match="incremental="):
            innoscan.open("d.t", datadir=incremental[-1])
        with pytest.raises(errors.InnoscanError, match="LSN"):
            innoscan.open("d.t", datadir=base, incremental=incremental[1:])
