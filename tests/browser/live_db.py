# tests/browser/live_db.py -- a database as jobs write it, of a network that is made up.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: live_db.py SCHEMA.sql OUT.db N_PODS N_WINDOWS END_S [hostile]
# The last window of 10 minutes ends at END_S. Windows go through the four patterns
# of the paper: normal, pod down, pod failure, spine failure. With `hostile`, texts
# try to be markup, and there is a second data centre, of two pods.
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
for step in "_2.sql", "_3.sql":
    db.executescript(open(schema.replace(".sql", step)).read())
db.execute("PRAGMA user_version = 3")
db.execute(f"PRAGMA application_id = {0x43554c50}")


KNOWN = {}


def add(table, **row):
    """A row; what must have a value and is not told is 0."""
    if table not in KNOWN:
        KNOWN[table] = [c[1] for c in db.execute(
            f"PRAGMA table_info({table})") if c[3] and c[4] is None]
    row = {**dict.fromkeys(KNOWN[table], 0), **row}
    db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES "
               f"({', '.join('?' * len(row))})", list(row.values()))


def window(job, begin, length, n_records):
    row = begin * 4 + PLACE[job]
    ns = 10**9
    add("window", id=row, job=job, from_ns=begin * ns,
        to_ns=(begin + length) * ns, due_ns=(begin + length + 600) * ns,
        made_ns=(begin + length + 601) * ns, n_records=n_records,
        state="made" if n_records else "empty")
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
    add("sla", window=row, scope=kind, scope_id=number, name=name, n_success=n,
        n_drop=round(n * drop), drop_rate=drop, p50_us=200.5, p99_us=p99,
        verdict=verdict)


def fill(row, pattern, bad):
    slow = pattern not in ("normal", "pod_down")
    for src in range(n_pods):
        for dst in range(n_pods):
            c = cell(pattern, src, dst, bad)
            if c:
                p99, n, drop = c
                add("pod_pair", window=row, src_pod=src, dst_pod=dst,
                    n_success=n, n_drop=drop, n_failed=0 if n else 960,
                    drop_rate=drop / n if n else None,
                    p50_us=210.5 if n else None, p99_us=p99)
    drop = .016 if pattern == "spine_failure" else .004 if slow else 1.2e-5
    p99 = 3.0e6 if pattern == "spine_failure" else 4300. if slow else 690.
    scope(row, "dc", 0, None, p99 * rng.uniform(.95, 1.05),
          drop * rng.uniform(.8, 1.2))
    for i, name in enumerate(SERVICES):
        hit = slow and (i == 0 or pattern == "spine_failure")
        scope(row, "service", i, name,
              (3.0e6 if hit else 700 + 90 * i) * rng.uniform(.9, 1.1),
              (.02 if hit else 1e-5) * rng.uniform(.6, 1.4),
              "network" if hit else "not_network")
        if hit:
            for kind, value, bound in ("p99_us", 3e6, 5000.), \
                    ("drop_rate", .02, .001):
                add("alert", window=row, kind=kind, scope="service",
                    scope_id=i, name=name, value=value, bound=bound)
    if pattern != "normal":
        add("alert", window=row, kind="pattern", scope="dc",
            says=BAD[0] if hostile else pattern)
    add("summary", window=row, n_probes=40000, seen_share=.99, drop_rate=drop,
        n_silent=8 if pattern == "pod_down" else 0, p99_us=p99,
        n_alerts=0 if pattern == "normal" else 5, pod_pattern=pattern)
    if hostile:
        add("summary", window=row, dc=1, n_probes=9, pod_pattern="normal")
        for src, dst in (0, 0), (0, 1), (1, 0), (1, 1):
            add("pod_pair", window=row, dc=1, src_pod=src, dst_pod=dst,
                n_success=900, drop_rate=0., p50_us=200., p99_us=600.)


def gets(row, bad):
    """HTTP pings of a window: of service 0 one in ten is cut where it is BAD."""
    for kind, number, cut in ("dc", 0, 40), ("service", 0, 400), \
            ("service", 1, 0):
        add("http", window=row, scope=kind, scope_id=number, n_asked=4000,
            n_ok=4000 - bad * cut, n_cut=bad * cut, p50_us=900.5,
            p99_us=2500.5)
        if bad and cut > 40:
            add("alert", window=row, kind="http_failed", scope=kind,
                scope_id=number, name=SERVICES[number], value=.1, bound=.01)


for key, value in ("max_drop_rate", 1e-3), ("max_p99_us", 5000), \
        ("yellow_us", 4000), ("red_us", 5000), ("max_http_failed", .01), \
        ("max_http_p99_us", 50000):
    add("meta", key=key, value=str(value))
first = end - n_windows * 600
for i in range(n_windows):
    begin = first + i * 600
    pattern = PATTERNS[i * 4 // n_windows] if n_windows < 12 else \
        PATTERNS[(i // 3) % 4]
    row = window("10min", begin, 600, 40000)
    fill(row, pattern, 3 % n_pods)
    gets(row, i == n_windows - 1)
row = window("1hour", end // 3600 * 3600 - 3600, 3600, 240000)
scope(row, "dc", 0, None, 700., 1e-5)
add("black_hole", window=row, tor=7, n_alive=4, n_symptom=3, score=.75,
    action=BAD[2] if hostile else "reload")
add("random_drop", window=row, pod=1, pod2=2, n_success=60000, n_drop=900,
    drop_rate_lo=.014, drop_rate_hi=.016)
for name, ok in ("on_time", 1), ("data", 1), ("servers", 0):
    add("watchdog", window=(end - 600) * 4 + 1, name=name, ok=ok,
        says=BAD[0] if hostile else "as it should be" if ok
        else "40 of 48 servers were heard of")
for s in range(N_SERVERS):
    ip = (10 << 24) + 1 + s
    address = ".".join(str(ip >> k & 255) for k in (24, 16, 8, 0))
    last = end - (4000 if s // 8 == 3 else rng.randint(1, 60))
    add("agent", ip=ip, address=address, server=s,
        first_seen_ns=(first - 9) * 10**9, last_seen_ns=last * 10**9,
        born_ns=first * 10**9, n_starts=1, n_batches=1000 + s,
        n_records=40000 + s, n_lost=s % 5,
        list=None if s == 5 else "" if s == 6 else
        BAD[0] if hostile and s == 7 else "00000000000000aa" if s < 3
        else "fedcba9876543210", list_issued_ns=5 if s < 3 else 7,
        list_told_ns=last * 10**9)
db.commit()
db.close()
