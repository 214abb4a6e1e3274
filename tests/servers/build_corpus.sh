#!/bin/bash
# build_corpus.sh [--only PATTERN] [--torture DIR] [--small] [--upgrade CORPUS] VERSION [VARIANT] OUT
#
# Makes a corpus: a real server loads the torture schema (../torture), says
# what every table holds, and is shut down cleanly.  See build_corpus.py.
command -v python3 >/dev/null || { echo "build_corpus.sh: python3 is missing: apt-get install python3" >&2; exit 1; }
exec python3 "$(dirname "$0")/build_corpus.py" "$@"
