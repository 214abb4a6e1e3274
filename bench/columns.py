#!/usr/bin/env python3
"""Parquet of a table by innoscan and by programs that ask the server, in one run.

usage: columns.py INNOSCAN DIR [ROUNDS [TABLE [cold]]]

TABLE is bench.shuffled, the default, with DIR as make_shuffled.sh leaves it, or tpch.lineitem, with DIR as tpch.py
leaves it. Needs Python's packages duckdb==1.4.4, duckdb-ext-mysql, connectorx, pyarrow, pandas, polars, PyMySQL and
chdb-core. The server runs on a socket and on loopback, warm, with the table in its pool; innoscan reads the file from
the page cache while no server runs. With `cold` (as root) each run begins with empty caches, the server's too, which
then reads by O_DIRECT. Every file is zstd level 1.

Prints for each program the best wall time, CPU and peak memory of the program, CPU of the server, and
whether the file's sums are those of the server.
"""

import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = [os.path.join(HERE, "../tests/servers/server.sh"), "mariadb-10.11"]
PORT = 13406
# The columns that are summed: numbers, texts by their length, and dates by their day.
COLUMNS = {
    "bench.shuffled": (["user_id", "price"], ["title", "body"], ["created"]),
    "tpch.lineitem": (
        ["l_orderkey", "l_extendedprice", "l_tax"], ["l_comment", "l_shipmode"], ["l_shipdate", "l_receiptdate"],
    ),
}

# Each is a program of its own, so that its memory is its own.
CLIENTS = {
    "DuckDB's MySQL extension, COPY": """
import duckdb, duckdb_ext, os, glob
c = duckdb.connect(config={{'allow_unsigned_extensions': True}})
c.load_extension(glob.glob(os.path.join(list(duckdb_ext.__path__)[0], '**/mysql_scanner.duckdb_extension'), recursive=True)[0])
c.execute("ATTACH 'host=127.0.0.1 port={port} user=root database={database}' AS m (TYPE mysql, READ_ONLY)")
c.execute("COPY m.{table} TO '{out}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)")
""",
    "ConnectorX to pyarrow": """
import connectorx, pyarrow.parquet
t = connectorx.read_sql('mysql://root@127.0.0.1:{port}/{database}', 'SELECT * FROM {table}', return_type='arrow')
pyarrow.parquet.write_table(t, '{out}', compression='zstd', compression_level=1)
""",
    "polars read_database_uri": """
import polars
polars.read_database_uri('SELECT * FROM {table}', 'mysql://root@127.0.0.1:{port}/{database}').write_parquet(
    '{out}', compression='zstd', compression_level=1)
""",
    "pandas + PyMySQL, chunks to pyarrow": """
import pymysql, pandas, pyarrow, pyarrow.parquet, warnings
warnings.simplefilter('ignore')
c = pymysql.connect(unix_socket='{socket}', user='root', cursorclass=pymysql.cursors.SSCursor)
writer = None
for frame in pandas.read_sql('SELECT * FROM {table}', c, chunksize=100_000):
    t = pyarrow.Table.from_pandas(frame, schema=writer and writer.schema, preserve_index=False)
    writer = writer or pyarrow.parquet.ParquetWriter('{out}', t.schema, compression='zstd', compression_level=1)
    writer.write_table(t)
writer.close()
""",
    "chdb, INSERT INTO FUNCTION file": """
import chdb
database, table = '{table}'.split('.')
chdb.query(f"INSERT INTO FUNCTION file('{out}', Parquet) SELECT * FROM mysql('127.0.0.1:{port}', '{{database}}', '{{table}}', 'root', '')"
    " SETTINGS output_format_parquet_compression_method='zstd', output_format_compression_level=1, engine_file_truncate_on_insert=1")
""",
}


def run(command, out=None):
    """Wall and CPU seconds, and the peak memory in MiB."""
    begun = time.monotonic()
    stdout = open(out, "wb") if out else subprocess.DEVNULL
    child = subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begun
    if status != 0:
        return None, said.decode(errors="replace").strip().splitlines()[-1:]
    return (wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), None


def server_cpu(directory):
    pid = open(os.path.join(directory, "server.pid")).read().strip()
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def server_sums(table):
    numbers, texts, dates = COLUMNS[table]
    # TO_DAYS counts from the year 0.
    sums = [f"SUM({name})" for name in numbers] + [f"SUM(LENGTH({name}))" for name in texts]
    return f"SELECT COUNT(*), {', '.join(sums + [f'SUM(TO_DAYS({name}))' for name in dates])} FROM {table}"


