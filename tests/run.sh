#!/usr/bin/env bash
# What `make test` and `make test-all` (--all) run, with the time of each step at the end. Prints the
# ignored tests with their reasons; none is left out in silence.
set -euo pipefail
cd "$(dirname "$0")/.."

# What `make test` may take on two quiet cores, from a clean clone.
TARGET_SECONDS=720

names=() ends=()
step() { # NAME: ends the step before.
    ends+=("$SECONDS")
    names+=("$1")
    printf '\n== %s\n' "$1"
}
report() {
    ends+=("$SECONDS")
    local at
    printf '\n== times\n'
    for at in "${!names[@]}"; do
        printf '%5d s  %s\n' $((ends[at + 1] - ends[at])) "${names[at]}"
    done
    printf '%5d s  in all' "$SECONDS"
    [ -n "$ALL" ] || printf ', of %d s that two quiet cores may take' $TARGET_SECONDS
    echo
}
trap report EXIT

ALL=
[ "${1-}" != --all ] || ALL=yes

step "toolchain"
tests/servers/toolchain.sh
export PATH=$HOME/.cargo/bin:$PATH

# The server's package and the fixtures come while the compiler runs.
TARGET=$(cargo metadata --format-version 1 --no-deps --locked |
    sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
mkdir -p "$TARGET"
# What nobody has compiled step by step is compiled at once, in a third less time.
[ -e "$TARGET/debug/incremental" ] || export CARGO_INCREMENTAL=0
BESIDE_LOG=$TARGET/test-prerequisites.log
{
    tests/servers/install.sh mariadb-10.11
    tests/data/unpack.sh "$TARGET/fixtures"
} >"$BESIDE_LOG" 2>&1 &
BESIDE=$!

step "formatting and lints"
if cargo fmt --version >/dev/null 2>&1; then cargo fmt --all --check; else
    echo "skipped: formatting (this toolchain has no rustfmt)"
fi
if cargo clippy --version >/dev/null 2>&1; then
    cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
else
    echo "skipped: lints (this toolchain has no clippy)"
fi

# One build, of the profile `dev`: the tests run its `innoscan`.
step "build"
cargo test --workspace --locked --no-run

step "server and fixtures (the rest of it)"
if ! wait $BESIDE; then
    cat "$BESIDE_LOG" >&2
    exit 1
fi

# What README names first.
step "demo"
tests/demo.sh "$TARGET/debug/innoscan"

step "tests"
# Most wait for a server or a disk, not for a core.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) * 2))}
if [ -n "$ALL" ]; then
    export INNOSCAN_EVERY_POLICY=yes
    export INNOSCAN_DAMAGE_CASES=${INNOSCAN_DAMAGE_CASES:-3000}
    cargo test --workspace --locked -- --include-ignored
else
    cargo test --workspace --locked
fi
