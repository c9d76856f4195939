# tests/cli/lib/schema_mutants.py -- the schema and the reader, on spoiled specs.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: schema_mutants.py SCHEMA CULPRIT SEED RUNS SPEC...
# Each spec is changed at random places and given to both. What the schema
# refuses the reader must refuse, and what the reader refuses for a type, a
# range, an unknown key or a name that is none, so must the schema. No law is
# tested: a failure is one at any seed.
import collections
import copy
import json
import os
import random
import re
import subprocess
import sys

from schema import judge, load, validator

# What a schema can see, as the reader says it.
SEEN = re.compile(
    r"unknown key|is not one of|is not a (whole )?number|must be (one value|a "
    r"list|a number)|is not true or false|is missing|map is needed|no algorithm "
    r"is called|there is no metric|can't replace|can't vary|a sweep has no|is "
    r"not in \[|is below|is above \d|has no value|is text; write"
)
# And what only the network, or another key, tells.
UNSEEN = re.compile(
    r"pod \d+ is not|[Ll]ink \"?\d+|hosts are in|^[^:]*: dc \d+|in \[.*\]\.$.*>|is "
    r"above .* in \[|a sweep gives|service|vips|ports:|sites"
)

VALUES = [-1, 0, 1, 2, 0.5, 2.5, 7, 10**12, True, "text", "drop", "uniform"]
VALUES += [[], {}, [1], ["x"], {"uniform": [0, 1]}, {"log_uniform": [1, 2]}]
VALUES += [{"uniform": [1]}, {"normal": [0, 1]}, {"name": "vote"}, "vote"]


def places(node, path=()):
    """Paths of all that is in a tree, but the tree."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, child in items:
        yield path + (key,)
        if isinstance(child, (dict, list)):
            yield from places(child, path + (key,))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def spoil(rng, tree, keys):
    tree = copy.deepcopy(tree)
    path = rng.choice(list(places(tree)))
    home, key = at(tree, path[:-1]), path[-1]
    what = rng.randrange(5)
    if what == 0 and isinstance(home, dict):
        del home[key]
    elif what == 1 and isinstance(home, dict):
        home[rng.choice([key + "x", key[1:], key.upper()])] = home.pop(key)
    elif what == 2 and isinstance(home, dict):
        key = rng.choice(keys)
        home.setdefault(key, rng.choice(VALUES))
    else:
        home[key] = copy.deepcopy(rng.choice(VALUES))
    return tree, ".".join(map(str, path[:-1] + (key,)))


def sweep_of(spec):
    sweep = spec.get("sweep")
    return sweep if isinstance(sweep, dict) else {}


def is_swept(spec, path):
    """Whether a value is replaced at every point, and so is never read."""
    axes = [
        axis
        for kind in sweep_of(spec).values()
        for axis in (kind if isinstance(kind, dict) else ())
    ]
    return any((path + ".").startswith(axis + ".") for axis in axes)


def reader_says(culprit, name):
    """What is wrong with a spec, or None; a point that is not there tells."""
    done = subprocess.run(
        [culprit, "run", name, "--point", "999999", "--run", "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "point 999999, run 0: the sweep has" in done.stderr:
        return None
    return done.stderr


def main():
    checker, culprit = validator(sys.argv[1]), sys.argv[2]
    seed, runs, names = int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]
    keys = sorted(
        {
            key
            for part in checker.schema["definitions"].values()
            for key in part.get("properties", {})
            if re.fullmatch("[a-z_0-9]+", key)
        }
    )
    count = collections.Counter()
    for run in range(runs):
        rng = random.Random("%d %d" % (seed, run))
        home = names[run % len(names)]
        spec, path = spoil(rng, load(home), keys)
        # Beside the spec, so that its network's file is found.
        name = os.path.join(os.path.dirname(home), "mutant.yaml")
        with open(name, "w", encoding="utf-8") as f:
            json.dump(spec, f)
        ours, theirs = judge(checker, spec), reader_says(culprit, name)
        wrong = None
        if ours is not None and theirs is None and not is_swept(spec, path):
            wrong = "the reader takes it"
        lines = (theirs or "").splitlines()
        seen = [x for x in lines if SEEN.search(x) and not UNSEEN.search(x)]
        # With a swept plane it depends on the point whether they are.
        if "plane" in str(sweep_of(spec)):
            seen = [x for x in seen if "algorithms is missing" not in x]
        if ours is None and seen:
            wrong = "the schema takes it"
        count[ours is not None, theirs is not None] += 1
        if wrong:
            print("seed %d, run %d, %s: %s" % (seed, run, home, wrong))
            print("schema:", ours)
            print("reader:", theirs)
            print(json.dumps(spec))
            sys.exit(1)
    print(dict(count))


main()
