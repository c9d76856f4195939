#!/usr/bin/env python3
# tests/mutate.py -- small mistakes made on purpose, and who notices.
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: tests/mutate.py [-n N] [--seed S] [--folder F]... [--only FILE:LINE]
                       [--near] [--as-kept] [--limit S] [--minutes M]
                       [--goal SHARE] [-j J]
       tests/mutate.py --unseen [--as-kept] [--folder F]... [-j J]

Draws N places in the C files below FOLDER, or in one (default: all layers),
makes one mistake in each, alone, in a copy of the checkout, and runs the tests:
those of the file first and of its folder, then all that come to the line where
it is (with --near: not those, nor those of the folder that take seconds, which is
quick, and prints what other tests may notice: so its share is a lower bound).
Without --near what no test notices is tried once more in a build with
sanitizers, as SAN=1 makes it, by tests that take less than 20 s without. A
mistake that no test notices there either is printed, as FILE:LINE with both
lines, and counted. After M minutes, and after SIGINT or SIGTERM, none is begun, and
what there is by then is told and kept. With --limit the tests of one
mistake end when they have taken S seconds, those under sanitizers when they would
have taken S without: quick ones go first, and the share is a lower bound.

Which tests come to a line is found by running each once, and kept until its
text changes, or the program's (mutate_seen.py). With --as-kept none is run anew:
a test that comes to a line only since is tried if it is a near one, and the line
that is kept of the run says "kept" for "san".

With --unseen nothing is mistaken: the lines that no test comes to are printed, as
FILE:LINE with their text, and how many there are of all, for each layer. Any
mistake in those survives.

