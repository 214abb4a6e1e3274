#!/usr/bin/env bash
# make.sh OUT: compiles the plugin for the MySQL 9.7 of tests/servers/install.sh, inside that
# server's own release of Debian, whose compiler and headers it was built with.
set -euo pipefail
[ $# = 1 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "${INNOSCAN_SERVERS:-$HOME/.cache/innoscan/servers}/mysql-9.7-source/root" && pwd -P)
mkdir -p "$(dirname "$1")"

work=$(mktemp -d "$root/tmp/lra-XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -r "$here/src" "$here/build.sh" "$work/"
inside=/tmp/$(basename "$work")
chroot "$root" "$inside/build.sh" /usr/sbin/mysqld /usr/src/mysql/mysql-9.7 /usr/include/mysql "$inside/lra.so"
cp "$work/lra.so" "$1"
