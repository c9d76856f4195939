#!/usr/bin/python3
# tests/cli/lib/agent.py -- posts batches to a collector, and reads its files.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: agent.py post URLFILE FIRST LAST [AGENT [ENOUGH]]   each until it is
#                              answered, and none more once a file ENOUGH is there
#        agent.py once URLFILE NUMBER               prints status and text
#        agent.py batch AGENT NUMBER                writes its bytes to stdout
#        agent.py files DIR                         prints AGENT NUMBER, each
# Written from the table in algos/pingmesh/wire.h, not from its code.
import glob
import http.client
import os
import struct
import sys
import time
import urllib.parse

HEAD, RECORD = "<4sHHIIQQQ", "<QQQIIHHIBBB5x"
assert struct.calcsize(HEAD) == 40 and struct.calcsize(RECORD) == 48


def fnv(data):
    h = 0xCBF29CE484222325
    for x in data:
        h = (h ^ x) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def batch(agent, number, n=3):
    src = 0x0A000001 + agent
    b = struct.pack(HEAD, b"CPMB", 1, 48, n, src, 77, number, 0)
    for i in range(n):
        rtt = 0 if i % 4 == 2 else 250_000  # outcome 2: no answer
        b += struct.pack(RECORD, 1000 * number + i, rtt, 0, src, src + 1,
                         40000 + i, 8765, 0, 0, 1, i % 4)
    return b + struct.pack("<Q", fnv(b))


def post(url_file, data):
    with open(url_file) as f:
        line = f.readline()
    if not line.endswith("\n"):
        raise OSError("nobody listens yet")
    url = urllib.parse.urlparse(line.split(": ")[0])
    c = http.client.HTTPConnection(url.hostname, url.port, timeout=5)
    try:
        c.request("POST", "/results", data)
        r = c.getresponse()
        return r.status, r.read().decode()
    finally:
        c.close()


def post_all(url_file, first, last, agent="0", enough=None):
    for number in range(int(first), int(last) + 1):
        if enough and os.path.exists(enough):
            return
        data = batch(int(agent), number)
        while True:
            try:
                status, text = post(url_file, data)
                assert status == 200, (status, text)
                break
            except (OSError, http.client.HTTPException):
                time.sleep(0.005)
        print(agent, number, flush=True)


def read_files(folder):
    for path in sorted(glob.glob(folder + "/*.cpmb")):
        with open(path, "rb") as f:
            data = f.read()
        at = 0
        while at < len(data):
            magic, version, size, n, src, born, number, lost = \
                struct.unpack_from(HEAD, data, at)
            assert (magic, version, size, born) == (b"CPMB", 1, 48, 77), at
            end = at + 40 + n * size
            (check,) = struct.unpack_from("<Q", data, end)
            assert check == fnv(data[at:end]), at
            for i in range(n):
                r = struct.unpack_from(RECORD, data, at + 40 + i * size)
                assert r[0] == 1000 * number + i and r[3] == src, r
            print(src - 0x0A000001, number)
            at = end + 8


if __name__ == "__main__":
    if sys.argv[1] == "post":
        post_all(*sys.argv[2:])
    elif sys.argv[1] == "batch":
        sys.stdout.buffer.write(batch(int(sys.argv[2]), int(sys.argv[3])))
    elif sys.argv[1] == "once":
        print(*post(sys.argv[2], batch(0, int(sys.argv[3]))), end="")
    else:
        read_files(sys.argv[2])
