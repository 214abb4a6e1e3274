#!/usr/bin/env bash
# build.sh SERVER SOURCE HEADERS OUT [CXX...]
#
# Compiles the plugin for one build of the server.
#   SERVER   the server's program, whose build id the plugin is bound to
#   SOURCE   its source
#   HEADERS  where mysqld_error.h is (libmysqlclient-dev: /usr/include/mysql)
#   OUT      the plugin, lra.so
#   CXX      the compiler's command, g++ of the release the server was built with
#   CONFIGURED  (environment) where the source was configured by CMake for make; in Debian's
#            mysql-source that is SOURCE/builddir
# The server's own flags are used, as its build wrote them down.
set -euo pipefail
[ $# -ge 4 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 1; }
server=$1 source=$(realpath "$2") headers=$3 out=$4
shift 4
cxx=("$@")
[ ${#cxx[@]} -gt 0 ] || cxx=(g++)
here=$(cd "$(dirname "$0")" && pwd)

build_id=$(readelf -n "$server" | sed -n 's/^ *Build ID: //p')
[ -n "$build_id" ] || { echo "build.sh: $server has no build id" >&2; exit 1; }
configured=${CONFIGURED:-$source/builddir}
flags_make=$configured/storage/innobase/CMakeFiles/innobase.dir/flags.make
[ -e "$flags_make" ] || { echo "build.sh: $configured: the source was not configured there" >&2; exit 1; }
# The include paths name the directory it was configured in, on the machine where that was done.
there=$(sed -n 's/^CXX_INCLUDES = -I\([^ ]*\)\/builddir .*/\1/p' "$flags_make")
flag() { sed -n "s/^CXX_$1 = //p" "$flags_make" | sed "s|${there:-$source}|$source|g"; }
# Words of the make file are words of the shell: quotes in it are taken as such.
eval "flags=($(flag DEFINES) $(flag INCLUDES) $(flag FLAGS))"

objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
compile() {
  # ha_innopart makes private what handler has public, though it is there to be overridden.
  local access=
  [ "$(basename "$1")" != handler.cc ] || access=-fno-access-control
  "${cxx[@]}" "${flags[@]}" $access -Werror=return-type -Wno-missing-include-dirs -isystem "$headers" -DLRA_SERVER_BUILD_ID="\"$build_id\"" \
    -c "$1" -o "$objects/$(basename "$1" .cc).o"
}
export -f compile
failed=
for unit in "$here"/src/*.cc; do
  compile "$unit" &
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || failed=1; done
done
while [ -n "$(jobs -p)" ]; do wait -n 2>/dev/null || { [ $? = 127 ] && break; failed=1; }; done
[ -z "$failed" ] || exit 1
# Handlers of the server keep the plugin's code in use: once loaded it stays.
"${cxx[@]}" -shared -Wl,-z,nodelete -Wl,-z,relro "$objects"/*.o -o "$out"
echo "$out: for the build $build_id"
