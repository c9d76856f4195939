#!/usr/bin/env python3
# tests/mutate.py -- small mistakes made on purpose, and who notices.
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: tests/mutate.py [-n N] [--seed S] [--folder F] [--only FILE:LINE]
                       [--near] [--goal SHARE] [-j J]

Draws N places in the C files below FOLDER (default: all layers), makes one
mistake in each, alone, in a copy of the checkout, and runs the tests: those
of the file first, then those of its folder, then all (with --near: not all,
which is quick, and prints what other files' tests may notice). A mistake that
no test notices is printed, as FILE:LINE with both lines, and counted.

The same seed draws the same mistakes of the same files. One that does not
compile, or compiles to what was there before, is no mistake and is drawn
anew; so is one that tests/equivalent.tsv says to change nothing that anybody
may rely on, and why. Its lines are bound to the text of the program: one whose
place has changed is named, and counts for nothing. What runs ten times as long as its file's tests did before is noticed,
as a loop without an end; so a machine much busier than at the start flatters.
The share of mistakes noticed comes with its 95 % interval (Clopper and
Pearson's): by so few draws it is known no better.
Exit code: 0 if at least --goal of the mistakes are noticed, 1 if not."""

import argparse
import concurrent.futures
import hashlib
import math
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

LAYERS = ["sim", "topo", "models", "algos", "results", "experiments"]
WORK = "build/mutate"
EQUIVALENT = "tests/equivalent.tsv"

# What a slip of the pen does. Spaces as clang-format leaves them tell binary
# signs from others.
SWAPS = [
    (r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "),
    (r" > ", " >= "), (r" >= ", " > "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "),
    (r" \+= ", " -= "), (r" -= ", " += "), (r"\+\+", "--"), (r"--", "++"),
    (r"\b0\b(?![.x])", "1"), (r"\b1\b(?!\.)", "0"), (r"\b1\b(?!\.)", "2"),
    (r"(?<=[( ])!(?=[\w(])", ""), (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"), (r"\bbreak;", "continue;"),
    (r"\bcontinue;", "break;"), (r" << ", " >> "), (r" >> ", " << "),
    (r" & ", " | "), (r" \| ", " & "), (r" % ", " / "),
]
# A statement that stands alone on its line can be left out.
STATEMENT = re.compile(r"^\t+(?!assert\b|return\b|break;|continue;|goto\b)"
                       r"[\w>.\[\]*()-]+( [-+*|&]?= .*|\(.*\)|\+\+|--);$")


def blanked(text):
    """The text with comments, strings, characters and # lines as spaces."""
    def blank(found):
        return re.sub(r"[^\n]", " ", found.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'
                  r"'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*",
                  blank, text, flags=re.S | re.M)


def places(file):
    """All mistakes that can be made in FILE: (start, end, replacement)."""
    with open(file) as f:
        code = blanked(f.read())
    # What stands in no function is types and tables; their first column
    # differs from the tab that begins each line of a body.
    bodies, at = [], 0
    for line in code.splitlines(keepends=True):
        if line.startswith("\t"):
            bodies.append((at, line))
        at += len(line)
    found = []
    for at, line in bodies:
        if line.lstrip().startswith("assert("):
            continue  # an assertion that says less is no other behaviour
        for pattern, other in SWAPS:
            for m in re.finditer(pattern, line):
                found.append((at + m.start(), at + m.end(), other))
        if STATEMENT.match(line.rstrip("\n")):
            start = len(line) - len(line.lstrip("\t"))
            found.append((at + start, at + len(line.rstrip("\n")), ";"))
    return found


class Mistake:
    def __init__(self, file, start, end, other):
        self.file, self.start, self.end, self.other = file, start, end, other
        with open(file) as f:
            self.text = f.read()
        self.line = self.text.count("\n", 0, start) + 1

    def mutated(self):
        return self.text[:self.start] + self.other + self.text[self.end:]

    def both(self):
        pick = self.line - 1
        return [t.splitlines()[pick].strip()
                for t in (self.text, self.mutated())]

    def key(self):
        """As EQUIVALENT names it: by text, as numbers of lines move."""
        above = self.text.splitlines()[self.line - 2].strip()
        return (self.file, above, *self.both())


def equivalents():
    """The mistakes that are known to be none, each in a program that has its
    place still."""
    known = set()
    with open(EQUIVALENT) as f:
        for number, line in enumerate(f, 1):
            if line.startswith("#") or line == "\n":
                continue
            file, above, old, new, why = line.rstrip("\n").split("\t")
            if has_lines(file, above, old) and why:
                known.add((file, above, old, new))
            else:
                print(f"{EQUIVALENT}:{number} is stale: {file} has no longer "
                      f"{old!r} below {above!r}")
    return known


def has_lines(file, above, old):
    if not os.path.isfile(file):
        return False
    with open(file) as f:
        lines = [line.strip() for line in f]
    return (above, old) in zip(lines, lines[1:])


class Tree:
    """A copy of the checkout with a build of its own."""

    def __init__(self, number):
        self.path = os.path.abspath(f"{WORK}/tree{number}")
        self.seconds = {}  # what each pattern took with nothing mistaken

    def run(self, command, seconds=None):
        """True if it ended well and in time; all its children end with it."""
        child = subprocess.Popen(
            command, shell=True, cwd=self.path, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        try:
            return child.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()
            return False

    def copy(self):
        files = subprocess.run(["git", "ls-files", "-z"], check=True,
                               capture_output=True).stdout.decode()
        kept = set()
        for name in filter(None, files.split("\0")):
            kept.add(name)
            to = os.path.join(self.path, name)
            with open(name, "rb") as f:
                now = f.read()
            if os.path.isfile(to):
                with open(to, "rb") as f:
                    if f.read() == now:
                        continue
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(name, to)
        had = subprocess.run("git ls-files -z", shell=True, cwd=self.path,
                             capture_output=True).stdout.decode()
        for name in set(filter(None, had.split("\0"))) - kept:
            if os.path.isfile(os.path.join(self.path, name)):
                os.remove(os.path.join(self.path, name))
        # Tests ask git which files there are.
        for step in ("init -q", "add -A", "-c user.name=mutate -c "
                     "user.email=mutate@localhost commit -qm copy"):
            self.run("git " + step)
        return self

    def build(self):
        if not self.run("make -j2 all"):
            sys.exit(f"mutate: {self.path} does not build as it is; "
                     "`make all` there tells why.")

    def passes(self, pattern):
        """Whether what PATTERN picks builds and passes; in ten times what it
        took when nothing was mistaken, and a minute."""
        made = programs(pattern)
        # Scripts run the program; tests are linked with what it is made of.
        if any(not n.endswith("_test") and re.search(pattern, n)
               for n in test_names()):
            made += " all"
        limit = self.seconds.get(pattern, 3600) * 10 + 60
        return self.run(f"make -j2 {made}") and \
            self.run(f"tests/run.sh build 1 '{pattern}'", limit)

    def try_before(self, file):
        """Runs FILE's near tests as they are, once, and keeps their time."""
        for pattern in stages(file):
            if pattern in self.seconds or not pattern:
                continue
            start = time.time()
            if not self.passes(pattern):
                sys.exit(f"mutate: tests '{pattern}' fail without a mistake; "
                         f"`tests/run.sh build 1 '{pattern}'` in {self.path} "
                         "tells why.")
            self.seconds[pattern] = time.time() - start

    def object_sum(self, file):
        path = os.path.join(self.path, "build", file[:-2] + ".o")
        plain = path + ".plain"  # without lines, which any edit moves
        kept = self.run(f"objcopy -g {path} {plain}")
        with open(plain if kept else path, "rb") as f:
            return hashlib.sha256(f.read()).digest()

    def write(self, file, text):
        with open(os.path.join(self.path, file), "w") as f:
            f.write(text)


def own_header(file):
    """The header that FILE includes first: of its name, or of its whole."""
    with open(file) as f:
        found = re.search(r'^#include ("[^"]*\.h")', f.read(), re.M)
    return found.group(1) if found else '"' + file[:-2] + '.h"'


def own_tests(file):
    """Names of test programs that are named after FILE or the header it belongs
    to, and of those that include that header, first of the same folder."""
    header = own_header(file)
    stems = [f[:-2].replace("/", "_") + "_" for f in (file, header[1:-1])]
    named, others = [], []
    for name in sorted(os.listdir("tests")):
        if not name.endswith("_test.c"):
            continue
        with open("tests/" + name) as f:
            text = f.read()
        if name.startswith(tuple(stems)):
            named.append(name[:-2])
        elif header in text:
            others.append(name[:-2])
    folder = os.path.dirname(file).replace("/", "_") + "_"
    others.sort(key=lambda name: not name.startswith(folder))
    return named, others[:8 - min(len(named), 7)]


def stages(file):
    """Patterns for tests/run.sh, from near to all."""
    folder = os.path.dirname(file).replace("/", "_")
    found = ["^(" + "|".join(near) + ")$" for near in own_tests(file) if near]
    if file.startswith("experiments/cmd/"):
        verb = os.path.basename(file)[:-2].split("_")[0]
        found.append(f"^({verb}|help)$")
    found.append(f"^{folder}_.*_test$")
    names = test_names()
    return [p for p in found if any(re.search(p, n) for n in names)] + [""]


def test_names():
    return [n[:-2] for n in os.listdir("tests") if n.endswith("_test.c")] + \
        [n[:-3] for n in os.listdir("tests/cli") if n.endswith(".sh")]


def programs(pattern):
    return " ".join(f"build/tests/{n}" for n in test_names()
                    if n.endswith("_test") and re.search(pattern, n))


def try_one(tree, mistake, near):
    """'noticed', 'survived' or 'none' (does not compile, or is the same)."""
    obj = "build/" + mistake.file[:-2] + ".o"
    tree.try_before(mistake.file)
    before = tree.object_sum(mistake.file)
    tree.write(mistake.file, mistake.mutated())
    try:
        if not tree.run(f"make {obj}"):
            return "none"
        if tree.object_sum(mistake.file) == before:
            return "none"
        return "survived" if all(tree.passes(p) for p in
                                 stages(mistake.file)
                                 if p or not near) else "noticed"
    finally:
        tree.write(mistake.file, mistake.text)
        tree.run(f"make -j2 {obj} build/libculprit.a")


def drawn(args):
    """Mistakes without an end, the same for a seed."""
    chance = random.Random(args.seed)
    folders = [args.folder] if args.folder else LAYERS
    files = sorted(os.path.join(d, f) for top in folders
                   for d, _, fs in os.walk(top) for f in fs
                   if f.endswith(".c") and not f.endswith(".bpf.c"))
    if not files:
        sys.exit(f"mutate: no C files below {args.folder!r}.")
    table = [(f, p) for f in files for p in places(f)]
    if args.only:
        table = [(f, p) for f, p in table
                 if args.only == f"{f}:{Mistake(f, *p).line}"]
    chance.shuffle(table)
    for f, p in table:
        yield Mistake(f, *p)


def interval(k, n):
    """Clopper and Pearson's 95 % interval of a share of K in N."""
    def at_least(p):  # the chance of K or more
        return sum(math.comb(n, i) * p**i * (1 - p)**(n - i)
                   for i in range(k, n + 1))

    def at_most(p):
        return sum(math.comb(n, i) * p**i * (1 - p)**(n - i)
                   for i in range(k + 1))

    def solve(is_below):
        low, high = 0., 1.
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if is_below(middle) else (low, middle)
        return low
    return (solve(lambda p: at_least(p) < .025) if k > 0 else 0.,
            solve(lambda p: at_most(p) > .025) if k < n else 1.)


def main():
    args = argparse.ArgumentParser(usage=__doc__)
    args.add_argument("-n", type=int, default=150)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--folder")
    args.add_argument("--only")
    args.add_argument("--goal", type=float, default=.97)
    args.add_argument("--near", action="store_true")
    args.add_argument("-j", type=int, default=os.cpu_count())
    args = args.parse_args()
    trees = [Tree(i).copy() for i in range(args.j)]
    for tree in trees:
        tree.build()
    source, counts = drawn(args), {"noticed": 0, "survived": 0}
    known, n_known, n_under_way = equivalents(), 0, 0
    start, lock = time.time(), threading.Lock()

    def work(tree):
        nonlocal n_known, n_under_way
        while True:
            with lock:
                if sum(counts.values()) + n_under_way >= args.n:
                    return
                mistake = next(source, None)
                if mistake is None:
                    return
                if mistake.key() in known:
                    n_known += 1
                    continue
                n_under_way += 1
            verdict = try_one(tree, mistake, args.near)
            with lock:
                n_under_way -= 1
                if verdict != "none":
                    counts[verdict] += 1
            if verdict == "none":
                continue
            done = sum(counts.values())
            if verdict == "survived":
                old, new = mistake.both()
                print(f"\n{mistake.file}:{mistake.line} survived\n"
                      f"  - {old}\n  + {new}", flush=True)
            print(f"\r{done} of {args.n}, {counts['survived']} survived, "
                  f"{time.time() - start:.0f} s ", end="", file=sys.stderr)

    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for future in [pool.submit(work, t) for t in trees]:
            future.result()
    done = sum(counts.values())
    share = counts["noticed"] / done if done else 0
    low, high = interval(counts["noticed"], done) if done else (0, 1)
    print(f"\nseed {args.seed}: {counts['noticed']} of {done} noticed "
          f"({share:.1%}, 95 % interval {low:.1%} to {high:.1%}; goal "
          f"{args.goal:.0%}), besides {n_known} known as equivalent")
    return 0 if done and share >= args.goal else 1


if __name__ == "__main__":
    sys.exit(main())
