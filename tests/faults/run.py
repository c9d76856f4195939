#!/usr/bin/env python3
# tests/faults/run.py -- each verb under each failing call, one at a time.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/faults/run.py BUILD [--sample N] [--seed S] [--verbs A,B]
#            [--kinds malloc,write] [--jobs J]
# BUILD/culprit and BUILD/tests/faults.so are what is run. A verb is run once
# with no fault, which tells how many calls of each kind it makes and what is
# right, and then again for each of them, or for N drawn ones of each kind. Each
# time it has to end by itself, with the right answer and exit code 0, or with a
# message. A file under its final name is whole, and no other is
# left.

import argparse
import concurrent.futures
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

KINDS = ["malloc", "read", "write", "fsync", "rename", "fork", "pipe", "open"]
TIMEOUT_S = 120

SPEC = """\
figure: faulty
seed: 1
topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2}
traffic: {conns: 5, packets: 20}
faults: {kind: drop, count: 1, rate: 0.1}
algorithms: [vote, cover]
sweep: {grid: {faults.rate: [0.1, 0.5]}}
runs: 2
claims:
  - {metric: accuracy_fault, text: as if, value: 0.9, confirmed: false}
"""

PINGS = """\
figure: pings
plane: pingmesh
topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2}
algorithms: [blackhole]
pingmesh: {duration: 300, window: 100}
"""

CLOS = ["-s", "n_pods=2", "-s", "n_tors=2", "-s", "n_t1=2", "-s", "n_t2=2",
        "-s", "n_hosts=2"]

# Each verb's command; what it needs is made before, by the commands of SETUP.
SETUP = [
    ["run", "spec.yaml", "-q", "-o", "done.h5"],
    ["run", "spec.yaml", "-q", "--shard", "1/2", "-o", "s1.h5"],
    ["run", "spec.yaml", "-q", "--shard", "2/2", "-o", "s2.h5"],
    ["dump", "spec.yaml", "-o", "epoch.h5"],
    ["topo", *CLOS, "--graphml", "net.graphml"],
    ["record", "pings.yaml", "-o", "pings.h5"],
]
VERBS = {
    "run": ["run", "spec.yaml", "-q", "-j", "1", "-o", "out.h5"],
    "run -j 2": ["run", "spec.yaml", "-q", "-j", "2", "-o", "out.h5"],
    "run again": ["run", "spec.yaml", "-q", "-j", "1", "-o", "done.h5"],
    "status": ["status", "done.h5"],
    "table": ["table", "done.h5"],
    "table json": ["table", "--json", "done.h5"],
    "plot": ["plot", "-o", ".", "done.h5"],
    "merge": ["merge", "-o", "out.h5", "s1.h5", "s2.h5"],
    "dump": ["dump", "spec.yaml", "-o", "out.h5"],
    "diagnose": ["diagnose", "epoch.h5"],
    "record": ["record", "pings.yaml", "-o", "out.h5"],
    "jobs": ["jobs", "pings.h5", "--window", "5m", "-q", "-o", "out.h5"],
    "explain": ["explain", "spec.yaml"],
    "report": ["report", "done.h5", "-o", "out.html"],
    "topo": ["topo", "net.graphml"],
    "topo check": ["topo", "--check", *CLOS],
    "pinglist": ["pinglist", *CLOS, "-n", "0"],
    "latency": ["latency", "--runs", "100"],
    "bounds": ["bounds"],
    "algos": ["algos"],
    "metrics": ["metrics"],
    "spec": ["spec"],
}


class World:
    """A folder with what verbs read, and how they are run."""

    def __init__(self, build, folder):
        self.culprit = os.path.abspath(os.path.join(build, "culprit"))
        self.faults = os.path.abspath(os.path.join(build, "tests/faults.so"))
        self.given = os.path.join(folder, "given")
        self.folder = folder
        os.mkdir(self.given)
        with open(os.path.join(self.given, "spec.yaml"), "w") as f:
            f.write(SPEC)
        with open(os.path.join(self.given, "pings.yaml"), "w") as f:
            f.write(PINGS)
        for words in SETUP:
            done = subprocess.run([self.culprit, *words], cwd=self.given,
                                  capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"faults: {words}: {done.stderr}")

    def run(self, words, kind, at):
        """Run WORDS with the ATth call of KIND failing: what came of it."""
        where = tempfile.mkdtemp(dir=self.folder)
        count = where + ".count"
        try:
            shutil.copytree(self.given, where, dirs_exist_ok=True)
            with open(count, "wb") as f:
                f.write(bytes(8 * len(KINDS)))
            env = dict(os.environ, LD_PRELOAD=self.faults, FAULT=kind,
                       FAULT_AT=str(at), FAULT_COUNT=count, TERM="dumb",
                       XDG_CACHE_HOME=where + "/cache")
            try:
                done = subprocess.run([self.culprit, *words], cwd=where,
                                      env=env, capture_output=True,
                                      timeout=TIMEOUT_S)
                result = (done.returncode, done.stdout, done.stderr)
            except subprocess.TimeoutExpired:
                result = (None, b"", b"")
            with open(count, "rb") as f:
                calls = dict(zip(KINDS, struct.unpack(
                    f"<{len(KINDS)}Q", f.read())))
            return calls, *result, contents(where, self.given), \
                self.part_of_sweep(where)
        finally:
            shutil.rmtree(where, ignore_errors=True)
            if os.path.exists(count):
                os.unlink(count)


    def part_of_sweep(self, where):
        """Is out.h5 a sweep's results, which say how far it is?"""
        done = subprocess.run([self.culprit, "status", "out.h5"], cwd=where,
                              capture_output=True)
        return b" cells done" in done.stdout


