#!/usr/bin/env python3
"""starts.py INNOSCAN DIR [TABLES]

What real servers do at their start, beside `innoscan tablespaces`. MySQL 8.0.33 and 9.7 each get
TABLES (30,000) tables in 30 schemas, once, in DIR. Each is then started cold, and its own log says
when it began to look at the files and when it had; then innoscan looks at the same directory, cold, in
each way. At last two tables are copied under other names: the server's refusal and innoscan's findings
must name the same files. Printed:

  check    from `Scanning` to `Completed space ID check`, by the server's log
  InnoDB   from `InnoDB initialization has started` to `has ended`
  innoscan walk, read and compare together

Needs root (to drop the page cache), 120 KB of disk for each table and server, and the servers
(tests/servers/install.sh mysql-8.0.33 mysql-9.7).
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime

from tablespaces import WAYS, drop_caches, whole_s

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, "../tests/servers/server.sh")
VERSIONS = ["mysql-8.0.33", "mysql-9.7"]
SCHEMAS = 30
QUICK = ["--innodb-doublewrite=OFF", "--innodb-flush-log-at-trx-commit=0", "--log-error-verbosity=3"]


class Server:
    def __init__(self, version, directory):
        self.version = version
        self.home = os.path.join(directory, version)
        self.data = os.path.join(self.home, "data")

    def run(self, command, *words, **more):
        words = [SERVER, self.version, command, self.home, *words]
        return subprocess.run(words, text=True, env={**os.environ, "INNOSCAN_DEADLINE": "1800"}, **more)

    def make(self, tables):
        done = os.path.join(self.home, "made")
        if os.path.exists(done) and open(done).read() == str(tables):
            return
        shutil.rmtree(self.home, ignore_errors=True)
        self.run("run", *QUICK, check=True)
        statements = []
        for schema in range(SCHEMAS):
            create = "".join(f"CREATE TABLE t{number} (id INT PRIMARY KEY, a INT);\n"
                             for number in range(schema, tables, SCHEMAS))
            statements.append(f"CREATE DATABASE s{schema}; USE s{schema};\n{create}")
        self.run("sql", input="".join(statements), check=True)
        self.run("stop", check=True)
        with open(done, "w") as file:
            file.write(str(tables))

    def start(self):
        """Starts it cold; its exit code, and what it wrote to its log."""
        log = os.path.join(self.home, "err.log")
        before = os.path.getsize(log) if os.path.exists(log) else 0
        drop_caches()
        started = self.run("start", *QUICK, capture_output=True)
        with open(log, errors="replace") as file:
            text = file.read()
        return started.returncode, text[before:] if len(text) > before else text


def seconds(log, begin, end):
    def at(words):
        line = next(line for line in log.splitlines() if words in line)
        return datetime.fromisoformat(line.split()[0].rstrip("Z"))
    return (at(end) - at(begin)).total_seconds()


def look(innoscan, data, *more):
    drop_caches()
    words = [innoscan, "tablespaces", data, "--json", "--quiet", *more]
    return json.loads(subprocess.run(words, capture_output=True, text=True).stdout)


def files_named(text, data):
    """Paths of tablespaces in a text, below the directory."""
    paths = re.findall(r"""[^\s'":]+\.ibd""", text)
    return {os.path.relpath(os.path.join(data, path), data) for path in paths}


def duplicates(server, innoscan):
    copies = [(f"s{schema}/t{schema}.ibd", f"s{schema}/copy_{schema}.ibd") for schema in (7, 23)]
    for original, copy in copies:
        shutil.copyfile(os.path.join(server.data, original), os.path.join(server.data, copy))
    code, log = server.start()
    assert code != 0, "the server starts with duplicates"
    errors = "\n".join(line for line in log.splitlines() if "[ERROR]" in line)
    found = [finding for finding in look(innoscan, server.data)["findings"] if finding["finding"] == "duplicate"]
    ours = {os.path.relpath(file["path"], server.data) for finding in found for file in finding["files"]}
    theirs = files_named(errors, server.data)
    for _, copy in copies:
        os.remove(os.path.join(server.data, copy))
    expected = {name for pair in copies for name in pair}
    assert ours == expected, f"{ours}"
    assert theirs & expected == expected, f"the server names {theirs}"
    print(f"{server.version}: duplicates planted, its log and innoscan name {sorted(ours)}", flush=True)


def main():
    innoscan, directory = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    tables = int(sys.argv[3]) if len(sys.argv) > 3 else 30_000
    for version in VERSIONS:
        server = Server(version, directory)
        server.make(tables)
        code, log = server.start()
        assert code == 0, log
        check = seconds(log, "Scanning './'", "Completed space ID check")
        whole = seconds(log, "InnoDB initialization has started", "InnoDB initialization has ended")
        server.run("stop", check=True)
        files = len(glob.glob(os.path.join(server.data, "**/*.ibd"), recursive=True))
        print(f"{version}: {files} files; check {check:.2f} s, InnoDB {whole:.2f} s", flush=True)
        for way in WAYS:
            told = look(innoscan, server.data, "--read", way)
            assert told["tables"] == files and not told["findings"], told
            print(f"  innoscan {way:<10}{whole_s(told):>7.2f} s", flush=True)
        duplicates(server, innoscan)


if __name__ == "__main__":
    main()
