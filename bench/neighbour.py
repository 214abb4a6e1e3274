#!/usr/bin/env python3
"""neighbour.py INNOSCAN DIR [ROUNDS [DEVICE...]]

Two tables for each DEVICE (unthrottled, gp3, hdd; the kernel makes the latter two of the disk,
throttle.sh), in Markdown:

  the default   seconds of what a user types first, `innoscan dump FILE --format text -o DIR`, cold, for
                the shuffled table (1.44 GB) and the one with locality (make_shuffled.sh, ORDER=runs),
                beside dd of the same file; medians of ROUNDS (5) and their spread. Nothing is
                remembered of the device before the first round.
  a neighbour   fio in a process of its own on the same device reads 16 KiB at random places of another
                file, O_DIRECT, at a fixed rate of 30 % of the device's requests per second: its mean,
                p99 and p99.9 alone, beside dd, beside mariadb-dump, and beside scans; and the time of
                each scan. What takes longer than SECONDS_MAX (30) is stopped then.

PARTS=default or PARTS=neighbour makes one of the tables; BESIDE='alone,mariadb-dump,dd,scan,scan --nice'
makes these rows of the second only.

Needs root, for the kernel's throttle and for dropping the page cache; fio, and mariadb-server
(tests/servers/install.sh mariadb-10.11).
"""

import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SERVER = [str(HERE.parent / "tests/servers/server.sh"), "mariadb-10.11"]
# The neighbour's reads a second: 30 % of the device's; of the disk itself, what is measured.
RATES = {"gp3": 900, "hdd": 45}
SECONDS_MAX = int(os.environ.get("SECONDS_MAX", "30"))


