# tests/mutate_seen.py -- which tests enter which function of the program.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of tests/mutate.py. In a copy of the checkout of its own, whose functions
say when they are entered (mutate_seen.S), each test is run once, and once more
when its text has changed or that of the program. A mistake is then tried with
those alone that come to where it is. What is known is kept by names of functions,
which no two files share. Of a function that is newer than the last run nothing is
known, and then all tests are tried; so they are on machines that mutate_seen.S is
not for."""

import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import time

from mutate_tree import LAYERS, WORK, Tree

KEPT = WORK + "/seen.json"
# What is inlined is not entered.
FLAGS = "-pg -mfentry -fno-inline-functions -fno-inline-small-functions " \
    "-fno-inline-functions-called-once -fno-ipa-icf"
PROGRAM = ""  # whose functions are all that there are
LONG = 1800  # seconds that a test may take
OWN_BUILD = {"make"}  # builds a program of its own, whose functions say nothing


def function_at(text, at):
    """The name of the function of TEXT that has place AT in its body."""
    begin = text.rfind("\n{", 0, at)
    head = text[max(text.rfind("\n}", 0, begin),
                    text.rfind("\n\n", 0, begin), 0):begin]
    found = re.search(r"(\w+)\(", head)
    return found.group(1) if found else None


class Seen:
    """Who enters what: names of tests by name of function."""

    def __init__(self, tests):
        self.tests, self.entered, self.by_function = tests, {}, {}
        if os.path.isfile(KEPT):
            with open(KEPT) as f:
                self.entered = json.load(f)
        for name, one in self.entered.items():
            self.sort_in(name, one)

    def sort_in(self, name, one):
        if name == PROGRAM:
            for function in one["functions"]:
                self.by_function.setdefault(function, set())
        if name in self.tests.texts:
            for function in one["functions"]:
                self.by_function.setdefault(function, set()).add(name)

    def bring_up_to_date(self, jobs):
        """Runs what has changed, and all if the program has."""
        program = program_sum()
        new = [n for n in self.tests.texts if n not in OWN_BUILD and not
               (self.knows(n) and self.entered[n].get("program") == program)]
        if not new or os.uname().machine != "x86_64":
            return
        print(f"mutate: which functions {len(new)} tests enter")
        tree = SeenTree(self.tests)
        self.entered = {n: one for n, one in self.entered.items()
                        if n in self.tests.texts and n not in new}
        self.entered[PROGRAM] = {"functions": tree.all_functions()}
        kept = time.time()
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            runs = {pool.submit(tree.entered_by, n): n for n in new}
            for run in concurrent.futures.as_completed(runs):
                self.entered[runs[run]] = {"program": program, **run.result()}
                if time.time() - kept > 30:
                    self.keep()
                    kept = time.time()
        self.keep()
        self.by_function = {}
        for name, one in self.entered.items():
            self.sort_in(name, one)

    def keep(self):
        with open(KEPT + ".new", "w") as f:
            json.dump(self.entered, f)
        os.replace(KEPT + ".new", KEPT)

    def knows(self, name):
        """Whether what NAME enters was found when it was as it is."""
        return self.entered.get(name, {}).get("of") == \
            text_sum(self.tests.texts[name])

    def of(self, names, function):
        """Those of NAMES that enter FUNCTION, or may."""
        who = self.by_function.get(function)
        return [n for n in names if n not in OWN_BUILD and
                (who is None or n in who or not self.knows(n))]

    def seconds(self, name):
        return self.entered.get(name, {}).get("seconds", 0)


class SeenTree(Tree):
    """The copy whose functions say when they are entered."""

    def __init__(self, tests):
        super().__init__("-seen", tests)
        self.symbols = {}  # (place, name) of each program, in order
        self.copy()
        objects = " ".join(f"{self.path}/seen-{x}.o" for x in ("c", "S"))
        for x in ("c", "S"):
            self.run(f"cc -O2 -c tests/mutate_seen.{x} -o seen-{x}.o")
        if not self.run("make -k -j2 tests-built real-built "
                        f"CFLAGS='{FLAGS}' LDLIBS='{objects}'"):
            print("mutate: not all of what tells of its functions was built")

    def all_functions(self):
        return sorted({name for _, name in
                       symbols(f"{self.path}/build/culprit")})

    def entered_by(self, name):
        """Runs test NAME; what it entered, also if it failed."""
        to = f"{self.path}/seen/{name}"
        shutil.rmtree(to, ignore_errors=True)
        os.makedirs(to)
        env = {"SEEN_DIR": to, "BUILD": f"{self.path}/build",
               "CULPRIT": f"{self.path}/build/culprit"}
        command = f"exec build/tests/{name}" if name.endswith("_test") else \
            f"exec bash tests/cli/{name}.sh"
        start = time.time()
        self.run(command, LONG, env)
        functions = set()
        for file in os.listdir(to):
            if file[0] == "!":
                functions |= self.functions(f"{to}/{file}",
                                            file.replace("!", "/"))
        shutil.rmtree(to)
        return {"of": text_sum(self.tests.texts[name]),
                "seconds": round(time.time() - start, 2),
                "functions": sorted(functions)}

    def functions(self, file, program):
        """Names of the functions of PROGRAM whose bytes in FILE are set."""
        if program not in self.symbols:
            self.symbols[program] = symbols(program)
        places = self.symbols[program]
        with open(file, "rb") as f:
            seen = f.read()
        # Each begins with a call of 5 or 6 bytes, some with a mark of 4 before it.
        return {name for at, name in places if 1 in seen[at + 5:at + 11]}


def symbols(program):
    """Places and names of functions of PROGRAM; none if it is gone."""
    said = subprocess.run(["nm", "--defined-only", program],
                          capture_output=True).stdout.decode()
    rows = (line.split() for line in said.splitlines())
    return [(int(at, 16), name.split(".")[0]) for at, kind, name in rows
            if kind in "tT"]


def text_sum(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def program_sum():
    """Of all that tests are linked with and programs are made of."""
    texts = []
    for top in LAYERS + ["tests/rigs"]:
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    with open(f"{folder}/{name}") as f:
                        texts.append(f"{folder}/{name}\n{f.read()}")
    return text_sum("".join(texts))
