#!/usr/bin/env python3
# tests/cli/lib/figure_sums.py -- what a figure's table holds, a line a series.
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: figure_sums.py FIGURE.tidy...

Each file is what `culprit table --tidy --all` prints. Of each algorithm and
metric a line has: the figure, the series, its rows, the sum of its values, and a
checksum of all that its rows say, in their order: where each point lies, value,
interval, error, n, trials and runs. Numbers are rounded to 9 digits, so that a
machine whose libm differs in the last place agrees."""
import csv
import hashlib
import math
import os
import sys

NUMBERS = ("value", "lo", "hi", "se", "n", "trials", "runs")


def rounded(text):
    return "%.9g" % float(text)


def print_sums(path):
    with open(path, newline="") as f:
        table = list(csv.DictReader(f, delimiter="\t"))
    rows, total, digest = {}, {}, {}
    for row in table:
        series = ".".join(filter(None, (row["algorithm"], row["metric"])))
        said = "\t".join(rounded(x) if name in NUMBERS else x
                         for name, x in row.items())
        value = float(row["value"])
        rows[series] = rows.get(series, 0) + 1
        total.setdefault(series, []).append(0 if math.isnan(value) else value)
        digest.setdefault(series, hashlib.sha256()).update(
            (said + "\n").encode())
    for series, n in rows.items():
        print(os.path.basename(path)[:-5], series, n, "%.9g" % math.fsum(total[series]),
              digest[series].hexdigest()[:16], sep="\t")


print("figure", "series", "rows", "sum", "checksum", sep="\t")
for argument in sys.argv[1:]:
    print_sums(argument)
