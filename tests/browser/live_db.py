# tests/browser/live_db.py -- a database as jobs write it, of a network that is made up.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: live_db.py SCHEMA.sql OUT.db N_PODS N_WINDOWS END_S [hostile]
# The last window of 10 minutes ends at END_S. Windows go through the four patterns
# of the paper: normal, pod down, pod failure, spine failure. With `hostile`, texts
# try to be markup.
import math
import random
import sqlite3
import sys

schema, out, n_pods, n_windows, end = sys.argv[1:6]
n_pods, n_windows, end = int(n_pods), int(n_windows), int(end)
hostile = "hostile" in sys.argv
rng = random.Random(20150817)
PATTERNS = "normal", "pod_down", "pod_failure", "spine_failure"
BAD = "<script>xss = 1</script>", "\"it's\" & <b>\u2028</b>", \
    "<img src=x onerror='xss = 1'>"
SERVICES = BAD if hostile else ("web", "search", "storage")
N_SERVERS = n_pods * 8
PLACE = {"5min": 0, "10min": 1, "1hour": 2, "1day": 3}

db = sqlite3.connect(out)
db.executescript("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")
db.executescript(open(schema).read())
db.execute("PRAGMA user_version = 1")
db.execute(f"PRAGMA application_id = {0x43554c50}")


def add(table, *values):
    db.execute(f"INSERT INTO {table} VALUES "
               f"({', '.join('?' * len(values))})", values)


def window(job, begin, length, n_records):
    row = begin * 4 + PLACE[job]
    ns = 10**9
    add("window", row, job, begin * ns, (begin + length) * ns,
        (begin + length + 600) * ns, (begin + length + 601) * ns,
        "made" if n_records else "empty", n_records, 0, 0, 1)
    return row


def cell(pattern, src, dst, bad):
    """p99_us, n_success, n_drop of a pair; None: there is no row."""
    n = rng.randint(900, 1000)
    if pattern == "pod_down" and src == bad:
        return None
    if pattern == "pod_down" and dst == bad:
        return None, 0, 0
    slow = pattern == "pod_failure" and bad in (src, dst) or \
        pattern == "spine_failure" and src != dst
    if slow:
        return rng.uniform(3.0e6, 3.01e6), n, round(n * rng.uniform(.02, .04))
    return rng.lognormvariate(math.log(600), .25), n, int(rng.random() < .02)


def scope(row, kind, number, name, p99, drop, verdict=None):
    n = 40000
    add("sla", row, 0, kind, number, name, n, round(n * drop), drop, 200.5,
        p99, None, verdict)


def fill(row, pattern, bad):
    slow = pattern not in ("normal", "pod_down")
    for src in range(n_pods):
        for dst in range(n_pods):
            c = cell(pattern, src, dst, bad)
            if c:
                p99, n, drop = c
                add("pod_pair", row, 0, src, dst, n, drop, 0 if n else 960,
                    drop / n if n else None, 210.5 if n else None, p99)
    drop = .016 if pattern == "spine_failure" else .004 if slow else 1.2e-5
    p99 = 3.0e6 if pattern == "spine_failure" else 4300 if slow else 690
    scope(row, "dc", 0, None, p99 * rng.uniform(.95, 1.05),
          drop * rng.uniform(.8, 1.2))
    for i, name in enumerate(SERVICES):
        hit = slow and (i == 0 or pattern == "spine_failure")
        scope(row, "service", i, name,
              (3.0e6 if hit else 700 + 90 * i) * rng.uniform(.9, 1.1),
              (.02 if hit else 1e-5) * rng.uniform(.6, 1.4),
              "network" if hit else "not_network")
        if hit:
            add("alert", row, 0, "p99_us", "service", i, name, 3.0e6, 5000.,
                None)
            add("alert", row, 0, "drop_rate", "service", i, name, .02, .001,
                None)
    if pattern != "normal":
        add("alert", row, 0, "pattern", "dc", 0, None, None, None,
            BAD[0] if hostile else pattern)
    n_alerts = 0 if pattern == "normal" else 5
    # A pattern that this page does not know is a word all the same.
    add("summary", row, 0, 40000, 8 if pattern == "pod_down" else 0, .99,
        drop, float(p99), n_alerts,
        pattern, None, None)


first = end - n_windows * 600
for i in range(n_windows):
    begin = first + i * 600
    pattern = PATTERNS[i * 4 // n_windows] if n_windows < 12 else \
        PATTERNS[(i // 3) % 4]
    row = window("10min", begin, 600, 40000)
    fill(row, pattern, 3 % n_pods)
row = window("1hour", end // 3600 * 3600 - 3600, 3600, 240000)
scope(row, "dc", 0, None, 700., 1e-5)
add("black_hole", row, 0, 7, 4, 3, .75, BAD[2] if hostile else "reload")
add("random_drop", row, 0, 1, 2, 60000, 900, .014, .016)
for name, ok in ("on_time", 1), ("data", 1), ("servers", 0):
    add("watchdog", (end - 600) * 4 + 1, name, ok,
        BAD[0] if hostile else "40 of 48 servers were heard of"
        if name == "servers" else "as it should be")
for s in range(N_SERVERS):
    ip = (10 << 24) + 1 + s
    address = ".".join(str(ip >> k & 255) for k in (24, 16, 8, 0))
    last = end - (4000 if s // 8 == 3 else rng.randint(1, 60))
    add("agent", ip, address, 0, s, (first - 9) * 10**9, last * 10**9,
        first * 10**9, 1, 1000 + s, 40000 + s, s % 5)
db.commit()
db.close()
