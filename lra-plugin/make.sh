#!/usr/bin/env bash
# make.sh OUT [VERSION]: compiles the plugin for a MySQL of tests/servers/install.sh (mysql-9.7, or
# mysql-9.7-debug), inside the release of Debian whose compiler and headers it was built with.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "${INNOSCAN_SERVERS:-$HOME/.cache/innoscan/servers}/mysql-9.7-source/root" && pwd -P)
mkdir -p "$(dirname "$1")"

work=$(mktemp -d "$root/tmp/lra-XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -r "$here/src" "$here/build.sh" "$work/"
inside=/tmp/$(basename "$work")
case ${2:-mysql-9.7} in
mysql-9.7) server=/usr/sbin/mysqld configured= ;;
mysql-9.7-debug) server=/build/debug/runtime_output_directory/mysqld configured=/build/debug ;;
*) echo "make.sh: no $2" >&2; exit 1 ;;
esac
CONFIGURED=$configured chroot "$root" "$inside/build.sh" $server /usr/src/mysql/mysql-9.7 /usr/include/mysql "$inside/lra.so"
cp "$work/lra.so" "$1"
