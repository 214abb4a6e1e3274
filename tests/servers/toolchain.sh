#!/bin/bash
# toolchain.sh: what building needs, installed where it is missing: a Rust
# toolchain new enough (rust-version of Cargo.toml), a C compiler, zstd, python3.
#
# Rust comes from Debian's packages where they are new enough: rustc and cargo,
# or rustc-web and cargo-web, which stable releases carry for their browsers;
# else from rustup, which takes its toolchains from rust-lang.org.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
. "$HERE/apt.sh"
WANT=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$HERE/../../Cargo.toml" | head -1)
die() { echo "toolchain.sh: $*" >&2; exit 1; }

packages=()
command -v cc >/dev/null || packages+=(gcc libc6-dev)
command -v zstd >/dev/null || packages+=(zstd)
command -v python3 >/dev/null || packages+=(python3)
command -v tar >/dev/null || packages+=(tar)
# the Makefile looks there too
[ -x "$HOME/.cargo/bin/cargo" ] && PATH=$HOME/.cargo/bin:$PATH

new_enough() {
    command -v cargo >/dev/null || return 1
    local have
    have=$(cargo --version 2>/dev/null | awk '{print $2}')
    [ -n "$have" ] && [ "$(printf '%s\n%s\n' "$WANT" "$have" | sort -V | head -1)" = "$WANT" ]
}

# packaged AT_LEAST PACKAGE...: whether apt would install all of them, each new enough.
packaged() {
    local at_least=$1 package version
    for package in "${@:2}"; do
        version=$(LC_ALL=C apt-cache policy "$package" | sed -n 's/^ *Candidate: //p')
        [ -n "$version" ] && [ "$version" != '(none)' ] || return 1
        dpkg --compare-versions "$version" ge "$at_least" || return 1
    done
}

rust=
new_enough || command -v rustup >/dev/null || rust=missing
if [ ${#packages[@]} -gt 0 ] || [ -n "$rust" ]; then
    can_install "${packages[@]}" ${rust:+"Rust $WANT or later"} || exit 1
    as_root apt-get -q update >&2
    if [ -n "$rust" ]; then
        if packaged "$WANT" rustc cargo; then packages+=(rustc cargo)
        elif packaged "$WANT" rustc-web cargo-web; then packages+=(rustc-web cargo-web)
        elif packaged 0 rustup; then packages+=(rustup)
        else
            die "apt's sources have no Rust $WANT or later: a stable release's is in its security" \
                "suite (rustc-web), or take one from rustup.rs"
        fi
    fi
    apt_install "${packages[@]}" || die "can't install ${packages[*]}"
fi
if ! new_enough && command -v rustup >/dev/null; then
    rustup toolchain install stable --profile minimal >&2 && rustup default stable >&2
fi
new_enough || die "Rust $WANT or later is needed, found $(cargo --version 2>/dev/null || echo none)"
