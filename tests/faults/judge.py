# tests/faults/judge.py -- what is wrong with a run under a fault.
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run is compared with that of the same verb without a fault. What differs
from run to run anyway (times, logs) is left out of both."""

import collections
import os
import re
import sqlite3
import subprocess
import tempfile

# calls: how many of each kind; code None: it did not end; made: what files it
# made or changed, by name; part: files that hold a part of a sweep, as they say
# themselves; alive: processes that it left.
Run = collections.namedtuple("Run", "calls code out err made part alive")

# Beside results, for whoever goes on, or by the clock.
ASIDE = re.compile(r"\.(run\.json|journal|pdf|png|log|lock|db-wal|db-shm)$"
                   r"|\.cluster/|^cache/|^st/|^live\.db$|/(cpu\.csv|table\.tsv)$")
TIMES = [(re.compile(rb"\d+ s ago"), b"? s ago"),
         # Processor time and memory of the arena's table.
         (re.compile(rb" +[0-9.e-]+ +\d+( \*)?$", re.M), b" ?")]


# What the C library, its loader, and libraries as they are loaded say before they end
# the program for want of memory: nothing of ours is asked, and nothing was begun.
LIBRARIES = re.compile(rb"^(out of memory"
                       rb"|cannot allocate memory for thread-local data: ABORT"
                       rb"|culprit: nss_database\.c:.* Assertion .* failed\."
                       rb"|Operating system error: Cannot allocate memory)$", re.M)


def plain(out):
    for pattern, instead in TIMES:
        out = pattern.sub(instead, out)
    return out


def contents(where, was):
    """What was made or changed, of what WAS there before."""
    made = {}
    for root, _, files in os.walk(where):
        for name in files:
            path = os.path.join(root, name)
            rel = os.path.relpath(path, where)
            if ASIDE.search(rel):
                made[rel] = b""
                continue
            now = read(path)
            if was.get(rel) != now:
                made[rel] = now
    return made


def read(path):
    # What was written to a database may stand beside it, in its log.
    if path.endswith(".db"):
        return dump(path)
    with open(path, "rb") as f:
        return f.read()


def dump(path):
    """A database as statements, or why it is none. Its log is taken in."""
    if os.path.getsize(path) == 0:
        return b""
    try:
        db = sqlite3.connect(path)
        db.execute("PRAGMA trusted_schema = OFF")
        said = db.execute("PRAGMA integrity_check").fetchall()
        if said != [("ok",)]:
            return b"damaged: " + str(said).encode()
        lines = "\n".join(db.iterdump()).encode()
        db.close()
        return lines
    except sqlite3.Error as e:
        return b"damaged: " + str(e).encode()


def same_h5(a, b):
    """Same values? HDF5 leaves a chunk unpacked that it has no memory to
    pack."""
    if a == b:
        return True
    with tempfile.TemporaryDirectory(prefix="culprit-faults-") as folder:
        for name, bytes_ in (("a", a), ("b", b)):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(bytes_)
        return subprocess.run(["h5diff", "-q", "a", "b"], cwd=folder,
                              capture_output=True).returncode == 0


def same(name, now, want):
    return now == want or (name.endswith(".h5") and same_h5(now, want))


def judge_file(name, now, right, got):
    """What is wrong with a file that is there, or None."""
    want = right.made.get(name)
    if ".tmp." in name:
        return f"leaves {name}"
    if ASIDE.search(name):
        return None
    if now.startswith(b"damaged: "):
        return f"leaves {name} {now.decode()}"
    if want is None:
        return f"leaves {name}, and exits with {got.code}"
    if got.code != right.code and (name in got.part or name.endswith(".db")):
        return None
    # Scores are of those runs that did not fail; the same again mends them.
    if got.code != right.code and name.startswith("arena/"):
        return None
    # A report says that runs failed.
    if got.code != right.code and name.endswith(".xml") and b"<error" in now:
        return None
    if not same(name, now, want):
        return f"leaves another {name}, and exits with {got.code}"
    return None


def ills(out):
    """What a verb that looks for ills found."""
    return {x for x in out.splitlines() if x.startswith(b"FAIL")}


def judge(right, got):
    """What is wrong with a run, or None."""
    told = set(got.err.splitlines()) > set(right.err.splitlines())
    if got.code is None:
        return "hangs"
    if got.alive:
        return f"leaves processes: {', '.join(got.alive)}"
    if (got.code < 0 or got.code > 125) and not LIBRARIES.search(got.err):
        return f"dies of {-got.code if got.code < 0 else got.code}"
    is_right = got.code == right.code
    if is_right and right.code != 0:
        told |= not ills(got.out) <= ills(right.out)
    if is_right and told:
        return None
    if is_right and plain(got.out) != plain(right.out):
        return "is silent, and its answer is wrong"
    if not is_right and not got.err.strip():
        return f"says nothing, and exits with {got.code}"
    for name, now in got.made.items():
        why = judge_file(name, now, right, got)
        if why:
            return why
    if is_right:
        for name in right.made:
            if name not in got.made and not ASIDE.search(name):
                return f"is silent, and makes no {name}"
    return None


def judge_again(right, got):
    """What is wrong with the same verb once more, without a fault."""
    if got.code != right.code:
        return f"exits with {got.code} when it is run again"
    for name, want in right.made.items():
        if ASIDE.search(name):
            continue
        if not same(name, got.made.get(name, b""), want):
            return f"leaves another {name} when it is run again"
    return None