The same seed draws the same mistakes of the same files. One that does not
compile, or compiles to what was there before, is no mistake and is drawn
anew; so is one that tests/equivalent.tsv says to change nothing that anybody
may rely on, and why. Its lines are bound to the text of the program: one whose
place has changed is named, and counts for nothing. What runs ten times as long
as the test did before is noticed, as a loop without an end; so a machine much
busier than at the start flatters. The share of mistakes noticed comes with its
95 % interval (Clopper and Pearson's), for each layer: by so few draws it is
known no better.

tests/mutants.tsv gets a line for each layer, and the sum of those is printed.
A seed that was drawn in that folder before is told apart there ("again"), as
tests may have been written for what survived it.
Exit code: 0 if at least --goal of the mistakes are noticed, 1 if not."""

import argparse
import concurrent.futures
import math
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

from mutate_seen import Seen, function_at, program_files
from mutate_tree import LAYERS, SanTree, Tests, Tree

TABLE = "tests/mutants.tsv"
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

    def place(self):
        return function_at(self.text, self.line)

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


def files_of(args):
    tops = args.folder or LAYERS
    files = [f for f in program_files(tops) if f.endswith(".c")
             and not f.endswith(".bpf.c")] + \
        [f for f in tops if os.path.isfile(f)]
    if not files:
        sys.exit(f"mutate: no C files below {tops}.")
    return sorted(files)


def drawn(args):
    """Mistakes without an end, the same for a seed."""
    chance = random.Random(args.seed)
    table = [(f, p) for f in files_of(args) for p in places(f)]
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


def said(noticed, n):
    low, high = interval(noticed, n) if n else (0, 1)
    return (f"{noticed} of {n} noticed ({noticed / max(n, 1):.1%}, 95 % "
            f"interval {low:.1%} to {high:.1%})")


class Score:
    """What became of the mistakes of one run, by layer."""

    def __init__(self):
        self.noticed, self.survived, self.known = {}, {}, {}
        self.lock, self.start = threading.Lock(), time.time()
        self.n_under_way = 0

    def n(self, layer=None):
        return sum(count for verdict in (self.noticed, self.survived)
                   for at, count in verdict.items() if layer in (None, at))

    def add(self, verdict, mistake):
        if verdict == "none":
            return
        layer = mistake.file.split("/")[0]
        counts = getattr(self, verdict)
        counts[layer] = counts.get(layer, 0) + 1

    def lines(self, args):
        """As TABLE has them: a line for each layer."""
        with open("results/provenance.c") as f:
            version = re.search(r'CULPRIT_VERSION "(.*)"', f.read()).group(1)
        commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"],
                                capture_output=True).stdout.decode().strip()
        before = {tuple(row[i] for i in (2, 3)) for row in table()}
        for layer in LAYERS:
            if self.n(layer):
                folder = args.folder[0] if args.folder and \
                    len(args.folder) == 1 else layer
                yield (version, commit, folder, str(args.seed),
                       tests_of(args),
                       "again" if (folder, str(args.seed)) in before
                       else "first", str(self.n(layer)),
                       str(self.noticed.get(layer, 0)),
                       str(self.known.get(layer, 0)))


def tests_of(args):
    """As TABLE has it: which tests ran."""
    which = "near" if args.near else "kept" if args.as_kept else "san"
    return which if math.isinf(args.limit) else f"{which} {args.limit:g} s"


def table():
    if not os.path.isfile(TABLE):
        return []
    with open(TABLE) as f:
        return [line.rstrip("\n").split("\t") for line in f
                if line[0] not in "#\n"]


def report(score, args):
    """Prints how many were noticed, and adds that to TABLE and its sum."""
    if not args.only:
        rows = list(score.lines(args))
        with open(TABLE, "a") as f:
            f.writelines("\t".join(row) + "\n" for row in rows)
        for row in rows:
            print(f"{row[2]}, seed {row[3]}, {row[4]} tests, {row[5]} time: "
                  f"{said(int(row[7]), int(row[6]))}, besides {row[8]} known "
                  "as equivalent")
            same = [r for r in table() if r[0] == row[0] and
                    r[2] == row[2] and r[5] == "first"]
            print(f"  all first draws of version {row[0]}: " +
                  said(sum(int(r[7]) for r in same),
                       sum(int(r[6]) for r in same)))
    noticed, n = sum(score.noticed.values()), score.n()
    print(f"{said(noticed, n)}; goal {args.goal:.0%}")
    return 0 if n and noticed / n >= args.goal else 1


def try_all(trees, source, seen, args):
    """Tries each that SOURCE draws, in one tree or another."""
    score, known, san = Score(), equivalents(), SanTree(trees[0].tests)

    def draw():
        """The next to try, or None when enough are."""
        with score.lock:
            while score.n() + score.n_under_way < args.n and \
                    time.time() - score.start < args.minutes * 60:
                mistake = next(source, None)
                if mistake is None:
                    return None
                if mistake.key() not in known:
                    score.n_under_way += 1
                    return mistake
                score.add("known", mistake)
        return None

    def work(tree):
        while mistake := draw():
            verdict = tree.try_one(mistake, args.near, seen, args.limit)
            if verdict == "survived" and not args.near and \
                    san.try_hard(mistake, seen, args.limit):
                verdict = "noticed"
            with score.lock:
                score.n_under_way -= 1
                score.add(verdict, mistake)
            if verdict == "survived":
                old, new = mistake.both()
                print(f"\n{mistake.file}:{mistake.line} survived\n"
                      f"  - {old}\n  + {new}", flush=True)
            print(f"\r{score.n()} of {args.n}, "
                  f"{sum(score.survived.values())} survived, "
                  f"{time.time() - score.start:.0f} s ", end="",
                  file=sys.stderr, flush=True)

    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        for future in [pool.submit(work, t) for t in trees]:
            future.result()
    print()
    return score


def print_unseen(files, seen):
    """The lines that no test comes to, and their share of each layer."""
    counts = {}
    for file, lines, n in seen.unseen(files):
        layer = counts.setdefault(file.split("/")[0], [0, 0])
        layer[0] += len(lines)
        layer[1] += n
        with open(file) as f:
            text = f.read().splitlines()
        for line in lines:
            print(f"{file}:{line}: {text[line - 1].strip()}")
    for layer, (none, n) in counts.items():
        print(f"{layer}: no test comes to {none} of {n} lines "
              f"({none / max(n, 1):.2%})")


def main():
    args = argparse.ArgumentParser(usage=__doc__[7:].replace("%", "%%"))
    args.add_argument("-n", type=int, default=150)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--folder", action="append")
    args.add_argument("--only")
    args.add_argument("--goal", type=float, default=.97)
    args.add_argument("--near", action="store_true")
    args.add_argument("--as-kept", action="store_true")
    args.add_argument("--unseen", action="store_true")
    args.add_argument("--limit", type=float, default=math.inf)
    args.add_argument("--minutes", type=float, default=math.inf)
    args.add_argument("-j", type=int, default=os.cpu_count())
    args = args.parse_args()
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, lambda *_: setattr(args, "minutes", 0))
    tests = Tests()
    seen = Seen(tests, args.as_kept)
    if not args.as_kept and not args.near:
        seen.bring_up_to_date(args.j)
    if args.unseen:
        return print_unseen(files_of(args), seen)
    trees = [Tree(i, tests).copy().build() for i in range(args.j)]
    return report(try_all(trees, drawn(args), seen, args), args)


if __name__ == "__main__":
    sys.exit(main())
