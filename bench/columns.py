#!/usr/bin/env python3
"""Parquet of the shuffled table by innoscan and by programs that ask the server, in one run.

usage: columns.py INNOSCAN DIR [ROUNDS]

DIR is as make_shuffled.sh leaves it. Needs Python's packages duckdb==1.4.4, duckdb-ext-mysql, connectorx,
pyarrow, pandas, polars and PyMySQL. The server runs on a socket and on loopback, warm, with the table in
its pool; innoscan reads the file from the page cache while no server runs. Every file is zstd level 1.

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
SUMS = "SELECT COUNT(*), SUM(user_id), SUM(price), SUM(LENGTH(title) + LENGTH(body)), SUM(TO_DAYS(created)) FROM bench.shuffled"

# Each is a program of its own, so that its memory is its own: {out}, {socket}, {port}.
CLIENTS = {
    "DuckDB's MySQL extension, COPY": """
import duckdb, duckdb_ext, os, glob
c = duckdb.connect(config={{'allow_unsigned_extensions': True}})
c.load_extension(glob.glob(os.path.join(list(duckdb_ext.__path__)[0], '**/mysql_scanner.duckdb_extension'), recursive=True)[0])
c.execute("ATTACH 'host=127.0.0.1 port={port} user=root database=bench' AS m (TYPE mysql, READ_ONLY)")
c.execute("COPY m.bench.shuffled TO '{out}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)")
""",
    "ConnectorX to pyarrow": """
import connectorx, pyarrow.parquet
t = connectorx.read_sql('mysql://root@127.0.0.1:{port}/bench', 'SELECT * FROM shuffled', return_type='arrow')
pyarrow.parquet.write_table(t, '{out}', compression='zstd', compression_level=1)
""",
    "polars read_database_uri": """
import polars
polars.read_database_uri('SELECT * FROM shuffled', 'mysql://root@127.0.0.1:{port}/bench').write_parquet(
    '{out}', compression='zstd', compression_level=1)
""",
    "pandas + PyMySQL, chunks to pyarrow": """
import pymysql, pandas, pyarrow, pyarrow.parquet, warnings
warnings.simplefilter('ignore')
c = pymysql.connect(unix_socket='{socket}', user='root', cursorclass=pymysql.cursors.SSCursor)
writer = None
for frame in pandas.read_sql('SELECT * FROM bench.shuffled', c, chunksize=100_000):
    t = pyarrow.Table.from_pandas(frame, schema=writer and writer.schema, preserve_index=False)
    writer = writer or pyarrow.parquet.ParquetWriter('{out}', t.schema, compression='zstd', compression_level=1)
    writer.write_table(t)
writer.close()
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


def sums(path):
    import duckdb
    row = duckdb.execute(
        f"SELECT count(*), sum(user_id), sum(price), sum(strlen(title) + strlen(body)), "
        f"sum(date_diff('day', DATE '0000-01-01', created::DATE)) FROM read_parquet('{path}')").fetchone()
    return [str(value) for value in row]


def report(name, best, server, path, wanted):
    wall, cpu, memory = best
    rows = 6.0 / wall
    right = "right" if [str(float(v)) for v in sums(path)] == [str(float(v)) for v in wanted] else "WRONG"
    size = os.path.getsize(path) / (1 << 20)
    print(f"{name:38} {wall:7.2f} s {rows:6.2f} M rows/s  CPU {cpu:6.1f} s + server {server:5.1f} s"
          f"  {memory:6.0f} MiB  file {size:4.0f} MiB  {right}", flush=True)


def best_of(rounds, command, out=None):
    results = [run(command, out) for _ in range(rounds)]
    failed = [error for _, error in results if error]
    return (None, failed[0]) if failed else (min(result for result, _ in results), None)


def main():
    innoscan, directory = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    ibd = os.path.join(directory, "data/bench/shuffled.ibd")
    out = os.path.join(directory, "columns.parquet")
    model = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    print(f"{os.cpu_count()} cores, {model}; best of {rounds} rounds")
    with open(ibd, "rb") as file:
        while file.read(1 << 20):
            pass
    ours = {}
    for codec in ("zstd", "snappy"):
        command = [innoscan, "dump", ibd, "-q", "--format", "parquet", "--compress", codec]
        ours[codec], error = best_of(rounds, command, f"{out}.{codec}")
        if error:
            sys.exit(f"innoscan: {error}")
    subprocess.run([*SERVER, "start", directory, "--innodb-buffer-pool-size=4G", "--skip-networking=0",
                    f"--port={PORT}", "--bind-address=127.0.0.1"], check=True, stdout=subprocess.DEVNULL)
    try:
        with_server(directory, out, rounds, ours)
    finally:
        subprocess.run([*SERVER, "stop", directory], check=True)


def with_server(directory, out, rounds, ours):
    sql = lambda text: subprocess.run([*SERVER, "sql", directory, "-NBe", text], check=True,
                                      capture_output=True, text=True).stdout
    # TO_DAYS counts from the year 0.
    wanted = sql(SUMS).split()
    for codec, best in ours.items():
        report(f"innoscan dump --format parquet, {codec}", best, 0, f"{out}.{codec}", wanted)
    socket = subprocess.run([*SERVER, "socket", directory], check=True, capture_output=True,
                            text=True).stdout.strip()
    for name, code in CLIENTS.items():
        code = code.format(out=out, socket=socket, port=PORT)
        before = server_cpu(directory)
        best, error = best_of(rounds, [sys.executable, "-c", code])
        if error:
            print(f"{name:38} failed: {' '.join(error)[:200]}", flush=True)
            continue
        cpu = (server_cpu(directory) - before) / rounds
        report(name, best, cpu, out, wanted)
        print(f"{'':38} innoscan is {best[0] / ours['zstd'][0]:.1f} times as fast", flush=True)
    for path in (out, f"{out}.zstd", f"{out}.snappy"):
        if os.path.exists(path):
            os.remove(path)


if __name__ == "__main__":
    main()
