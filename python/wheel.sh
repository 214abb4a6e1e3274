#!/bin/bash
# Builds the wheel into target/wheels, and prints its path.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=target/maturin
if [ ! -x "$venv/bin/maturin" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet 'maturin>=1.9,<2'
fi
rm -rf target/wheels
"$venv/bin/maturin" build --quiet --release --locked --manifest-path python/Cargo.toml \
    --target-dir target/python-module --out target/wheels >&2
ls "$PWD"/target/wheels/*.whl
