#!/usr/bin/python3
# tests/cli/lib/batches.py -- what a collector's files hold, record by record.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: batches.py records DIR   SRC DST OUTCOME RTT_MS LEVEL, each by time
#        batches.py lost DIR      SRC N_LOST, of each agent's newest batch
#        batches.py check DIR     fails if a batch or a record is there twice,
#                                 a pair was probed within 10 s, or a time is
#                                 not of the last hour
# Written from the table in algos/pingmesh_wire.h, not from its code.
import glob
import socket
import struct
import sys
import time

HEAD, RECORD = "<4sHHIIQQQ", "<QQQIIHHIBBB5x"


def batches(folder):
    for path in sorted(glob.glob(folder + "/*.cpmb")):
        with open(path, "rb") as f:
            data = f.read()
        at = 0
        while at + 40 <= len(data):
            head = struct.unpack_from(HEAD, data, at)
            n = head[3]
            if at + 40 + 48 * n + 8 > len(data):
                break  # is being written
            yield head, [struct.unpack_from(RECORD, data, at + 40 + 48 * i)
                         for i in range(n)]
            at += 40 + 48 * n + 8


def name(ip):
    return socket.inet_ntoa(struct.pack(">I", ip))


def check(all_batches):
    ids = [(h[4], h[5], h[6]) for h, _ in all_batches]
    assert len(ids) == len(set(ids)), "a batch twice"
    records = [r for _, rs in all_batches for r in rs]
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
elif sys.argv[1] == "lost":
    newest = {}
    for h, _ in found:
        newest[h[4]] = max(newest.get(h[4], (0, 0, 0)), (h[5], h[6], h[7]))
    for src, (_, _, lost) in sorted(newest.items()):
        print(name(src), lost)
else:
    for r in sorted(r for _, rs in found for r in rs):
        print(name(r[3]), name(r[4]),
              ["connected", "refused", "timeout", "failed"][r[10]],
              r[1] // 1000000, r[9])
