#!/bin/bash
# unpack.sh DEST [NAME...]: unpacks the fixtures (all, or those named) to DEST/NAME.
# What is there from the same archive is left alone.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || { sed -n '2,3p' "$0" >&2; exit 1; }
command -v zstd >/dev/null || { echo "unpack.sh: zstd is missing: apt-get install zstd" >&2; exit 1; }
DEST=$1
shift
mkdir -p "$DEST"
if [ $# -eq 0 ]; then
    for archive in "$HERE"/*.tar.zst; do set -- "$@" "$(basename "$archive" .tar.zst)"; done
fi
for name in "$@"; do
    archive=$HERE/$name.tar.zst
    stamp=$(cksum <"$archive")
    [ "$(cat "$DEST/$name/.from" 2>/dev/null || true)" != "$stamp" ] || continue
    new=$(mktemp -d "$DEST/.new-XXXXXX")
    zstd -q -d -c --long=27 "$archive" | tar -x -S -C "$new" --no-same-owner
    # most of these files is free pages: what is zero need not take disk
    find "$new" -type f -size +256k -exec fallocate -d {} \;
    echo "$stamp" >"$new/$name/.from"
    rm -rf "${DEST:?}/$name"
    mv -T "$new/$name" "$DEST/$name"
    rmdir "$new"
done
