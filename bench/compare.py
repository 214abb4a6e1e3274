#!/usr/bin/env python3
"""compare.py INNOSCAN DIR [STAGE...]: measures what docs/bench shows; bench/report.py draws it.

Stages:
  devices   the 1.44 GB table of make_shuffled.sh on three devices that the kernel makes of this one
            (throttle.sh): dd, mariadb-dump, mydumper, and innoscan with every policy (an hour)
  beside    point lookups on the same pool and device while that table is scanned (10 minutes)
  ten       a table of 10 GB in random order, on a disk that innoscan emulates, with 1 GB of memory:
            the table of 2013 again (100 minutes, and 10 to make it)
  fifty     the same with 50 GB, made in four rounds of ascending keys (8 hours, 20 minutes to make it,
            and 60 GB of disk); not among the default

Each measurement becomes a file of DIR/results with its command, and is not made again while that is
there. Needs root, for the kernel's throttle and for dropping the page cache.
"""

import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SERVER = [str(HERE.parent / "tests/servers/server.sh"), "mariadb-10.11"]
DEVICES = ["unthrottled", "gp3", "hdd"]
POLICIES = ["none", "linear", "random", "physical", "logical", "segment"]


class Bench:
    def __init__(self, innoscan, directory):
        self.innoscan = str(pathlib.Path(innoscan).resolve())
        self.dir = pathlib.Path(directory).resolve()
        self.results = self.dir / "results"
        self.results.mkdir(parents=True, exist_ok=True)
        self.work = self.dir / "work"

    def table(self, name, rows, order, body_bytes=0):
        """Makes a table if it is not there; its file."""
        at = self.dir / name
        environment = dict(os.environ, ORDER=order, BODY_BYTES=str(body_bytes),
                           BUFFER_POOL="6G" if name == "shuffled" else "13G")
        subprocess.run([HERE / "make_shuffled.sh", at, str(rows)], check=True, env=environment)
        return at, at / "data/bench/shuffled.ibd"

    def least(self, name, command, device):
        """The best of three: where the kernel cuts a request in two, the throttle counts two."""
        for round_ in range(3):
            self.measure(f"{name}-{round_}", command, device)
        rounds = [self.result(f"{name}-{round_}") for round_ in range(3)]
        best = min(rounds, key=lambda path: json.loads(path.read_text())["seconds"])
        self.result(name).write_text(best.read_text())

    def measure(self, name, command, device="unthrottled"):
        """Runs a command once, cold, unless its result is there."""
        if self.is_there(name):
            return
        launch = self.cold(device)
        print(f"{name}: {shorten(command)}", flush=True)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            began = time.monotonic()
            # Rows go nowhere.
            stdout = out if "--json" in command else subprocess.DEVNULL
            run = subprocess.Popen([*launch, *command], stdout=stdout, stderr=err, cwd=self.work)
            _, status, usage = os.wait4(run.pid, 0)
            seconds = time.monotonic() - began
            texts = [text.seek(0) or text.read() for text in (out, err)]
        if status != 0:
            sys.exit(f"{name}: {texts[1].decode(errors='replace')}")
        told = {"peak_kib": usage.ru_maxrss, "out": last_json(texts[0]), "stats": last_json(texts[1])}
        self.keep(name, shorten(command), device, seconds, told)

    def keep(self, name, shown, device, seconds, more):
        told = {
            "command": shown,
            "device": device,
            "date": datetime.date.today().isoformat(),
            "seconds": seconds,
            **more,
        }
        self.result(name).write_text(json.dumps(told, indent=1) + "\n")
        print(f"  {seconds:.2f} s", flush=True)

    def measure_server(self, name, at, device, client):
        """Runs a client of a server that has just begun, on that device, with little memory."""
        if self.is_there(name):
            return
        launch = self.cold(device)
        environment = dict(os.environ, LAUNCH=" ".join(launch))
        subprocess.run([*SERVER, "start", at, "--innodb-buffer-pool-size=512M",
                        "--innodb-flush-method=O_DIRECT", "--innodb-buffer-pool-load-at-startup=OFF"],
                       check=True, env=environment, stdout=subprocess.DEVNULL)
        try:
            socket = subprocess.run([*SERVER, "socket", at], check=True, capture_output=True,
                                    text=True).stdout.strip()
            command = [word.replace("SOCKET", socket) for word in client]
            shown = " ".join(client)
            print(f"{name}: {shown}", flush=True)
            began = time.monotonic()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.work,
                           stderr=subprocess.DEVNULL)
            seconds = time.monotonic() - began
            self.keep(name, shown, device, seconds, {})
        finally:
            subprocess.run([*SERVER, "stop", at], check=True)

    def result(self, name):
        return self.results / f"{name}.json"

    def is_there(self, name):
        return self.result(name).exists()

    def cold(self, device):
        """Forgets what was read before; what to put before a command for that device."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        subprocess.run(["sync"], check=True)
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
        throttle = HERE / "throttle.sh"
        subprocess.run([throttle, "end", self.work], check=True)
        told = subprocess.run([throttle, device, self.dir, self.work], check=True,
                              capture_output=True, text=True)
        return told.stdout.split()

    def devices(self):
        at, table = self.table("shuffled", 6_000_000, "even")
        for device in DEVICES:
            flags = ["--quiet", "--direct", "required"]
            if device != "unthrottled":
                flags += ["--device", device]
            scan = [self.innoscan, "scan", table, "--json", "--stats=json", *flags]
            dump = [self.innoscan, "dump", table, *flags]
            self.least(f"{device}-dd", ["dd", f"if={table}", "of=/dev/null", "bs=1M",
                                        "iflag=direct"], device)
            for policy in POLICIES:
                order = ["--order", "any"] if policy == "segment" else []
                self.measure(f"{device}-{policy}", [*scan, "--read-ahead", policy, *order], device)
            self.measure(f"{device}-sorted", [*scan, "--read-ahead", "segment", "--memory", "512M"],
                         device)
            self.measure(f"{device}-auto", [*scan, "--read-ahead", "auto", "--tmpdir", "."], device)
            self.measure(f"{device}-dump", [*dump, "--format", "text"], device)
            self.measure(f"{device}-dump-sorted",
                         [*dump, "--format", "text", "--read-ahead", "segment", "--memory", "512M",
                          "-F", "64M", "-o", "out"], device)
            self.measure_server(f"{device}-mariadb-dump", at, device,
                                ["mariadb-dump", "--no-defaults", "-uroot", "-S", "SOCKET", "bench",
                                 "shuffled"])
            self.measure_server(f"{device}-mydumper", at, device,
                                ["mydumper", "-u", "root", "-S", "SOCKET", "-B", "bench", "-T",
                                 "shuffled", "-t", "2", "-o", "mydumper"])

    def beside(self):
        _, table = self.table("shuffled", 6_000_000, "even")
        bench = [self.innoscan, "bench", table, "--json", "--foreground=8"]
        gp3 = ["--device", "gp3", "--emulate", "--lookup-rate", "500"]
        all_of_them = ["--policies", "none,linear,logical,segment"]
        self.measure("beside-gp3", [*bench, *gp3, *all_of_them])
        for name, more in [
            ("max-rate", ["--max-rate", "60M"]),
            ("max-iops", ["--max-iops", "1000"]),
            ("lra-sleep", ["--lra-size", "64M", "--lra-sleep", "500ms"]),
            ("depth", ["--depth", "10"]),
        ]:
            self.measure(f"beside-gp3-{name}", [*bench, *gp3, "--policies", "logical", *more])
        self.measure("beside-unthrottled", [*bench, *all_of_them])

    def large(self, name, *made):
        _, table = self.table(name, *made)
        read = ["--direct", "required", "--device", "hdd", "--memory", "1G"]
        window = ["--lra-size", "680M"]
        self.measure(f"{name}-explain", [self.innoscan, "explain", table, "--json", *read, *window])
        scan = [self.innoscan, "scan", table, "--json", "--stats=json", "--quiet", "--emulate", *read]
        for policy, more in [
            ("segment", [*window, "--read-ahead", "segment", "--order", "any"]),
            ("sorted", [*window, "--read-ahead", "segment", "--tmpdir", "."]),
            ("logical", [*window, "--read-ahead", "logical"]),
            ("none", ["--read-ahead", "none"]),
        ]:
            self.measure(f"{name}-{policy}", [*scan, *more])

    def ten(self):
        self.large("ten", 42_000_000, "random")

    def fifty(self):
        self.large("fifty", 5_800_000, "rounds", 3700)


def shorten(command):
    """The command without the directories of this machine."""
    return " ".join(re.sub(r"^((?:if=)?)/.*/", r"\1", str(word)) for word in command)


def last_json(text):
    lines = text.decode(errors="replace").strip().splitlines()
    if not lines or not lines[-1].startswith("{"):
        return None
    return json.loads(lines[-1])


def machine():
    model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    memory = re.search(r"^MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text(), re.M)
    return {
        "cores": os.cpu_count(),
        "model": model.group(1) if model else os.uname().machine,
        "memory_gib": round(int(memory.group(1)) / 2**20),
        "kernel": os.uname().release,
    }


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    bench = Bench(sys.argv[1], sys.argv[2])
    (bench.results / "machine.json").write_text(json.dumps(machine()) + "\n")
    for stage in sys.argv[3:] or ["devices", "beside", "ten"]:
        if stage not in ("devices", "beside", "ten", "fifty"):
            sys.exit(f"compare.py: no stage {stage}")
        getattr(bench, stage)()


if __name__ == "__main__":
    main()