class Machine:
    def __init__(self, innoscan, directory, rounds):
        self.innoscan = str(pathlib.Path(innoscan).resolve())
        self.dir = pathlib.Path(directory).resolve()
        self.rounds = rounds
        self.work = self.dir / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.other = self.dir / "other"

    def table(self, order):
        at = self.dir / order
        environment = dict(os.environ, ORDER=order)
        subprocess.run([HERE / "make_shuffled.sh", at], check=True, env=environment)
        return at, at / "data/bench/shuffled.ibd"

    def device(self, name):
        """The words before a command that runs on the device."""
        made = subprocess.run([HERE / "throttle.sh", name, self.dir, self.work], check=True,
                              capture_output=True, text=True)
        return made.stdout.split()

    def end(self):
        subprocess.run([HERE / "throttle.sh", "end", self.work], check=True)

    def forget(self):
        shutil.rmtree(self.work / "cache", ignore_errors=True)

    def start(self, command):
        environment = dict(os.environ, XDG_CACHE_HOME=str(self.work / "cache"))
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                env=environment)

    def cold(self):
        shutil.rmtree(self.work / "out", ignore_errors=True)
        subprocess.run(["sync"], check=True)
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")

    def seconds(self, command):
        self.cold()
        begin = time.monotonic()
        run = self.start(command)
        if run.wait() != 0:
            sys.exit(f"failed: {' '.join(map(str, command))}")
        return time.monotonic() - begin

    def beside(self, prefix, rate, command):
        """The neighbour's latencies, and the seconds of the command; `None` if it was stopped."""
        self.cold()
        # From a slow device fio would be loaded so late that it misses the signal that ends it.
        subprocess.run(["fio", "--version"], check=True, stdout=subprocess.DEVNULL)
        report = self.work / "fio.json"
        fio = subprocess.Popen(
            prefix + ["fio", "--name=n", f"--filename={self.other}", "--rw=randread", "--bs=16k",
                      "--direct=1", "--ioengine=libaio", "--iodepth=32", f"--rate_iops={rate}",
                      "--rate_process=poisson", "--time_based", "--runtime=3600",
                      "--output-format=json", f"--output={report}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begin = time.monotonic()
        run = self.start(command) if command else None
        seconds = None
        try:
            if run is None:
                fio.wait(20)
            elif run.wait(SECONDS_MAX) == 0:
                seconds = time.monotonic() - begin
            else:
                sys.exit(f"failed: {' '.join(map(str, command))}")
        except subprocess.TimeoutExpired:
            pass
        if run and seconds is None:
            run.kill()
            run.wait()
        fio.send_signal(signal.SIGINT)
        fio.wait()
        text = report.read_text()
        read = json.loads(text[text.index("{"):])["jobs"][0]["read"]
        latency = read["clat_ns"]
        share = lambda name: latency["percentile"][name] / 1e6
        return (read["iops"], latency["mean"] / 1e6, share("99.000000"), share("99.900000")), seconds


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def the_default(machine, device, tables):
    prefix = machine.device(device)
    for order, (_, ibd) in tables.items():
        machine.forget()
        dump = [machine.innoscan, "dump", ibd, "--format", "text", "-o", machine.work / "out"]
        runs = {"dd": ["dd", f"if={ibd}", "of=/dev/null", "bs=1M", "iflag=direct"], "dump": dump}
        seconds = {name: [] for name in runs}
        for _ in range(machine.rounds):
            for name, command in runs.items():
                seconds[name].append(machine.seconds(prefix + [str(word) for word in command]))
        times = statistics.median(seconds["dump"]) / statistics.median(seconds["dd"])
        print(f"| {device} | {order} | {spread(seconds['dd'])} | {spread(seconds['dump'])} "
              f"| {times:.2f} |", flush=True)
    machine.end()


def a_neighbour(machine, device, at, ibd):
    prefix = machine.device(device)
    rate = RATES.get(device) or whole_rate(machine) * 3 // 10
    scan = [machine.innoscan, "scan", str(ibd), "--quiet"]
    wanted = os.environ.get("BESIDE", "").split(",")

    def measure(name, command):
        if wanted == [""] or name in wanted:
            row(machine, device, name, prefix, rate, command)

    measure("alone", None)
    subprocess.run(SERVER + ["start", at, "--innodb-buffer-pool-size=512M",
                             "--innodb-flush-method=O_DIRECT"], check=True,
                   stdout=subprocess.DEVNULL, env=dict(os.environ, LAUNCH=" ".join(prefix)))
    socket = subprocess.run(SERVER + ["socket", at], check=True, capture_output=True, text=True)
    client = ["mariadb-dump", "--no-defaults", "-uroot", "-S", socket.stdout.strip(), "bench",
              "shuffled"]
    measure("mariadb-dump", client)
    subprocess.run(SERVER + ["stop", at], check=True)
    measure("dd", prefix + ["dd", f"if={ibd}", "of=/dev/null", "bs=1M", "iflag=direct"])
    measure("scan", prefix + scan)
    measure("scan --nice", prefix + scan + ["--nice"])
    for policy in ["none", "linear", "random", "physical", "logical", "segment"]:
        measure(f"scan, {policy}", prefix + scan + ["--read-ahead", policy])
    measure("scan --order any", prefix + scan + ["--order", "any"])
    machine.end()


def row(machine, device, name, prefix, rate, command):
    machine.forget()
    results = [machine.beside(prefix, rate, command) for _ in range(machine.rounds)]
    column = lambda at: statistics.median(latency[at] for latency, _ in results)
    seconds = [seconds for _, seconds in results if seconds is not None]
    took = spread(seconds) if seconds else ("" if command is None else "stopped")
    print(f"| {device} | {name} | {column(0):.0f} | {column(1):.2f} | {column(2):.1f} "
          f"| {column(3):.1f} | {took} |", flush=True)


def whole_rate(machine):
    """The reads of 16 KiB that the disk itself completes a second, 32 at a time."""
    fio = subprocess.run(
        ["fio", "--name=n", f"--filename={machine.other}", "--rw=randread", "--bs=16k", "--direct=1",
         "--ioengine=libaio", "--iodepth=32", "--time_based", "--runtime=5", "--output-format=json"],
        check=True, capture_output=True, text=True)
    return int(json.loads(fio.stdout[fio.stdout.index("{"):])["jobs"][0]["read"]["iops"])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    machine = Machine(sys.argv[1], sys.argv[2], rounds)
    devices = sys.argv[4:] or ["unthrottled", "gp3", "hdd"]
    parts = os.environ.get("PARTS", "default neighbour").split()
    tables = {order: machine.table(order) for order in ["even", "runs"]}
    if not machine.other.exists():
        subprocess.run(["dd", "if=/dev/urandom", f"of={machine.other}", "bs=1M", "count=2048"],
                       check=True, stderr=subprocess.DEVNULL)
    if "default" in parts:
        print("| device | table | dd, s | `dump FILE --format text -o DIR`, s | times dd |")
        print("|---|---|---:|---:|---:|")
        for device in devices:
            the_default(machine, device, tables)
    if "neighbour" in parts:
        print("\n| device | beside | reads/s | mean ms | p99 | p99.9 | seconds of the scan |")
        print("|---|---|---:|---:|---:|---:|---:|")
        for device in devices:
            a_neighbour(machine, device, *tables["even"])


main()
