#!/usr/bin/env python3
# tests/cli/lib/watch.py -- do alerts and dashboard name metrics that there are?
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: watch.py ALERTS.yaml DASHBOARD.json METRICS...
# METRICS are texts of all daemons. Each name, and each value of a label that is
# asked for, has to be in one of them; rules and panels have what they need.
import json
import re
import sys

alerts, dashboard, *texts = sys.argv[1:]
there = "".join(open(t).read() for t in texts)
names = set(re.findall(r"^# TYPE (\S+) ", there, re.M))
assert len(names) > 50, names


def check(expr, where):
    used = set(re.findall(r"\b(?:culprit|process)_\w+", expr))
    assert used, f"{where}: {expr}: no metric"
    assert used <= names, f"{where}: {used - names} is none"
    for label, value in re.findall(r'(\w+)="(\w+)"', expr):
        assert f'{{{label}="{value}"}}' in there, f"{where}: {value}"
    # Counters only grow, so only their rates say something; gauges have none.
    for name in used:
        if name.endswith("_total"):
            assert (re.search(rf"(rate|increase)\({name}[^\[]*\[", expr)
                    or "gone" in name), f"{where}: {expr}"
        else:
            assert not re.search(rf"(rate|increase)\({name}\b", expr), expr
    plain = re.sub(r'"[^"]*"', "", expr)
    for a, b in ("()", "[]", "{}"):
        assert plain.count(a) == plain.count(b), f"{where}: {expr}"


text = open(alerts).read()
rules = re.split(r"^      - alert: ", text, flags=re.M)[1:]
seen = set()
for rule in rules:
    name = rule.split("\n")[0]
    assert re.fullmatch(r"Culprit[A-Z]\w+", name) and name not in seen, name
    seen.add(name)
    m = re.search(r"^        expr: >-\n          (.+)\n        for: \d+[mh]\n"
                  r"        labels: \{severity: (page|ticket)\}\n"
                  r"        annotations:\n          summary: \".+\"\n"
                  r"          description: \".+\"$", rule, re.M)
    assert m, rule
    check(m[1], name)
assert len(seen) >= 10

page = json.load(open(dashboard))
ids = [p["id"] for p in page["panels"]]
assert len(ids) == len(set(ids))
cells = set()
for p in page["panels"]:
    for t in p["targets"]:
        check(t["expr"], p["title"])
    g = p["gridPos"]
    own = {(x, y) for x in range(g["x"], g["x"] + g["w"])
           for y in range(g["y"], g["y"] + g["h"])}
    assert g["x"] + g["w"] <= 24 and not own & cells, p["title"]
    cells |= own
    assert p["datasource"]["uid"] == "${source}", p["title"]
print(len(seen), "alerts,", len(ids), "panels")
