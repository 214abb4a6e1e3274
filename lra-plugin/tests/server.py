"""A real server with the plugin, driven by tests/servers/server.sh."""

import functools
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# LRA_SERVER: which of server.sh's (mysql-9.7); mysql-9.7-debug checks its latches and memory.
SERVER = [str(ROOT / "tests/servers/server.sh"), os.environ.get("LRA_SERVER", "mysql-9.7")]
# The pool is cold after each start, and nothing but the test reads.
OPTIONS = [
    "--skip-grant-tables=OFF",
    "--innodb-buffer-pool-load-at-startup=OFF",
    "--innodb-buffer-pool-dump-at-shutdown=OFF",
    "--innodb-flush-method=O_DIRECT",
    "--innodb-stats-auto-recalc=OFF",
]


# Primes: keys of a shuffled table are below the least of them that leaves room for as many again.
PRIMES = (400_009, 10_000_019)


def keys_below(rows):
    """What the keys of a shuffled table of so many rows are less than."""
    return next(prime for prime in PRIMES if prime > 1.3 * rows)


def shuffled(table, columns, rows, pad):
    """SQL that makes a table and fills it so that every insert goes to another leaf: key numbers
    are multiples of 7919 modulo a prime."""
    fill = "".join(
        f"INSERT INTO {table} SELECT (a.n * 1000 + b.n) * 7919 % {keys_below(rows)}, b.n,\n"
        f"  REPEAT(CHAR(65 + b.n % 26), {pad}) FROM digits a, digits b\n"
        f"  WHERE b.n < 1000 AND a.n >= {begin} AND a.n < {min(begin + 200, rows // 1000)};\n"
        for begin in range(0, rows // 1000, 200)
    )
    return f"""
CREATE TABLE digits (n INT PRIMARY KEY);
SET cte_max_recursion_depth = 100000;
INSERT INTO digits WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 9999)
  SELECT n FROM s;
CREATE TABLE {table} ({columns});
{fill}"""


class Server:
    def __init__(self, directory, plugin, *options):
        self.directory = str(directory)
        self.plugin = pathlib.Path(plugin).resolve()
        self.options = list(options)

    def _run(self, command, *args):
        subprocess.run([*SERVER, command, self.directory, *args], check=True)

    def init(self):
        self._run("init")
        self.start(load=False)
        self.sql(f"INSTALL PLUGIN lra SONAME '{self.plugin.name}'")
        for function in ("buf_warmup", "lra_prefetch"):
            self.sql(f"CREATE FUNCTION {function} RETURNS INTEGER SONAME '{self.plugin.name}'")

    def start(self, *options, load=True):
        self._run("start", f"--plugin-dir={self.plugin.parent}", *OPTIONS, *self.options, *options)

    def stop(self):
        self._run("stop")

    def kill(self):
        self._run("kill")

    def restart(self, *options):
        self.stop()
        self.start(*options)

    @functools.cached_property
    def socket(self):
        return subprocess.run(
            [*SERVER, "socket", self.directory], check=True, capture_output=True, text=True
        ).stdout.strip()

    def client(self, *args):
        return ["mariadb", "--no-defaults", "--skip-ssl", "-uroot", "-S", self.socket, "-N", "-B",
                *args]

    def mysqldump(self, *args):
        """The command of the server's own mysqldump."""
        return [*SERVER, "mysqldump", self.directory, *args]

    def try_sql(self, statements, *args):
        return subprocess.run(self.client(*args), input=statements, capture_output=True, text=True)

    def sql(self, statements, *args):
        """The rows of all statements, each a list of its fields."""
        done = self.try_sql(statements, *args)
        if done.returncode != 0:
            raise AssertionError(f"{statements}\n{done.stderr}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    def status(self, name):
        [[_, value]] = self.sql(f"SHOW GLOBAL STATUS LIKE '{name}'")
        return int(value)

    def session(self, settings, query):
        """A query in a session of its own: its rows, and what the session counted."""
        mark = "lra's counters"
        rows = self.sql(
            f"{settings};\n{query};\nSELECT \"{mark}\";\nSHOW SESSION STATUS LIKE 'lra_session_%';"
        )
        at = rows.index([mark])
        return rows[:at], {
            name.removeprefix("lra_session_"): int(value) for name, value in rows[at + 1 :]
        }

    def errors(self):
        """Lines of the error log since the last start that tell of trouble."""
        text = pathlib.Path(self.directory, "err.log").read_text(errors="replace")
        return [line for line in text.splitlines() if "[ERROR]" in line or "Assertion" in line]


def temporary_directory():
    base = os.environ.get("LRA_TEST_DIR")
    if base:
        pathlib.Path(base).mkdir(parents=True, exist_ok=True)
    return base
