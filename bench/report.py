#!/usr/bin/env python3
"""report.py DIR OUT: what compare.py measured in DIR, as OUT/README.md and pictures (gnuplot)."""

import json
import pathlib
import subprocess
import sys

DEVICES = {
    "unthrottled": "the disk as it is",
    "gp3": "gp3: 3000 requests and 125 MiB a second",
    "hdd": "hdd: 150 requests and 150 MiB a second",
}
WAYS = {
    "dd": ("dd, the file in order, best of 3", "dd"),
    "mariadb-dump": ("mariadb-dump", "mariadb-dump"),
    "mydumper": ("mydumper -t 2, into files", "mydumper"),
    "none": ("scan, no read-ahead", "none"),
    "linear": ("scan, linear", "linear"),
    "random": ("scan, random", "random"),
    "physical": ("scan, physical", "physical"),
    "logical": ("scan, logical, window of 512 MiB", "logical"),
    "segment": ("scan, segment, rows in any order", "segment"),
    "sorted": ("scan, segment, in key order, 512 MiB", "segment, sorted"),
    "auto": ("scan, auto", "auto"),
    "dump": ("text dump, logical", "text dump"),
    "dump-sorted": ("text dump into files, segment in key order, 512 MiB", "dump, sorted"),
}
LARGE = {"ten": ("10 GB", 655.00, 75.20), "fifty": ("50 GB", 3164.42, 396.98)}
LARGE_WAYS = {
    "none": "no read-ahead",
    "logical": "logical, window of 680 MiB",
    "sorted": "segment, in key order",
    "segment": "segment, rows in any order",
}
COLOURS = {"theirs": "#b0b0b0", "server": "#e0a458", "field": "#8fb8de", "ours": "#2a6f97"}


class Results:
    def __init__(self, directory):
        self.dir = pathlib.Path(directory) / "results"

    def get(self, name):
        path = self.dir / f"{name}.json"
        return json.loads(path.read_text()) if path.exists() else None

    def seconds(self, name):
        result = self.get(name)
        return result and result["seconds"]


def kind(way):
    if way == "dd":
        return "theirs"
    if way.startswith("m"):
        return "server"
    return "field" if way in ("none", "linear", "random", "physical") else "ours"