def contents(where, given):
    """What was made or changed, but for run records, which hold times."""
    made = {}
    for root, _, files in os.walk(where):
        for name in files:
            path = os.path.join(root, name)
            rel = os.path.relpath(path, where)
            with open(path, "rb") as f:
                now = f.read()
            was = os.path.join(given, rel)
            if os.path.exists(was) and open(was, "rb").read() == now:
                continue
            made[rel] = now
    return made


def same_h5(a, b):
    """Same values? HDF5 leaves a chunk unpacked that it has no memory to
    pack."""
    if a == b:
        return True
    with tempfile.TemporaryDirectory(prefix="culprit-faults-") as folder:
        for name, bytes_ in (("a", a), ("b", b)):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(bytes_)
        return subprocess.run(["h5diff", "-q", "a", "b"], cwd=folder,
                              capture_output=True).returncode == 0


def judge(right, got):
    """What is wrong with a run, or None."""
    _, code, out, err, made, part_of_sweep = got
    told = set(err.splitlines()) > set(right[3].splitlines())
    if code is None:
        return "hangs"
    if code < 0 or code > 125:
        return f"dies of {-code if code < 0 else code}"
    if code == 0 and told:
        return None
    if code == 0 and out != right[2]:
        return "is silent, and its answer is wrong"
    if code != 0 and not err.strip():
        return f"says nothing, and exits with {code}"
    for name, now in made.items():
        want = right[4].get(name)
        if re.search(r"\.(run\.json|journal|pdf|png|log)$", name):
            continue
        if ".tmp." in name:
            return f"leaves {name}"
        if want is None and code == 0:
            return f"is silent, and leaves {name}"
        if name == "out.h5" and code != 0 and part_of_sweep:
            continue
        if name.endswith(".h5") and want is not None and same_h5(now, want):
            continue
        if want is not None and now != want:
            return f"leaves another {name}, and exits with {code}"
    if code == 0:
        for name in right[4]:
            if name not in made and not name.endswith(".json"):
                return f"is silent, and makes no {name}"
    return None


def try_verb(world, words, kind, right, args, pool, draw):
    """Fail each call of KIND, or a sample: how many, and what is wrong."""
    places = list(range(1, right[0][kind] + 1))
    if args.sample and len(places) > args.sample:
        places = sorted(draw.sample(places, args.sample))
    wrong = {}
    fine = refused = 0
    jobs = {pool.submit(world.run, words, kind, at): at for at in places}
    for job in concurrent.futures.as_completed(jobs):
        got = job.result()
        why = judge(right, got)
        same = got[1] == 0 and got[2] == right[2]
        fine += why is None and same
        refused += why is None and not same
        if why:
            wrong.setdefault(why, []).append((jobs[job], got))
    return right[0][kind], len(places), fine, refused, wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--seed", type=int, default=20180409)
    p.add_argument("--verbs", default=",".join(VERBS))
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    args = p.parse_args()
    draw = random.Random(args.seed)
    failed = 0
    print(f"{'verb':12s} {'kind':7s} {'calls':>7s} {'tried':>6s} {'right':>6s} "
          f"{'told':>6s} {'wrong':>6s}")
    with tempfile.TemporaryDirectory(prefix="culprit-faults-") as folder, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        world = World(args.build, folder)
        for verb in args.verbs.split(","):
            right = world.run(VERBS[verb], "malloc", 0)
            if right[1] != 0:
                sys.exit(f"faults: {verb}: {right[3].decode()}")
            for kind in args.kinds.split(","):
                if right[0][kind] == 0:
                    continue
                calls, tried, fine, told, wrong = try_verb(
                    world, VERBS[verb], kind, right, args, pool, draw)
                n = sum(len(x) for x in wrong.values())
                failed += n
                print(f"{verb:12s} {kind:7s} {calls:7d} {tried:6d} {fine:6d} "
                      f"{told:6d} {n:6d}", flush=True)
                for why, cases in sorted(wrong.items()):
                    at, got = min(cases, key=lambda x: x[0])
                    said = got[3].decode(errors="replace").strip()
                    print(f"  FAIL {verb}, {kind} {at} of {calls} (seed "
                          f"{args.seed}, {len(cases)} such): {why}: "
                          f"{said[-200:]}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
