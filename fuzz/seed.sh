#!/usr/bin/env bash
# seed.sh: the files that the fuzz targets are tested with (tests/it/fuzz.rs) as their first inputs, under fuzz/corpus
# (which is not kept). Then, with a nightly compiler and cargo-fuzz: cargo +nightly fuzz run mysql_page
set -euo pipefail
cd "$(dirname "$0")"
INNOSCAN_FUZZ_CORPUS=$PWD/corpus cargo test -p innoscan-cli --test it --manifest-path ../Cargo.toml -- \
    the_fuzz_targets_survive_damaged_files
for target in corpus/*; do echo "$target: $(find "$target" -type f | wc -l) seeds"; done
