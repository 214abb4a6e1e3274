#!/bin/bash
# Installs the readers of Parquet into target/columns, and compares what they read of the fixtures with
# what the servers said: run.sh INNOSCAN
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=target/columns
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet --requirement tests/columns/requirements.txt
corpora=()
for name in mysql-5.7.22 mysql-8.0.33 mysql-9.7 mariadb-11.8; do
    tests/data/unpack.sh target/fixtures "$name" > /dev/null
    corpora+=("target/fixtures/$name")
done
exec "$venv/bin/python" tests/columns/consumers.py "$1" "${corpora[@]}"
