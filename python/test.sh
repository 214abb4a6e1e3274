#!/bin/bash
# Installs the wheel and what reads it into target/python, and tests them: test.sh WHEEL
set -euo pipefail
cd "$(dirname "$0")/.."
venv=target/python
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet --requirement python/tests/requirements.txt
"$venv/bin/pip" install --quiet --force-reinstall --no-deps "$1"
fixtures=
for name in mysql-8.0.33 mysql-5.7.22 mysql-9.7 mariadb-11.8; do
    tests/data/unpack.sh target/fixtures "$name" > /dev/null
    fixtures+=${fixtures:+:}$PWD/target/fixtures/$name
done
INNOSCAN_FIXTURES=$fixtures exec "$venv/bin/python" -m pytest --quiet python/tests
