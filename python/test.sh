#!/bin/bash
# Installs a wheel and what reads it, and tests them, in an environment of its own in target:
#   test.sh tables WHEEL    polars, DuckDB, pandas, pyarrow; the tables of four servers
#   test.sh engines WHEEL   Ray, Dask, Daft, and Spark, which needs Java 17
set -euo pipefail
cd "$(dirname "$0")/.."
venv=target/python-$1
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet --requirement "python/tests/$1/requirements.txt"
"$venv/bin/pip" install --quiet --force-reinstall --no-deps "$2"
fixtures=
for name in mysql-8.0.33 mysql-5.7.22 mysql-9.7 mariadb-11.8; do
    tests/data/unpack.sh target/fixtures "$name" > /dev/null
    fixtures+=${fixtures:+:}$PWD/target/fixtures/$name
done
INNOSCAN_FIXTURES=$fixtures exec "$venv/bin/python" -m pytest --quiet "python/tests/$1"
