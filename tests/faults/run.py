#!/usr/bin/env python3
# tests/faults/run.py -- each verb under each failing call, one at a time.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/faults/run.py BUILD [--sample N] [--seconds S] [--seed S]
#            [--verbs A,B] [--real] [--kinds malloc,write] [--pairs N] [--jobs J]
#            [--keep FILE]
# BUILD/culprit and BUILD/tests/faults.so are what is run. A verb (verbs.py) is
# run once with no fault, which tells how many calls of each kind it makes and
# what is right, and then again for each of them, or for N drawn ones of each
# kind, or for as many as take S seconds; or N drawn pairs of verb and kind. Each time it has to end by itself, with
# the right answer and exit code 0, or with a message. A file under its final name
# is whole, and no other is left, and no process (judge.py). Daemons are started,
# asked and told to end (daemon.py). --real has those of the kernel's networks, too,
# each in one of its own, which takes root.

import argparse
import concurrent.futures
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import verbs
from judge import Run, contents, judge, judge_again

KINDS = ["malloc", "map", "read", "write", "fsync", "rename", "fork", "pipe",
         "open", "socket", "space", "bpf"]
TIMEOUT_S = 120
DAEMON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "daemon.py")


class World:
    """A folder with what verbs read, and how they are run."""

    def __init__(self, build, folder):
        self.culprit = os.path.abspath(os.path.join(build, "culprit"))
        self.faults = os.path.abspath(os.path.join(build, "tests/faults.so"))
        self.given = os.path.join(folder, "given")
        self.folder = folder
        for name, text in verbs.GIVEN.items():
            path = os.path.join(self.given, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(text)
            os.chmod(path, 0o755 if name.startswith("bin/") else 0o644)
        os.mkdir(os.path.join(self.given, "batches"))
        with open(os.path.join(self.given, verbs.BATCHES), "wb") as f:
            f.write(subprocess.run(verbs.FLEET, capture_output=True,
                                   check=True).stdout)
        for words in verbs.SETUP:
            done = subprocess.run([self.culprit, *words], cwd=self.given,
                                  capture_output=True, text=True)
            if done.returncode not in (0, 3):
                sys.exit(f"faults: {words}: {done.stderr}")
        self.was = contents(self.given, {})

    def run(self, verb, kind, at, again=False):
        """Run VERB with the ATth call of KIND failing, and, if AGAIN, once more
        without a fault: what came of it, or of both."""
        where = tempfile.mkdtemp(dir=self.folder)
        try:
            shutil.copytree(self.given, where, dirs_exist_ok=True)
            first = self.once(where, verb, kind, at)
            if not again:
                return first
            return first, self.once(where, verb, kind, 0)
        finally:
            shutil.rmtree(where, ignore_errors=True)

    def once(self, where, verb, kind, at):
        words = verbs.VERBS[verb]
        driver = [sys.executable, DAEMON] if verb in verbs.DAEMONS else []
        if verb in verbs.REAL:
            driver += verbs.REAL_PREFIX
        count = where + ".count"
        with open(count, "wb") as f:
            f.write(bytes(8 * len(KINDS)))
        env = dict(os.environ, LD_PRELOAD=self.faults, FAULT=kind,
                   FAULT_AT=str(at), FAULT_COUNT=count, TERM="dumb",
                   XDG_CACHE_HOME=where + "/cache",
                   PATH=where + "/bin:" + os.environ["PATH"])
        try:
            done = subprocess.run([*driver, self.culprit, *words], cwd=where,
                                  env=env, capture_output=True,
                                  timeout=TIMEOUT_S)
            here = where.encode()
            result = (done.returncode, done.stdout.replace(here, b"."),
                      done.stderr.replace(here, b"."))
        except subprocess.TimeoutExpired:
            result = (None, b"", b"")
        with open(count, "rb") as f:
            calls = dict(zip(KINDS, struct.unpack(f"<{len(KINDS)}Q", f.read())))
        alive = left_alive(count)
        os.unlink(count)
        made = contents(where, self.was)
        return Run(calls, *result, made, self.parts_of_sweeps(where, made),
                   alive)

    def parts_of_sweeps(self, where, made):
        """Files of sweeps' results, which say how far they are."""
        parts = set()
        for name in made:
            if name.endswith(".h5"):
                done = subprocess.run([self.culprit, "status", name], cwd=where,
                                      capture_output=True)
                if b" cells done" in done.stdout:
                    parts.add(name)
        return parts


def processes_of(mark):
    """Ids and names of processes with MARK in their environment."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark.encode() in f.read():
                    with open(f"/proc/{pid}/comm") as g:
                        found[int(pid)] = g.read().strip()
        except OSError:
            pass
    return found


def left_alive(mark):
    """Names of processes that a run left; they are ended. Workers end with their
    parent, but not at once."""
    for _ in range(100):
        found = processes_of(mark)
        if not found:
            return []
        time.sleep(0.1)
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    return sorted(found.values())


def draw_places(n, seconds_each, args, draw):
    """Which of N calls are to fail."""
    most = args.sample or n
    if args.seconds:
        most = min(most, int(args.seconds * args.jobs / seconds_each) + 1)
    places = range(1, n + 1)
    return list(places) if n <= most else sorted(draw.sample(places, most))


def try_verb(world, verb, kind, right, places, pool):
    """Fail the calls of KIND at PLACES: how many went well, were told, and what
    is wrong."""
    wrong = {}
    fine = refused = 0
    again = verb in verbs.AGAIN
    jobs = {pool.submit(world.run, verb, kind, at, again): at
            for at in places}
    for job in concurrent.futures.as_completed(jobs):
        got, then = job.result() if again else (job.result(), None)
        why = judge(right, got) or (then and judge_again(right, then))
        same = got.code == right.code and got.out == right.out
        fine += why is None and same
        refused += why is None and not same
        if why:
            wrong.setdefault(why, []).append((jobs[job], got, then))
    return fine, refused, wrong


def tell_wrong(verb, kind, calls, seed, wrong):
    for why, cases in sorted(wrong.items()):
        at, got, then = min(cases, key=lambda x: x[0])
        said = (got.err + (then.err if then else b"")).decode(errors="replace")
        print(f"  FAIL {verb}, {kind} {at} of {calls} (seed {seed}, "
              f"{len(cases)} such): {why}: {said.strip()[-300:]}")


class Kept:
    """A table of what was tried of each verb, or none."""

    HEAD = "verb calls tried right told wrong version date".split()

    def __init__(self, path, culprit):
        self.path, self.rows = path, {}
        said = subprocess.run([culprit, "--version"], capture_output=True,
                              text=True, check=True).stdout
        self.version = said.split()[1]
        if path and os.path.exists(path):
            with open(path) as f:
                for line in f.read().splitlines()[1:]:
                    row = dict(zip(self.HEAD, line.split("\t")))
                    self.rows[row["verb"]] = row

    def add(self, verb, sums):
        """SUMS: calls, tried, right, told, wrong, of all kinds."""
        was = self.rows.get(verb)
        if not self.path or (was and was["version"] == self.version and
                             int(was["tried"]) > sums[1]):
            return
        self.rows[verb] = dict(zip(self.HEAD, [
            verb, *map(str, sums), self.version, time.strftime("%Y-%m-%d")]))
        with open(self.path + ".new", "w") as f:
            for row in [dict(zip(self.HEAD, self.HEAD)),
                        *(self.rows[v] for v in sorted(self.rows))]:
                f.write("\t".join(row[x] for x in self.HEAD) + "\n")
        os.replace(self.path + ".new", self.path)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--seed", type=int, default=20180409)
    p.add_argument("--verbs", default=",".join(x for x in verbs.VERBS
                                               if x not in verbs.REAL))
    p.add_argument("--real", action="store_true")
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("--pairs", type=int, default=0)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--keep", metavar="FILE")
    args = p.parse_args()
    draw = random.Random(args.seed)
    names = args.verbs.split(",") + (list(verbs.REAL) if args.real else [])
    pairs = [(v, k) for v in names for k in args.kinds.split(",")]
    if args.pairs:
        some = set(draw.sample(pairs, args.pairs))
        pairs = [x for x in pairs if x in some]
    failed = 0
    print(f"{'verb':15s} {'kind':7s} {'calls':>7s} {'tried':>6s} {'right':>6s} "
          f"{'told':>6s} {'wrong':>6s}")
    with tempfile.TemporaryDirectory(prefix="culprit-faults-") as folder, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        world = World(args.build, folder)
        kept = Kept(args.keep, world.culprit)
        for verb in dict.fromkeys(v for v, _ in pairs):
            began = time.monotonic()
            right = world.run(verb, "malloc", 0)
            each = time.monotonic() - began
            if right.code != (1 if verb in verbs.ILL else 0):
                sys.exit(f"faults: {verb}: {right.err.decode()}")
            kinds = [k for v, k in pairs if v == verb]
            sums = [0] * 5
            for kind in kinds:
                calls = right.calls[kind]
                if calls == 0:
                    continue
                places = draw_places(calls, each, args, draw)
                fine, told, wrong = try_verb(world, verb, kind, right, places,
                                             pool)
                n = sum(len(x) for x in wrong.values())
                failed += n
                print(f"{verb:15s} {kind:7s} {calls:7d} {len(places):6d} "
                      f"{fine:6d} {told:6d} {n:6d}", flush=True)
                tell_wrong(verb, kind, calls, args.seed, wrong)
                sums = [a + b for a, b in zip(
                    sums, (calls, len(places), fine, told, n))]
            if kinds == KINDS:
                kept.add(verb, sums)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
