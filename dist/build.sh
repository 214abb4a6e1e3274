#!/usr/bin/env bash
# build.sh: what is published, into target/dist/out: for x86_64 and aarch64 a static binary in a tarball with man pages and
# completions, a .deb and a .rpm; an SBOM, the licences of all dependencies, and SHA256SUMS.
#
# So that two runs on the same commit give the same bytes, SOURCE_DATE_EPOCH is the commit's time, the paths of the machine are
# mapped away, and the versions of all tools are below. Takes what is missing from package registries. Needs Rust from
# rustup, python3 with venv, and dpkg-deb; a quarter of an hour of two cores.
set -euo pipefail
cd "$(dirname "$0")/.."

ZIG=0.17.1 ZIGBUILD=0.24.1 CARGO_DEB=3.8.0 GENERATE_RPM=0.21.1 CYCLONEDX=0.5.9 DENY=0.20.2
TARGETS=${TARGETS:-x86_64-unknown-linux-musl aarch64-unknown-linux-musl}
LIMIT_BYTES=$((12 * 1000 * 1000))

WORK=$PWD/target/dist
TOOLS=$WORK/tools
MANUAL=$PWD/target/manual
OUT=$WORK/out
say() { echo "dist/build.sh: $*" >&2; }
die() { say "$*"; exit 1; }

[ -z "$(git status --porcelain)" ] || die "there are changes that are in no commit"
COMMIT=$(git rev-parse --short=12 HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
VERSION=$(cargo metadata --format-version 1 --no-deps --locked |
    python3 -c 'import json, sys; print(next(p["version"] for p in json.load(sys.stdin)["packages"] if p["name"] == "innoscan-cli"))')
export SOURCE_DATE_EPOCH INNOSCAN_COMMIT=$COMMIT LC_ALL=C TZ=UTC

# tool NAME VERSION: a program of that version, from the registry.
tool() {
    [ -x "$TOOLS/bin/$1" ] && grep -q "^\"$1 $2 " "$TOOLS/.crates.toml" ||
        cargo install --quiet --locked --root "$TOOLS" "$1@$2"
}
tools() {
    tool cargo-zigbuild $ZIGBUILD
    tool cargo-deb $CARGO_DEB
    tool cargo-generate-rpm $GENERATE_RPM
    tool cargo-cyclonedx $CYCLONEDX
    tool cargo-deny $DENY
    if [ ! -x "$TOOLS/zig/bin/python3" ]; then
        python3 -m venv "$TOOLS/zig"
        "$TOOLS/zig/bin/pip" install --quiet "ziglang==$ZIG"
    fi
    export PATH=$TOOLS/bin:$PATH CARGO_ZIGBUILD_PYTHON_PATH=$TOOLS/zig/bin/python3
    # shellcheck disable=SC2086 # several targets
    rustup target add $TARGETS >&2
}

# Without the tables for unwinding, since a panic aborts; and without the paths of this machine, which would be in the
# messages of panics.
flags() {
    local home=${CARGO_HOME:-$HOME/.cargo}
    echo "-C force-unwind-tables=no --remap-path-prefix=$PWD=/innoscan --remap-path-prefix=$home=/cargo" \
        "--remap-path-prefix=$(rustc --print sysroot)=/rust"
}

binary() { # TARGET: builds it, and checks that it is static and small.
    RUSTFLAGS=$(flags) cargo zigbuild --profile dist --locked -p innoscan-cli --target "$1" --target-dir "$WORK/build"
    BINARY=$WORK/build/$1/dist/innoscan
    ! readelf -l "$BINARY" | grep -q INTERP || die "$BINARY is not static"
    local bytes
    bytes=$(stat -c %s "$BINARY")
    [ "$bytes" -lt $LIMIT_BYTES ] || die "$BINARY has $bytes bytes, $LIMIT_BYTES are allowed"
    say "$1: $bytes bytes"
}

tarball() { # ARCH
    local name=innoscan-$VERSION-linux-$1
    rm -rf "${WORK:?}/$name"
    mkdir -p "$WORK/$name"
    cp "$BINARY" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$WORK/$name/"
    cp -r "$MANUAL/man1" "$MANUAL/completions" "$WORK/$name/"
    tar -C "$WORK" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
        -c "$name" | gzip -9n >"$OUT/$name.tar.gz"
}

packages() { # TARGET
    cargo deb --no-build --no-strip --profile dist -p innoscan-cli --target "$1" --output "$OUT" >/dev/null
    cargo generate-rpm --profile dist -p crates/cli --target "$1" --source-date "$SOURCE_DATE_EPOCH" --output "$OUT"
}

rm -rf "$OUT"
mkdir -p "$OUT"
tools
cargo deny --locked check --hide-inclusion-graph licenses bans sources >&2
for target in $TARGETS; do
    binary "$target"
    # The packages take what they have from there.
    mkdir -p "target/$target/dist"
    cp "$BINARY" "target/$target/dist/innoscan"
    # Written once, by the binary that runs here.
    [ "$target" != "${TARGETS%% *}" ] || "$BINARY" manual "$MANUAL"
    tarball "${target%%-*}"
    packages "$target"
done
cargo cyclonedx --manifest-path crates/cli/Cargo.toml --format json --all --target "${TARGETS%% *}" \
    --override-filename innoscan.cdx >/dev/null
mv crates/cli/innoscan.cdx.json "$OUT/innoscan-$VERSION.cdx.json"
find crates -name 'innoscan.cdx.json' -delete
cargo deny --locked list --layout crate --format human >"$OUT/licences.txt"
(cd "$OUT" && sha256sum -- * >SHA256SUMS)
ls -l "$OUT" >&2
