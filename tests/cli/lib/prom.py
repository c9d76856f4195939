#!/usr/bin/env python3
# tests/cli/lib/prom.py -- is a file Prometheus' text format 0.0.4?
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: prom.py FILE [SAMPLE...]     checks all of it, prints these values
#        prom.py --names FILE...      the names of all families
# Written by the format's page and not by our writer: what that page allows and
# the conventions for names ask for. No label takes more than 32 values.
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(
    rf"({NAME})(\{{(?:{LABEL}(?:,{LABEL})*,?)?\}})? +(\S+)(?: +-?[0-9]+)?$")
UNITS = {"milliseconds", "minutes", "ms", "us", "ns", "kilobytes", "mib", "kb"}


def read(path):
    text = open(path).read()
    assert text.endswith("\n"), f"{path}: the last line does not end"
    helps, types, samples, done, family = {}, {}, {}, set(), None
    for i, line in enumerate(text.split("\n")[:-1], 1):
        at = f"{path}:{i}: {line}"
        m = re.match(rf"# (HELP|TYPE) ({NAME}) (.+)$", line)
        if m:
            kind, name, rest = m.groups()
            assert name not in (helps if kind == "HELP" else types), at
            (helps if kind == "HELP" else types)[name] = rest
            assert kind == "HELP" or rest in ("counter", "gauge"), at
            continue
        m = SAMPLE.match(line)
        assert m, at
        name, labels, value = m.groups()
        assert name in helps and name in types, at
        # Samples of a family are one group.
        if name != family:
            assert name not in done, at
            done.add(name)
            family = name
        value = float(value)
        assert types[name] != "counter" or value >= 0, at
        key = name + (labels or "")
        assert key not in samples, at
        samples[key] = value
    for name, kind in types.items():
        assert (kind == "counter") == name.endswith("_total"), name
        assert name.startswith(("culprit_", "process_")), name
        assert not UNITS & set(name.split("_")), name
        assert name in done, f"{name} has no sample"
        assert sum(k.split("{")[0] == name for k in samples) <= 32, name
    return types, samples


def main():
    if sys.argv[1] == "--names":
        for path in sys.argv[2:]:
            print("\n".join(read(path)[0]))
        return
    samples = read(sys.argv[1])[1]
    print(*(f"{samples[k]:.17g}" for k in sys.argv[2:]))


main()
