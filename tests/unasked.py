#!/usr/bin/env python3
# tests/unasked.py -- what tests would ask, and never do.
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: tests/unasked.py BUILD

Prints each line of a test program that asserts something and that no run of it came
to: a branch or a loop that is never entered asks nothing, and passes. BUILD was made
with --coverage, and its programs were run. What is only said of a failure is left out,
and a program that put its own open() or write() before gcc's has nothing to tell.
Each line that is left has a reason, or is a defect: it may wait for another seed, for a
library that is not there, or for a test that it only prints for."""

import json
import os
import subprocess
import sys

ASKS = ("assert_", "assert(", "fail_if", "law_")


def counts(build):
    """{file: {line: times}} of all sources of tests."""
    seen = {}
    for folder, _, names in os.walk(os.path.join(build, "tests")):
        for name in names:
            if not name.endswith(".gcda"):
                continue
            said = subprocess.run(["gcov", "--json-format", "--stdout",
                                   os.path.join(folder, name)],
                                  capture_output=True, check=False)
            if said.returncode != 0 or not said.stdout:
                continue
            for source in json.loads(said.stdout)["files"]:
                if not source["file"].startswith("tests/"):
                    continue
                times = seen.setdefault(source["file"], {})
                for line in source["lines"]:
                    at = line["line_number"]
                    times[at] = times.get(at, 0) + line["count"]
    return seen


def main():
    seen = counts(sys.argv[1])
    if not seen:
        sys.exit(f"{sys.argv[1]}: no test ran that was built with --coverage")
    n = 0
    for path in sorted(seen):
        with open(path, encoding="utf-8") as f:
            text = f.read().splitlines()
        for at in sorted(seen[path]):
            if seen[path][at] == 0 and any(a in text[at - 1] for a in ASKS):
                print(f"{path}:{at}: {text[at - 1].strip()}")
                n += 1
    print(f"{n} lines of {len(seen)} files ask something and are never run")


if __name__ == "__main__":
    main()
