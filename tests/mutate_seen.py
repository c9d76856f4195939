# tests/mutate_seen.py -- which tests come to which line of the program.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of tests/mutate.py. In a copy of the checkout of its own, whose blocks of
code say when they are come to (mutate_seen.c), each test is run once, and once
more when its text has changed or that of the program. A mistake is then tried with
those alone that come to its line; one in a line that no test comes to is noticed
by none. What is known is kept by names of functions, which no two files share, and
by lines below the first of each: of a function that has changed since, only who
enters it is known, and of a new one nothing, so all tests are tried."""

import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import time

from mutate_tree import LAYERS, WORK, Tree, command_of

KEPT = WORK + "/lines.json"
# What is inlined or laid together has no blocks of its own.
FLAGS = "-Og -g1 -fsanitize-coverage=trace-pc -fno-ipa-icf -fno-reorder-blocks " \
    "-fno-reorder-functions"
NOTE = "__sanitizer_cov_trace_pc"
PROGRAM = ""  # the name for what all functions and their lines are kept by
LONG = 1800  # seconds that a test may take
OWN_BUILD = {"make"}  # builds a program of its own, whose blocks say nothing


def functions_of(text):
    """(name, first line, last line, sum of its text) of each function."""
    found, lines = [], text.splitlines()
    for at, line in enumerate(lines):
        if line != "{":
            continue
        top = at
        while top > 0 and lines[top - 1] not in ("", "}"):
            top -= 1
        name = re.search(r"(\w+)\(", "\n".join(lines[top:at]))
        end = lines.index("}", at) if "}" in lines[at:] else at
        if name:
            found.append((name.group(1), top + 1, end + 1,
                          text_sum("\n".join(lines[top:end]))))
    return found


def function_at(text, line):
    """(name, lines below its first, sum) of the function of TEXT at LINE."""
    for name, first, last, its in functions_of(text):
        if first <= line <= last:
            return name, line - first, its
    return None, 0, ""


class Seen:
    """Who comes where: names of tests by function, and by its lines."""

    def __init__(self, tests, as_kept=False):
        self.tests, self.as_kept, self.kept = tests, as_kept, {}
        if os.path.isfile(KEPT):
            with open(KEPT) as f:
                self.kept = json.load(f)
        self.sort()

    def sort(self):
        """From tests' lines to lines' tests."""
        self.sums, self.who = {}, {}
        for function, one in self.kept.get(PROGRAM, {}).get("lines",
                                                            {}).items():
            self.sums[function] = one["of"]
            self.who[function] = {line: set() for line in one["lines"]}
        for name, one in self.kept.items():
            if name in self.tests.texts:
                for function, lines in one["lines"].items():
                    for line in lines:
                        self.who[function][line].add(name)

    def bring_up_to_date(self, jobs):
        """Runs what has changed, and all if the program has."""
        program = program_sum()
        new = [n for n in self.tests.texts if n not in OWN_BUILD and not
               (self.knows(n) and self.kept[n].get("program") == program)]
        if not new:
            return
        print(f"mutate: to which lines {len(new)} tests come")
        tree = SeenTree(self.tests)
        self.kept = {n: one for n, one in self.kept.items()
                     if n in self.tests.texts and n not in new}
        self.kept[PROGRAM] = {"lines": tree.all_lines()}
        kept = time.time()
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            runs = {pool.submit(tree.seen_by, n): n for n in new}
            for run in concurrent.futures.as_completed(runs):
                self.kept[runs[run]] = {"program": program, **run.result()}
                if time.time() - kept > 30:
                    self.keep()
                    kept = time.time()
        self.keep()
        self.sort()

    def keep(self):
        os.makedirs(WORK, exist_ok=True)
        with open(KEPT + ".new", "w") as f:
            json.dump(self.kept, f)
        os.replace(KEPT + ".new", KEPT)

    def knows(self, name):
        """Whether where NAME comes was found when it was as it is."""
        return self.kept.get(name, {}).get("of") == \
            text_sum(self.tests.texts[name])

    def of(self, names, place, near=False):
        """Those of NAMES that come to PLACE, as function_at() tells it, or may: of
        tests whose text has changed since, all that are NEAR, and others as they
        were if all is taken as it was kept."""
        who = self.at(place)
        return [n for n in names if n not in OWN_BUILD and
                (who is None or n in who or not self.knows(n) and
                 (near or not self.as_kept or n not in self.kept))]

    def at(self, place):
        """Who comes to PLACE, or None if that is not known."""
        function, line, its = place
        lines = self.who.get(function)
        if not lines:
            return None
        if self.sums[function] != its:
            return set().union(*lines.values())
        # The middle of a statement may have no code of its own.
        return set().union(*(lines[n] for n in (
            max((n for n in lines if n <= line), default=None),
            min((n for n in lines if n >= line), default=None))
            if n is not None))

    def unseen(self, files):
        """(file, lines that no test comes to, lines there are) of each of FILES,
        as far as they are known."""
        for file in files:
            none, n = [], 0
            with open(file) as f:
                functions = functions_of(f.read())
            for name, first, _, its in functions:
                if self.sums.get(name) == its:
                    who = self.who[name]
                    none += [first + line for line in who if not who[line]]
                    n += len(who)
            yield file, sorted(none), n

    def seconds(self, name):
        return self.kept.get(name, {}).get("seconds", 0)


class SeenTree(Tree):
    """The copy whose blocks say when they are come to."""

    def __init__(self, tests):
        super().__init__("-seen", tests)
        self.starts = {}  # (place, name) of functions of each program, in order
        self.copy()
        self.run("cc -O2 -c tests/mutate_seen.c -o seen.o")
        if not self.run("make -k -j2 all tests-built real-built "
                        f"CFLAGS='{FLAGS}' LDLIBS='{self.path}/seen.o'"):
            print("mutate: not all of what tells where it comes was built")
        self.lines = self.lines_of_source()
        self.blocks = self.blocks_of(f"{self.path}/build/culprit")

    def lines_of_source(self):
        """By (file, line): function, and line below its first; and sums."""
        found, self.sums = {}, {}
        for file in program_files():
            # What stands in for a missing library has its functions' names.
            if file.endswith(".c") and not os.path.exists(
                    f"{self.path}/build/{file[:-2]}.o"):
                continue
            with open(file) as f:
                for name, first, last, its in functions_of(f.read()):
                    self.sums[name] = its
                    for line in range(first, last + 1):
                        found[file, line] = name, line - first
        return found

    def blocks_of(self, program):
        """By symbol: by the place below it that a block's note returns to, the
        block's lines. What follows a jump is the next block's, if that notes
        itself before it jumps, too."""
        said = subprocess.run(["objdump", "-dl", "--no-show-raw-insn", program],
                              capture_output=True).stdout.decode()
        blocks, block, after, line, own, noted = {}, set(), set(), None, {}, False
        for row in said.splitlines():
            if m := re.match(r"([0-9a-f]+) <(\S+)>:$", row):
                block |= after or set()
                start, own = int(m.group(1), 16), {}
                blocks[m.group(2)] = own
                block, after, line, noted = set(), set(), None, False
            elif m := re.match(r"(?:\./)*([\w/.-]+\.[ch]):(\d+)", row):
                line = self.lines.get((m.group(1), int(m.group(2))))
            elif m := re.match(r" +([0-9a-f]+):\t(\S+)(.*)", row):
                if noted:
                    block, after = after, None
                    own[int(m.group(1), 16) - start] = block
                noted = f"<{NOTE}" in m.group(3)
                if noted and after is None:
                    after = set()
                if line:
                    (block if after is None else after).add(line)
                if m.group(2)[0] == "j" or m.group(2) == "ret":
                    block |= after or set()
                    after = set()
        return blocks

    def all_lines(self):
        found = {}
        for own in self.blocks.values():
            for block in own.values():
                for function, line in block:
                    found.setdefault(function, set()).add(line)
        return {f: {"of": self.sums[f], "lines": sorted(n)}
                for f, n in found.items()}

    def seen_by(self, name):
        """Runs test NAME; where it came to, also if it failed."""
        to = f"{self.path}/seen/{name}"
        shutil.rmtree(to, ignore_errors=True)
        os.makedirs(to)
        env = {"SEEN_DIR": to, "BUILD": f"{self.path}/build",
               "CULPRIT": f"{self.path}/build/culprit"}
        start = time.time()
        self.run(command_of(name, "build/tests"), LONG, env)
        lines = {}
        for file in os.listdir(to):
            if file[0] == "!":
                for function, line in self.seen_in(f"{to}/{file}",
                                                   file.replace("!", "/")):
                    lines.setdefault(function, set()).add(line)
        shutil.rmtree(to)
        return {"of": text_sum(self.tests.texts[name]),
                "seconds": round(time.time() - start, 2),
                "lines": {f: sorted(n) for f, n in lines.items()}}

    def seen_in(self, file, program):
        """Lines of the blocks of PROGRAM whose bytes in FILE are set."""
        if program not in self.starts:
            self.starts[program] = symbols(program)
        with open(file, "rb") as f:
            seen = f.read()
        found = set()
        for start, name in self.starts[program]:
            if name == "main" and not program.endswith("/culprit"):
                continue
            for below, block in self.blocks.get(name, {}).items():
                if seen[start + below:start + below + 1] == b"\1":
                    found |= block
        return found


def symbols(program):
    """Places and names of functions of PROGRAM; none if it is gone."""
    said = subprocess.run(["nm", "--defined-only", program],
                          capture_output=True).stdout.decode()
    rows = (line.split() for line in said.splitlines())
    return [(int(at, 16), name) for at, kind, name in rows if kind in "tT"]


def text_sum(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def program_files(tops=LAYERS):
    return [f"{folder}/{name}" for top in tops
            for folder, _, names in sorted(os.walk(top))
            for name in sorted(names) if name.endswith((".c", ".h"))]


def program_sum():
    """Of all that tests are linked with and programs are made of."""
    texts = []
    for file in program_files(LAYERS + ["tests/rigs"]):
        with open(file) as f:
            texts.append(f"{file}\n{f.read()}")
    return text_sum("".join(texts))