def table(head, rows):
    """A table in Markdown; the first column is text."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def times(theirs, ours):
    return f"{theirs / ours:.1f}x" if theirs and ours else ""


def device_section(results, device):
    dump, dd = (results.seconds(f"{device}-{way}") for way in ("mariadb-dump", "dd"))
    rows = []
    for way, (name, _) in WAYS.items():
        result = results.get(f"{device}-{way}")
        if not result:
            continue
        seconds = result["seconds"]
        stats = result.get("stats") or {}
        name += f" ({stats['read_ahead']})" if way == "auto" else ""
        peak = result.get("peak_kib") if "innoscan" in result["command"] else None
        rows.append([name, f"{seconds:.2f}", times(dump, seconds), f"{seconds / dd:.2f}" if dd else "",
                     f"{peak / 1024:.0f}" if peak else ""])
    head = ["", "seconds", "against mariadb-dump", "times dd", "MiB of memory"]
    return f"### {DEVICES[device]}\n\n" + table(head, rows)


def told_section(results):
    rows = []
    for device in ("gp3", "hdd"):
        for way in ("none", "linear", "random", "physical", "logical", "segment", "sorted", "auto"):
            result = results.get(f"{device}-{way}")
            stats = result and result.get("stats")
            if not stats or not stats.get("estimate"):
                continue
            told = stats["estimate"]
            made = stats["sync"]["requests"] + stats["async"]["requests"]
            read = stats["sync"]["read_bytes"] + stats["async"]["read_bytes"]
            rows.append([f"{device}, {WAYS[way][1]}", f"{told['requests']}", f"{made}",
                         f"{told['read_bytes'] / 2**20:.1f}", f"{read / 2**20:.1f}",
                         f"{told['device_seconds']:.2f}", f"{stats['seconds']:.2f}"])
    head = ["", "requests estimated", "made", "MiB estimated", "read", "seconds estimated", "taken"]
    return table(head, rows)


def none_seconds(results, name):
    """Seconds page by page: measured, otherwise estimated."""
    explained = results.get(f"{name}-explain")
    if results.get(f"{name}-none") or not explained:
        return results.seconds(f"{name}-none")
    [costs] = [device["costs"] for device in explained["out"]["devices"]]
    return next(cost["device_seconds"] for cost in costs if cost["policy"] == "none")


def large_section(results):
    rows = []
    for name, (size, without, with_lra) in LARGE.items():
        none = none_seconds(results, name)
        if not none:
            continue
        rows.append([f"{size}, published 2013: without", f"{without:.0f}", "", ""])
        rows.append([f"{size}, published 2013: with", f"{with_lra:.0f}", times(without, with_lra), ""])
        if not results.get(f"{name}-none"):
            rows.append([f"{size}, no read-ahead, estimated", f"{none:.0f}", "", ""])
        for way, text in LARGE_WAYS.items():
            result = results.get(f"{name}-{way}")
            if result:
                peak = result.get("peak_kib")
                rows.append([f"{size}, {text}", f"{result['seconds']:.0f}",
                             "" if way == "none" else times(none, result["seconds"]),
                             f"{peak / 1024:.0f}" if peak else ""])
    return table(["", "seconds", "against none", "MiB of memory"], rows)


def beside_rows(results):
    for name in ("beside-unthrottled", "beside-gp3", "beside-gp3-max-rate", "beside-gp3-max-iops",
                 "beside-gp3-lra-sleep", "beside-gp3-depth"):
        result = results.get(name)
        for row in (result or {"out": {"rows": []}})["out"]["rows"]:
            if row["name"] != "(no scan)" or name in ("beside-unthrottled", "beside-gp3"):
                yield name.removeprefix("beside-"), row


def beside_section(results):
    rows = []
    for name, row in beside_rows(results):
        useful = "" if row["useful_share"] is None else f"{100 * row['useful_share']:.0f}"
        scan = "" if row["name"] == "(no scan)" else f"{row['seconds']:.2f}"
        rows.append([f"{name}: {row['name']}", scan, f"{row['demand_requests'] + row['ahead_requests']}",
                     useful, f"{row['foreground_requests']}", f"{row['foreground_ms']:.2f}",
                     f"{row['lookups']}", f"{row['mean_ms']:.2f}", f"{row['p50_ms']:.2f}",
                     f"{row['p99_ms']:.1f}", f"{row['max_ms']:.0f}"])
    head = ["", "scan s", "its requests", "useful %", "sync reads of lookups", "ms each", "lookups",
            "mean ms", "p50", "p99", "max"]
    return table(head, rows)


def plot(out, commands):
    script = f'set terminal svg size 960,420 font "sans,13" background "white"\nset output "{out}"\n'
    subprocess.run(["gnuplot"], input=script + commands, text=True, check=True)


BARS = """
set style fill solid 1.0 noborder
set grid xtics lc rgb "#dddddd"
set border 1
set tics nomirror
set ytics scale 0
set lmargin 30
set rmargin 8
unset key
"""


def shown(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def bars(title, unit, values, log=True):
    """Bars from (name, value, colour), each with its number behind it."""
    least = min(value for _, value, _ in values) / 3 if log else 0
    data = "\n".join(f'{at} {value} {int(colour[1:], 16)} "{name}" "{shown(value)}"'
                     for at, (name, value, colour) in enumerate(values))
    scale = "set logscale x\n" if log else ""
    return (f"{BARS}{scale}set xrange [{least}:*]\nset yrange [{len(values) - 0.4}:-0.6]\n"
            f"set title \"{title}\"\nset xlabel \"{unit}\"\n$d << E\n{data}\nE\n"
            f"plot $d using 2:1:({least}):2:($1-0.36):($1+0.36):3:ytic(4) with boxxy "
            "lc rgb variable, $d using 2:1:5 with labels left offset 0.5,0\n")


def pictures(results, out):
    for device, title in DEVICES.items():
        values = [(short, results.seconds(f"{device}-{way}"), COLOURS[kind(way)])
                  for way, (_, short) in WAYS.items() if results.seconds(f"{device}-{way}")]
        if values:
            plot(out / f"{device}.svg", bars(f"1.44 GB, shuffled; {title}", "seconds", values))
    for name, (size, without, with_lra) in LARGE.items():
        none = none_seconds(results, name)
        if not none:
            continue
        values = [("published, 2013", without / with_lra, COLOURS["theirs"])]
        values += [(text, none / results.seconds(f"{name}-{way}"), COLOURS["ours"])
                   for way, text in LARGE_WAYS.items()
                   if way != "none" and results.seconds(f"{name}-{way}")]
        title = f"{size} on a disk: times as fast as page by page"
        plot(out / f"{name}.svg", bars(title, "times", values, log=False))
    values = [(f"{name}: {row['name']}".replace("gp3-", ""), row["p99_ms"], COLOURS["field"])
              for name, row in beside_rows(results) if name.startswith("gp3")]
    if values:
        title = "gp3, 500 lookups a second beside a scan: p99"
        plot(out / "beside.svg", bars(title, "milliseconds", values))


def picture(out, name, text):
    return f"![{text}]({name}.svg)\n\n" if (out / f"{name}.svg").exists() else ""


def commands(results):
    lines = []
    for path in sorted(results.dir.glob("*.json")):
        result = json.loads(path.read_text())
        if "command" in result:
            lines.append(f"{path.stem} ({result['date']}, {result['device']}): {result['command']}")
    return "\n".join(lines)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results, out = Results(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    pictures(results, out)
    machine = results.get("machine")
    text = f"""# What was measured

