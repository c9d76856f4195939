#!/usr/bin/python3
# tests/cli/lib/batches.py -- what a collector's files hold, record by record.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: batches.py records DIR   SRC DST OUTCOME RTT_MS LEVEL, each by time
#        batches.py lost DIR      SRC N_LOST, of each agent's newest batch
#        batches.py counters DIR  SRC N_PROBES N_CONNECTED P99_US, by end
#        batches.py strip DIR TO  the same files without counters
#        batches.py check DIR     fails if a batch or a record is there twice,
#                                 a pair was probed within 10 s, or a time is
#                                 not of the last hour
# Written from the table in algos/pingmesh/wire.h, not from its code.
import glob
import os
import socket
import struct
import sys
import time

HEAD, RECORD, WINDOW = "<4sHHIIQQQ", "<QQQIIHHIBBB5x", "<9Q"
RECORD_6, WINDOW_HTTP = "<QQQ16sHHIBBB5x", "<18Q"
# By version: the form, whether it is of IPv6, and the version of IPv4 it is read as.
VERSIONS = {1: (RECORD, 0, 1), 2: (WINDOW, 0, 2), 3: (RECORD, 0, 3),
            4: (RECORD_6, 1, 1), 5: (WINDOW, 1, 2), 6: (WINDOW_HTTP, 0, 2),
            7: (WINDOW_HTTP, 1, 2)}


def batches(folder):
    for path in sorted(glob.glob(folder + "/*.cpmb")):
        with open(path, "rb") as f:
            data = f.read()
        at = 0
        while at + 40 <= len(data):
            head = struct.unpack_from(HEAD, data, at)
            form, is_6, _ = VERSIONS[head[1]]
            size = struct.calcsize(form)
            first = at + (56 if is_6 else 40)
            end = first + size * head[3] + 8
            if end > len(data):
                break  # is being written
            rows = [struct.unpack_from(form, data, first + size * i)
                    for i in range(head[3])]
            yield as_of_4(head, rows, data[at + 40:at + 56])
            if sys.argv[1] == "strip" and head[1] == 1:
                keep(os.path.basename(path), data[at:end])
            at = end


def as_of_4(head, rows, src):
    form, is_6, version = VERSIONS[head[1]]
    if form == RECORD_6:
        rows = [r[:3] + (src,) + r[3:] for r in rows]
    return head[:1] + (version,) + head[2:4] + (src if is_6 else head[4],) + \
        head[5:], rows


def keep(file, batch):
    os.makedirs(sys.argv[3], exist_ok=True)
    with open(os.path.join(sys.argv[3], file), "ab") as f:
        f.write(batch)


def name(ip):
    if isinstance(ip, bytes):
        return socket.inet_ntop(socket.AF_INET6, ip)
    return socket.inet_ntoa(struct.pack(">I", ip))


def check(all_batches):
    ids = [(h[1], h[4], h[5], h[6]) for h, _ in all_batches]
    assert len(ids) == len(set(ids)), "a batch twice"
    records = [r for h, rs in all_batches for r in rs if h[1] == 1]
    assert len(records) == len(set(records)), "a record twice"
    last = {}
    for r in sorted(records):
        pair = r[3], r[4]
        gap = r[0] - last.get(pair, 0)
        # Each batch has the wall clock of its own upload.
        assert gap >= 9.99e9, (name(r[3]), name(r[4]), gap)
        last[pair] = r[0]
        assert abs(time.time() - r[0] * 1e-9) < 3600, r
    print(len(records))


found = list(batches(sys.argv[2]))
if sys.argv[1] == "check":
    check(found)
elif sys.argv[1] == "counters":
    for w, h in sorted((w[0][1:], h) for h, w in found if h[1] == 2):
        print(name(h[4]), w[1], w[2], w[7] // 1000)
elif sys.argv[1] == "lost":
    newest = {}
    for h, _ in (f for f in found if f[0][1] == 1):
        newest[h[4]] = max(newest.get(h[4], (0, 0, 0)), (h[5], h[6], h[7]))
    for src, (_, _, lost) in sorted(newest.items()):
        print(name(src), lost)
elif sys.argv[1] == "records":
    for r in sorted(r for h, rs in found for r in rs if h[1] == 1):
        print(name(r[3]), name(r[4]),
              ["connected", "refused", "timeout", "failed"][r[10]],
              r[1] // 1000000, r[9])
