#!/usr/bin/env bash
# Makes sure a Rust compiler of the version the workspace needs is there, from Debian's packages
# when there is none.
set -euo pipefail

needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../../Cargo.toml")

version_of() { "$1" --version 2>/dev/null | sed -n 's/^[a-z]* \([0-9.]*\).*/\1/p'; }
enough() { [ -n "$1" ] && [ "$(printf '%s\n%s\n' "$needed" "$1" | sort -V | head -n 1)" = "$needed" ]; }

have_toolchain() {
  enough "$(version_of rustc)" && enough "$(version_of cargo)" && command -v cc >/dev/null
}

have_toolchain && exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
echo "toolchain: no Rust $needed or newer with a C compiler here; installing from Debian" >&2
$sudo apt-get update -qq
candidate() { apt-cache policy "$1" | sed -n 's/ *Candidate: \([0-9.]*\).*/\1/p'; }
for pair in "rustc cargo" "rustc-web cargo-web"; do
  read -r rustc cargo <<<"$pair"
  if enough "$(candidate "$rustc")"; then
    $sudo apt-get install -y -qq --no-install-recommends "$rustc" "$cargo" gcc libc6-dev make >&2
    break
  fi
done
have_toolchain || {
  echo "toolchain: this system's packages have no Rust $needed; install it with rustup and" \
    "run make again" >&2
  exit 1
}