By `bench/compare.py`, drawn by `bench/report.py` (`make bench-docs`); this page is what they wrote.
Machine: {machine['cores']} cores of {machine['model']}, {machine['memory_gib']} GiB, kernel {machine['kernel']},
a virtual machine. Each command but dd was run once, with an empty page cache and reading around it.

## Every policy, and what others take

6 million rows in shuffled order, 1.44 GB, 85,376 leaves of which no two neighbours lie together. The
devices are made of the machine's own by the kernel's blkio throttle, which counts requests and bytes
and knows of no seeks. `mariadb-dump` and `mydumper` read through a MariaDB 10.11 that has just begun,
with 512 MiB of buffer pool. Grey is the file alone, orange the server's clients, light blue the
policies of servers and of `buf_warmup`, dark blue ours.

"""
    for device in DEVICES:
        text += device_section(results, device) + "\n" + picture(out, device, DEVICES[device])
    text += f"""## Estimates and measurements

`explain`'s estimates of the same scans, from the branch pages, before a leaf was read.

{told_section(results)}
## The table of 2013

Full scans of two production tables on hard disks, without and with Facebook's logical read-ahead, as
published; and innoscan on an emulated `hdd` with `--memory 1G`: of a table of 10 GB in random order,
which no production table is, and one of 50 GB that was loaded in four rounds of ascending keys.

{large_section(results)}
{picture(out, "ten", "10 GB")}{picture(out, "fifty", "50 GB")}## Beside lookups

`innoscan bench --foreground=8`: lookups by primary key on the same pool and device while the table is
scanned; on `gp3`, emulated, 500 a second, otherwise back to back. The scan's own limits are named
after the device.

{beside_section(results)}
{picture(out, "beside", "lookups beside a scan")}## Commands

```
{commands(results)}
```
"""
    (out / "README.md").write_text(text)


if __name__ == "__main__":
    main()
