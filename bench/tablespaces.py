#!/usr/bin/env python3
"""tablespaces.py INNOSCAN DIR [FILES]

What looking at FILES (1,000,000) tablespaces costs, in each way. They are made once in DIR/tables: the
first 32 KiB of a real one each, with tablespace ids of their own, in 1000 schemas. Each way reads them
cold; sectors and requests are the kernel's counters of the device. Then full-page and batched once
more with no read over before 1 ms. Printed for each way:

  seconds   walk, read, compare
  KB/file   read from the device while heads were read
  reads     requests to the device for each file
  ratio     how many times faster than full-page in the same run

Needs root (to drop the page cache) and 34 KB of disk for each file. Run nothing beside it.
"""

import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REAL = os.path.join(HERE, "../tests/data/mysql-8.0.33/tree-4k/tree.ibd")
SCHEMAS = 1000
BYTES = 32 << 10
WAYS = ["full-page", "fadvise", "light", "direct", "batched"]


def make(directory, files):
    done = os.path.join(directory, "made")
    if os.path.exists(done) and open(done).read() == str(files):
        return
    with open(REAL, "rb") as real:
        page = bytearray(real.read(BYTES))
    begun = time.time()
    for schema in range(SCHEMAS):
        path = os.path.join(directory, f"s{schema:04}")
        os.makedirs(path, exist_ok=True)
        for number in range(schema, files, SCHEMAS):
            space = (number + 10).to_bytes(4, "big")
            page[34:38] = page[38:42] = space
            with open(os.path.join(path, f"table_{number}.ibd"), "wb") as file:
                file.write(page)
    os.sync()
    with open(done, "w") as file:
        file.write(str(files))
    print(f"made {files} files in {time.time() - begun:.0f} s", flush=True)


def counters(directory):
    """Requests and sectors read of the device a directory is on."""
    device = os.stat(directory).st_dev
    path = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat"
    fields = open(path).read().split()
    return int(fields[0]), int(fields[2])


def drop_caches():
    subprocess.run("sync; echo 3 > /proc/sys/vm/drop_caches", shell=True, check=True)


def whole_s(told):
    """How long a look took, by what it told as JSON."""
    return told["walk_s"] + told["read_s"] + told["compare_s"]


def run(innoscan, directory, way, *more):
    drop_caches()
    reads, sectors = counters(directory)
    words = ["/usr/bin/time", "-f", "%M", innoscan, "tablespaces", directory, "--read", way, "--json", "--quiet"]
    done = subprocess.run([*words, *more], check=True, capture_output=True, text=True)
    reads_after, sectors_after = counters(directory)
    told = json.loads(done.stdout)
    files = told["tables"]
    told["kb"] = (sectors_after - sectors) * 512 / 1000 / files
    told["requests"] = (reads_after - reads) / files
    told["rss_kb"] = int(done.stderr.split()[-1])
    told["seconds"] = whole_s(told)
    return told


def table(title, rows):
    print(title)
    print(f"{'way':<12}{'seconds':>9}{'walk':>8}{'read':>8}{'compare':>9}{'KB/file':>9}{'reads':>7}"
          f"{'ratio':>7}{'MB of memory':>14}")
    first = rows[0][1]
    for way, told in rows:
        print(f"{way:<12}{told['seconds']:>9.2f}{told['walk_s']:>8.2f}{told['read_s']:>8.2f}"
              f"{told['compare_s']:>9.2f}{told['kb']:>9.1f}{told['requests']:>7.2f}"
              f"{first['read_s'] / told['read_s']:>6.1f}x{told['rss_kb'] / 1000:>14.0f}", flush=True)


def main():
    innoscan, directory = os.path.abspath(sys.argv[1]), os.path.join(sys.argv[2], "tables")
    files = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
    os.makedirs(directory, exist_ok=True)
    make(directory, files)
    table(f"{files} files, cold", [(way, run(innoscan, directory, way)) for way in WAYS])
    slow = [(way, run(innoscan, directory, way, "--latency", "1ms")) for way in ("full-page", "batched")]
    table("no read over before 1 ms", slow)


if __name__ == "__main__":
    main()
