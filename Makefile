# The project's commands. `make demo` and `make test` work on a fresh Debian (root or sudo).

SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: build install demo test test-all test-killed dist test-deny test-columns wheel test-python test-engines sql test-sql lint bench bench-docs plugin test-plugin test-plugin-debug install-toolchain install-server clean

# where rustup.rs puts what tests/servers/toolchain.sh accepts
export PATH := $(HOME)/.cargo/bin:$(PATH)

BIN = $(or $(CARGO_TARGET_DIR),target)/release/innoscan

build: install-toolchain
	cargo build --release --locked -p innoscan-cli

# Builds, then runs the main job on the data shipped in tests/data/demo.
demo: build
	tests/demo.sh $(BIN)

# Everything that must hold before a change lands: formatting, lints, unit tests, the committed
# fixtures of every server, the demo, and a live MariaDB from Debian's packages.
# It takes twelve minutes of two cores at most, and says at its end how long it took.
test:
	tests/run.sh

# The whole matrix: every server of tests/servers/README.md, installed and started (about 6 GB of disk and half an
# hour), and what `make test` does not build: the module for Python, and SQL (10 GB, and an hour more; Java 17).
test-all:
	tests/run.sh --all
	$(MAKE) test-columns test-volume test-python test-engines test-sql

# Parquet files of the fixtures, read by pyarrow, DuckDB, polars and DataFusion, against the servers' own
# text. Needs Python 3.11 with venv, and takes the readers from the package registry.
test-columns: build
	tests/columns/run.sh $(BIN)

# Snapshots of a volume under running servers, ten of each, against the servers' own recovery. Needs root, loop devices,
# btrfs-progs, sysbench, and 4 GB of disk.
test-volume: build
	command -v sysbench && command -v mkfs.btrfs || apt-get install -y -q sysbench btrfs-progs
	for server in mariadb-10.11 mariadb-11.8 mysql-8.0.33 mysql-9.7; do \
	    tests/servers/install.sh $$server && python3 tests/volume/snapshots.py $(BIN) $$server || exit 1; \
	done

# A thousand kills of each server, beside the few of `make test`: their pages, rows and definitions (tests/killed.sh
# says how to run fewer). Thirty hours of two cores.
test-killed: install-toolchain
	tests/killed.sh

# The command, its man pages and its completions: below PREFIX (/usr/local), as root where that is root's.
PREFIX = /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share
install: build
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/innoscan
	$(BIN) manual target/manual
	install -D -m 644 -t $(SHARE)/man/man1 target/manual/man1/*.1
	install -D -m 644 target/manual/completions/innoscan.bash $(SHARE)/bash-completion/completions/innoscan
	install -D -m 644 target/manual/completions/_innoscan $(SHARE)/zsh/site-functions/_innoscan
	install -D -m 644 target/manual/completions/innoscan.fish $(SHARE)/fish/vendor_completions.d/innoscan.fish

# What is published (static binaries, tarballs, .deb, .rpm, SBOM): into target/dist/out.
dist:
	dist/build.sh

# Licences, sources and known weaknesses of all dependencies (deny.toml). Takes the list of weaknesses from its repository.
test-deny: install-toolchain
	cargo deny --version >/dev/null 2>&1 || cargo install --locked cargo-deny@0.20.2
	cargo deny --locked check --hide-inclusion-graph

# The wheel for Python 3.11 and later: into target/wheels. Needs python3 with venv, and takes maturin from
# the package registry.
wheel: install-toolchain
	python/wheel.sh

# The wheel in an environment of its own, with polars, DuckDB, pandas and pyarrow.
test-python: install-toolchain
	python/test.sh tables "$$(python/wheel.sh)"

# The wheel with Ray, Dask, Daft and Spark. Needs Java 17 and 3 GB.
test-engines: install-toolchain
	python/test.sh engines "$$(python/wheel.sh)"

# The command `innoscan sql`: into target/release/innoscan-sql. DataFusion needs Rust 1.94 and ten minutes.
sql: install-toolchain
	cargo build --release --locked --manifest-path sql/Cargo.toml --target-dir target/sql
	mkdir -p target/release
	cp target/sql/release/innoscan-sql target/release/

# Its queries, on tables that servers wrote.
test-sql: install-toolchain
	cargo test --locked --manifest-path sql/Cargo.toml --target-dir target/sql

lint: install-toolchain
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

# Side by side with mariadb-dump, mydumper and dd on a shuffled table.
bench: build install-server
	@tests/servers/install.sh mydumper
	bench/run.sh $(BIN)

# All that docs/bench shows: policies on three devices, lookups beside scans, a table of 10 GB. Needs
# root, 20 GB of disk and three hours; what DATA/results has is not measured again.
DATA = bench/data
bench-docs: build install-server
	@tests/servers/install.sh mydumper gnuplot
	bench/compare.py $(BIN) $(DATA)
	bench/report.py $(DATA) docs/bench

# The plugin lra for MySQL 9.7: into target/lra.so. Needs root (debootstrap, chroot) and 3 GB.
plugin:
	tests/servers/install.sh mysql-9.7 mysql-9.7-source
	lra-plugin/make.sh target/lra.so

# The plugin on a real server: what it does (behaviour), whole dumps with and without it (dumps), then
# everything at once (stress; STRESS_SECONDS=30).
test-plugin: plugin install-server
	lra-plugin/test.sh target/lra.so $(or $(STRESS_SECONDS),30)

# The same under a debug build of the server with the sanitizer of addresses, which is compiled first:
# an hour of two cores, once.
test-plugin-debug: install-server
	tests/servers/install.sh mysql-9.7 mysql-9.7-source mysql-9.7-debug
	lra-plugin/make.sh target/lra-debug.so mysql-9.7-debug
	LRA_SERVER=mysql-9.7-debug lra-plugin/test.sh target/lra-debug.so $(or $(STRESS_SECONDS),30)

install-toolchain:
	@tests/servers/toolchain.sh

install-server:
	@tests/servers/install.sh mariadb-10.11

clean:
	cargo clean