def file_sums(path, table):
    import duckdb
    numbers, texts, dates = COLUMNS[table]
    sums = [f"sum({name})" for name in numbers] + [f"sum(strlen({name}))" for name in texts]
    # chdb writes dates as numbers of days.
    days = "CASE WHEN typeof({0}) IN ('USMALLINT', 'INTEGER') THEN {0}::INTEGER + 719528 ELSE date_diff('day', DATE '0000-01-01', {0}::VARCHAR::DATE) END"
    sums += [f"sum({days.format(name)})" for name in dates]
    row = duckdb.execute(f"SELECT count(*), {', '.join(sums)} FROM read_parquet('{path}')").fetchone()
    return [float(value) for value in row]


class Bench:
    """A table in a directory, and how it is read."""

    def __init__(self, innoscan, directory, rounds, table, is_cold):
        self.innoscan, self.directory, self.rounds, self.table, self.is_cold = innoscan, directory, rounds, table, is_cold
        self.ibd = os.path.join(directory, "data", *table.split(".")) + ".ibd"
        self.out = os.path.join(directory, "columns.parquet")

    def server(self, verb, *arguments):
        return subprocess.run([*SERVER, verb, self.directory, *arguments], check=True, capture_output=True, text=True).stdout

    def start(self):
        direct = ["--innodb-flush-method=O_DIRECT", "--innodb-buffer-pool-load-at-startup=OFF"] if self.is_cold else []
        self.server("start", "--innodb-buffer-pool-size=4G", "--skip-networking=0", f"--port={PORT}",
                    "--bind-address=127.0.0.1", *direct)

    def warm_or_cool(self):
        if self.is_cold:
            os.sync()
            with open("/proc/sys/vm/drop_caches", "w") as file:
                file.write("3")
        else:
            with open(self.ibd, "rb") as file:
                while file.read(1 << 20):
                    pass

    def best_of_ours(self, codec):
        """The best wall time of ours, with CPU and memory."""
        results = []
        for _ in range(self.rounds):
            self.warm_or_cool()
            command = [self.innoscan, "dump", self.ibd, "-q", "--format", "parquet", "--compress", codec]
            result, error = run(command, f"{self.out}.{codec}")
            if error:
                sys.exit(f"innoscan: {error}")
            results.append(result)
        return min(results)

    def best_of(self, code):
        """The best of a program that asks the server, and the CPU of the server in that run."""
        results = []
        for _ in range(self.rounds):
            if self.is_cold:
                self.server("stop")
                self.warm_or_cool()
                self.start()
            before = server_cpu(self.directory)
            result, error = run([sys.executable, "-c", code])
            if error:
                return None, None, error
            results.append((result, server_cpu(self.directory) - before))
        return *min(results), None

    def report(self, name, best, server, path, wanted):
        wall, cpu, memory = best
        rows = wanted[0] / 1e6 / wall
        right = "right" if file_sums(path, self.table) == wanted else "WRONG"
        size = os.path.getsize(path) / (1 << 20)
        print(f"{name:38} {wall:7.2f} s {rows:6.2f} M rows/s  CPU {cpu:6.1f} s + server {server:5.1f} s"
              f"  {memory:6.0f} MiB  file {size:4.0f} MiB  {right}", flush=True)

    def with_server(self, ours):
        wanted = [float(value) for value in self.server("sql", "-NBe", server_sums(self.table)).split()]
        for codec, best in ours.items():
            self.report(f"innoscan dump --format parquet, {codec}", best, 0, f"{self.out}.{codec}", wanted)
        socket = self.server("socket").strip()
        for name, code in CLIENTS.items():
            code = code.format(out=self.out, socket=socket, port=PORT, table=self.table, database=self.table.split(".")[0])
            best, server, error = self.best_of(code)
            if error:
                print(f"{name:38} failed: {' '.join(error)[:200]}", flush=True)
                continue
            self.report(name, best, server, self.out, wanted)
            print(f"{'':38} innoscan is {best[0] / ours['zstd'][0]:.1f} times as fast", flush=True)
        for path in (self.out, f"{self.out}.zstd", f"{self.out}.snappy"):
            if os.path.exists(path):
                os.remove(path)


def main():
    innoscan, directory = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    table = sys.argv[4] if len(sys.argv) > 4 else "bench.shuffled"
    bench = Bench(innoscan, directory, rounds, table, sys.argv[5:] == ["cold"])
    model = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    print(f"{table}, {'cold' if bench.is_cold else 'warm'}; {os.cpu_count()} cores, {model}; best of {rounds} rounds")
    ours = {codec: bench.best_of_ours(codec) for codec in ("zstd", "snappy")}
    bench.start()
    try:
        bench.with_server(ours)
    finally:
        bench.server("stop")


if __name__ == "__main__":
    main()
