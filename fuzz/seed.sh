#!/usr/bin/env bash
# seed.sh: real definitions and pages out of tests/data as the first inputs of each target, under
# fuzz/corpus (which is not kept). Needs zstd and python3.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p corpus/{page,space_header,frm,sdi,create_table,json,text,undo_record}
for pages in ../tests/data/undo/*.pages; do
  split -b 4096 "$pages" "corpus/undo_record/$(basename "$pages")-"
done
for name in mariadb-10.1.13 mariadb-11.4.5-page4k mysql-8.0.33-page4k mysql-8.0.33; do
  mkdir -p "$work/x"
  zstd -qdc --long=27 "../tests/data/$name.tar.zst" | tar -xC "$work/x"
  python3 - "$work/x" "$name" <<'PY'
import pathlib, sys, zlib
root, name = pathlib.Path(sys.argv[1]), sys.argv[2]
def seed(target, number, data):
    pathlib.Path(f"corpus/{target}/{name}-{number}").write_bytes(data)
for number, path in enumerate(sorted(root.rglob("*.frm"))[:300]):
    if path.stat().st_size < 65536:
        seed("frm", number, path.read_bytes())
for number, path in enumerate(sorted(root.rglob("*.create.sql"))[:300]):
    seed("create_table", number, path.read_bytes())
for number, path in enumerate(sorted(root.rglob("*.ibd"))[:200]):
    data = path.read_bytes()[:4 << 20]
    seed("space_header", number, data[:4096])
    if "page4k" in name:
        for page in range(min(12, len(data) // 4096)):
            seed("page", f"{number}-{page}", data[page * 4096:page * 4096 + 4096])
    if name == "mysql-8.0.33":
        at = data.find(b"\x78\x9c", 3 * 16384)
        while at >= 0:
            try:
                document = zlib.decompressobj().decompress(data[at:at + 16000])
            except zlib.error:
                document = b""
            if b'"dd_object_type": "Table"' in document or b'"dd_object_type":"Table"' in document:
                seed("sdi", number, document)
                break
            at = data.find(b"\x78\x9c", at + 1)
PY
  rm -rf "$work/x"
done
for target in corpus/*; do echo "$target: $(ls "$target" | wc -l) seeds"; done
