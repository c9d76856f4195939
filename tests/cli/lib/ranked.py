#!/usr/bin/python3
# tests/cli/lib/ranked.py -- what `culprit diagnose --json` ranks, as TSV.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: ranked.py LABEL < JSON
import json
import sys

for a in json.load(sys.stdin)["algorithms"]:
    if a["label"] == sys.argv[1]:
        for x in sorted(a["ranked"], key=lambda x: (-x["score"], x["name"])):
            print(f"{x['name']}\t{x['score']:.9f}")
