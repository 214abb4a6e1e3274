"""Real servers, installed and driven by the scripts of tests/servers, and their backups."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / "tests/servers"
VERSION = "mariadb-10.11"


def install(*names: str) -> None:
    for name in names:
        run([SCRIPTS / "install.sh", name])


def run(command: list[str | pathlib.Path]) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


class Server:
    """A server in a directory of its own."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self.data = directory / "data"

    def script(self, command: str, *args: str) -> str:
        return run([SCRIPTS / "server.sh", VERSION, command, self.directory, *args])

    def start(self, *options: str) -> None:
        self.script("start", *options)

    @property
    def socket(self) -> str:
        return self.script("socket").strip()

    def sql(self, statements: str) -> list[list[str]]:
        """The rows that statements give."""
        text = self.script("sql", "-N", "-B", "--default-character-set=utf8mb4", "-e", statements)
        return [line.split("\t") for line in text.splitlines()]

    def tables(self) -> set[str]:
        own = "'mysql', 'sys', 'performance_schema', 'information_schema'"
        listed = f"SELECT CONCAT(table_schema, '.', table_name) FROM information_schema.tables WHERE table_schema NOT IN ({own})"
        return {name for [name] in self.sql(listed)}

    def write_all_pages(self) -> None:
        """Waits until all changes are in the data files, so that the next backup begins behind them."""
        self.sql("SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0; SET GLOBAL innodb_max_dirty_pages_pct = 0")
        lsn = lambda name: int(self.sql(f"SHOW GLOBAL STATUS LIKE 'Innodb_lsn_{name}'")[0][1])
        wanted = lsn("current")
        deadline = time.monotonic() + 60
        while lsn("last_checkpoint") < wanted:
            assert time.monotonic() < deadline, "the server makes no checkpoint"

    def copy(self, directory: pathlib.Path) -> Server:
        """A server on a copy of the files of this one, which does not run."""
        directory.mkdir()
        run(["cp", "-a", "--sparse=always", self.data, self.directory / "options", directory])
        return Server(directory)

    def back_up(self, target: pathlib.Path, on: pathlib.Path | None = None) -> pathlib.Path:
        """A backup, or an incremental one on another."""
        base = [] if on is None else [f"--incremental-basedir={on}"]
        places = [f"--target-dir={target}", f"--socket={self.socket}", f"--datadir={self.data}"]
        run(["mariadb-backup", "--no-defaults", "--backup", "--user=root", *places, *base])
        return target


class Session:
    """A session that stays open."""

    def __init__(self, server: Server) -> None:
        command = ["mariadb", "--no-defaults", "--skip-ssl", "-uroot", "-N", "-B", "-n", "-S", server.socket]
        self.client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(self, statements: str) -> None:
        """Returns when the statements are done."""
        self.client.stdin.write(f"{statements}; SELECT 'done';\n")
        self.client.stdin.flush()
        assert self.client.stdout.readline() == "done\n"

    def close(self) -> None:
        """The server may be gone."""
        self.client.kill()
        self.client.communicate()


@contextmanager
def server(*options: str) -> Iterator[Server]:
    """A new server, with a directory that is removed at the end."""
    install(VERSION)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="innoscan-server-"))
    new = Server(directory / "server")
    new.directory.mkdir()
    try:
        new.script("run", "--default-time-zone=+00:00", "--character-set-server=utf8mb4", *options)
        yield new
    finally:
        for other in directory.iterdir():
            if (other / "pid").exists():
                Server(other).script("kill")
        shutil.rmtree(directory)
