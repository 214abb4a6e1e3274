#!/usr/bin/env python3
"""Queries 1, 3, 6 and 18 of TPC-H by a server, by `innoscan sql` and by DuckDB over innoscan's Arrow streams.

usage: tpch.py INNOSCAN-SQL DIR [SCALE [ROUNDS]]

Makes the tables in DIR, if they are not there, in a MariaDB 10.11 with a pool of 4 GiB, whose answers decide. The
others read the files from the page cache while no server runs. Needs Python's packages innoscan (make wheel),
duckdb and tpchgen-cli. Prints the best time of each, and whether the answers are those of the server.
"""

import csv
import decimal
import os
import shutil
import subprocess
import sys
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = [os.path.join(HERE, "../tests/servers/server.sh"), "mariadb-10.11"]
OPTIONS = ["--innodb-buffer-pool-size=4G", "--innodb-log-file-size=512M", "--local-infile=1"]

TABLES = {
    "customer": """c_custkey INT NOT NULL PRIMARY KEY, c_name VARCHAR(25) NOT NULL, c_address VARCHAR(40) NOT NULL,
        c_nationkey INT NOT NULL, c_phone CHAR(15) NOT NULL, c_acctbal DECIMAL(15,2) NOT NULL,
        c_mktsegment CHAR(10) NOT NULL, c_comment VARCHAR(117) NOT NULL""",
    "orders": """o_orderkey INT NOT NULL PRIMARY KEY, o_custkey INT NOT NULL, o_orderstatus CHAR(1) NOT NULL,
        o_totalprice DECIMAL(15,2) NOT NULL, o_orderdate DATE NOT NULL, o_orderpriority CHAR(15) NOT NULL,
        o_clerk CHAR(15) NOT NULL, o_shippriority INT NOT NULL, o_comment VARCHAR(79) NOT NULL""",
    "lineitem": """l_orderkey INT NOT NULL, l_partkey INT NOT NULL, l_suppkey INT NOT NULL,
        l_linenumber INT NOT NULL, l_quantity DECIMAL(15,2) NOT NULL, l_extendedprice DECIMAL(15,2) NOT NULL,
        l_discount DECIMAL(15,2) NOT NULL, l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL,
        l_linestatus CHAR(1) NOT NULL, l_shipdate DATE NOT NULL, l_commitdate DATE NOT NULL,
        l_receiptdate DATE NOT NULL, l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL,
        l_comment VARCHAR(44) NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber)""",
}

# The columns that each needs of each table: DuckDB does not say so to an Arrow stream.
QUERIES = {
    1: (
        {
            "lineitem": "l_returnflag l_linestatus l_quantity l_extendedprice l_discount l_tax l_shipdate",
        },
        """SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
            sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), count(*)
        FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY
        GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus""",
    ),
    3: (
        {
            "customer": "c_custkey c_mktsegment",
            "orders": "o_orderkey o_custkey o_orderdate o_shippriority",
            "lineitem": "l_orderkey l_extendedprice l_discount l_shipdate",
        },
        """SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
        FROM customer, orders, lineitem
        WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
            AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
        GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate LIMIT 10""",
    ),
    6: (
        {"lineitem": "l_extendedprice l_discount l_shipdate l_quantity"},
        """SELECT sum(l_extendedprice * l_discount) FROM lineitem
        WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR
            AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24""",
    ),
    18: (
        {
            "customer": "c_custkey c_name",
            "orders": "o_orderkey o_custkey o_orderdate o_totalprice",
            "lineitem": "l_orderkey l_quantity",
        },
        """SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity)
        FROM customer, orders, lineitem
        WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300)
            AND c_custkey = o_custkey AND o_orderkey = l_orderkey
        GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
        ORDER BY o_totalprice DESC, o_orderdate LIMIT 100""",
    ),
}


def server(verb, directory, *arguments):
    done = subprocess.run([*SERVER, verb, directory, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"server.sh {verb}: {done.stderr}")
    return done.stdout


def ask(directory, sql):
    """The server's answer, a list of texts for each row."""
    return [line.split("\t") for line in server("sql", directory, "-N", "-e", sql).splitlines()]


def make(directory, scale):
    """Tables that a server wrote."""
    texts = os.path.join(directory, "tbl")
    for table in TABLES:
        subprocess.run(["tpchgen-cli", "tbl", "-s", scale, f"--tables={table}", f"--output-dir={texts}"], check=True)
    server("run", directory, *OPTIONS)
    ask(directory, "CREATE DATABASE tpch")
    for table, columns in TABLES.items():
        ask(directory, f"CREATE TABLE tpch.{table} ({columns})")
        path = os.path.join(texts, table + ".tbl")
        ask(directory, f"LOAD DATA INFILE '{path}' INTO TABLE tpch.{table} FIELDS TERMINATED BY '|'")
    tables = ", ".join("tpch." + table for table in TABLES)
    ask(directory, f"ANALYZE TABLE {tables}")
    server("stop", directory)
    shutil.rmtree(texts)


def same(value):
    """A number whatever its scale, or the text."""
    try:
        return decimal.Decimal(str(value)).normalize()
    except decimal.InvalidOperation:
        return str(value)


def best_of(rounds, answer):
    """The best time, and the answer."""
    best = float("inf")
    for _ in range(rounds):
        begun = time.monotonic()
        rows = answer()
        best = min(best, time.monotonic() - begun)
    return best, [[same(value) for value in row] for row in rows]


def by_sql(program, data, sql):
    command = [program, sql, "--datadir", data, "-D", "tpch", "--format", "csv"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return list(csv.reader(done.stdout.splitlines()))[1:]


def by_duckdb(data, columns, sql):
    import duckdb
    import innoscan

    connection = duckdb.connect()
    for table, names in columns.items():
        opened = innoscan.open(f"tpch.{table}", datadir=data)
        connection.register(table, opened.scan(names.split()))
    return connection.execute(sql).fetchall()


def main():
    program, directory = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    scale, rounds = (sys.argv[3:] + ["1", "3"][len(sys.argv) - 3 :])[:2]
    rounds = int(rounds)
    warnings.simplefilter("ignore")
    data = os.path.join(directory, "data")
    if not os.path.isdir(os.path.join(data, "tpch")):
        make(directory, scale)
    server("start", directory, *OPTIONS)
    answers = {}
    for number, (_, sql) in QUERIES.items():
        # Once more than the others: its pool is empty at first.
        ask(directory, f"USE tpch; {sql}")
        answers[number] = best_of(rounds, lambda: ask(directory, f"USE tpch; {sql}"))
    server("stop", directory)
    for table in TABLES:
        with open(os.path.join(data, "tpch", table + ".ibd"), "rb") as file:
            while file.read(1 << 20):
                pass
    wrong = 0
    print("| query | MariaDB 10.11 | `innoscan sql` | DuckDB over our streams |\n|---|---:|---:|---:|")
    for number, (columns, sql) in QUERIES.items():
        seconds, expected = answers[number]
        cells = [f"{seconds:.2f} s"]
        for answer in [lambda: by_sql(program, data, sql), lambda: by_duckdb(data, columns, sql)]:
            taken, rows = best_of(rounds, answer)
            wrong += rows != expected
            cells.append(f"{taken:.2f} s ({seconds / taken:.1f} times)" + ("" if rows == expected else " WRONG"))
        print(f"| {number} | {' | '.join(cells)} |", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
