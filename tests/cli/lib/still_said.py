#!/usr/bin/python3
# tests/cli/lib/still_said.py -- is all that was said once said still?
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: still_said.py THEN NOW
# Lines of THEN must be in NOW, in their order; of a table the columns that THEN has.
# What NOW says beside is new. Prints the first line that is not there, and fails.
import sys


def rows(path, columns=None):
    with open(path, encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f]
    header = lines[0]
    if columns and set(columns) <= set(header):
        at = [header.index(c) for c in columns]
        lines = [[x[i] for i in at] if len(x) == len(header) else x
                 for x in lines]
    return lines


then = rows(sys.argv[1])
now = rows(sys.argv[2], then[0] if len(then[0]) > 1 else None)
rest = iter(now)
for line in then:
    if line not in rest:  # and moves behind it
        print("no more:", "\t".join(line))
        print("but:", *("\t".join(x) for x in now[:20]), sep="\n")
        sys.exit(1)
