#!/usr/bin/python3
# tests/cli/lib/fleet_file.py -- a collector's file, of agents of a network of 8 servers.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: fleet_file.py BEGIN_S MINUTES [SLOW_US] >FILE
# 2 pods of 2 ToRs with 2 servers each. Each probes all others each 10 s from
# BEGIN_S on and sends what it saw after 5 minutes; from pod 1 connects take
# SLOW_US. Written from the table in algos/pingmesh/wire.h.
import struct
import sys

HEAD, RECORD = "<4sHHIIQQQ", "<QQQIIHHIBBB5x"
HOSTS = 8


def fnv(data):
    h = 0xCBF29CE484222325
    for x in data:
        h = (h ^ x) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def batch(src, number, begin_s, slow_us):
    records = b""
    n = 0
    for at in range(begin_s, begin_s + 300, 10):
        dst = (src + 1 + n % (HOSTS - 1)) % HOSTS
        us = slow_us if src // 4 == 1 and dst // 4 != 1 else 250
        records += struct.pack(
            RECORD, at * 10**9 + src, us * 1000 + n, 0, 0x0A000001 + src,
            0x0A000001 + dst, 40000 + n, 8765, 0, 0,
            0 if src // 2 == dst // 2 else 1, 0)
        n += 1
    b = struct.pack(HEAD, b"CPMB", 1, 48, n, 0x0A000001 + src, 77, number,
                    0) + records
    return b + struct.pack("<Q", fnv(b))


begin, minutes = int(sys.argv[1]), int(sys.argv[2])
slow = int((sys.argv + ["250"])[3])
for i in range(minutes // 5):
    for host in range(HOSTS):
        sys.stdout.buffer.write(batch(host, i + 1, begin + 300 * i, slow))
