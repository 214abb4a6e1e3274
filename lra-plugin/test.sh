#!/usr/bin/env bash
# test.sh LRA_SO [SECONDS]: the plugin's tests; SECONDS (30) is how long the stress goes on.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 1; }
plugin=$(realpath "$1")
cd "$(dirname "$0")/tests"

unit=$(mktemp)
trap 'rm -f "$unit"' EXIT
c++ -std=c++20 -Wall -Wextra -Werror -I../src window_test.cc ../src/window.cc ../src/tuner.cc -o "$unit"
"$unit"
python3 behaviour.py "$plugin"
python3 dumps.py "$plugin"
python3 stress.py "$plugin" "${2:-30}"
