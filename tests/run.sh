#!/usr/bin/env bash
# What `make test` and `make test-all` run. Prints the ignored tests with their reasons; none is
# left out in silence.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

step "formatting and lints"
if cargo fmt --version >/dev/null 2>&1; then cargo fmt --all --check; else
  echo "skipped: formatting (this toolchain has no rustfmt)"; fi
if cargo clippy --version >/dev/null 2>&1; then
  cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
else echo "skipped: lints (this toolchain has no clippy)"; fi

step "build"
cargo build --release --locked -p innoscan-cli
INNOSCAN=$(cargo metadata --format-version 1 --no-deps |
  sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/release/innoscan
export INNOSCAN

step "tests"
if [ "${1-}" = --all ]; then
  cargo test --workspace --locked -- --include-ignored
else
  cargo test --workspace --locked
fi
