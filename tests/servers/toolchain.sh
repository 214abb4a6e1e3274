#!/bin/bash
# toolchain.sh: what building needs, installed where it is missing: a Rust
# toolchain new enough (rust-version of Cargo.toml), a C compiler, zstd, python3.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
WANT=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$HERE/../../Cargo.toml" | head -1)
die() { echo "toolchain.sh: $*" >&2; exit 1; }
ROOT=()
[ "$(id -u)" = 0 ] || ROOT=(sudo)

packages=()
command -v cc >/dev/null || packages+=(gcc libc6-dev)
command -v zstd >/dev/null || packages+=(zstd)
command -v python3 >/dev/null || packages+=(python3)
command -v tar >/dev/null || packages+=(tar)
[ -x "$HOME/.cargo/bin/cargo" ] && PATH=$HOME/.cargo/bin:$PATH
new_enough() {
    command -v cargo >/dev/null || return 1
    local have
    have=$(cargo --version | awk '{print $2}')
    [ "$(printf '%s\n%s\n' "$WANT" "$have" | sort -V | head -1)" = "$WANT" ]
}
new_enough || command -v rustup >/dev/null || packages+=(rustup)
if [ ${#packages[@]} -gt 0 ]; then
    command -v apt-get >/dev/null || die "missing: ${packages[*]}"
    [ ${#ROOT[@]} -eq 0 ] || command -v sudo >/dev/null || die "as root: apt-get install ${packages[*]}"
    "${ROOT[@]}" apt-get -q update >&2
    DEBIAN_FRONTEND=noninteractive "${ROOT[@]}" apt-get -q -y install --no-install-recommends "${packages[@]}" >&2 ||
        die "can't install ${packages[*]}; Rust $WANT or later is to be had from rustup.rs"
fi
if ! new_enough; then
    rustup toolchain install stable --profile minimal >&2 && rustup default stable >&2
    new_enough || die "Rust $WANT or later is needed, found $(cargo --version 2>/dev/null || echo none)"
fi
