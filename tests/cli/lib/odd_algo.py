#!/usr/bin/env python3
# tests/cli/lib/odd_algo.py -- an algorithm from outside, good or in a bad way.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: odd_algo.py WAY. It accuses the link with most failed flows on it; at
# windows whose seed is divisible by 3 (or always, for ways that say so) it does
# what WAY names. Only what Python has.
import os
import signal
import struct
import sys
import time

WAY = sys.argv[1]
NONE = 0xffffffff
asked, said = os.fdopen(3, "rb"), os.fdopen(4, "wb")


def pad(n):
    return -(-n // 8) * 8


def say(b):
    said.write(b)
    said.flush()


def describe():
    if WAY == "dumb":
        sys.exit("I have nothing to say")
    if WAY == "future":
        return say(b"culprit 2\nname odd\nend\n")
    if WAY == "needy":
        return say(b"culprit 1\nname odd\nneeds flows telepathy\nend\n")
    if WAY == "column":
        return say(b"culprit 1\nname odd\ncolumns n_retxs\nend\n")
    if WAY == "endless":
        while True:
            say(b"doc " + b"x" * 4000 + b"\n")
    flags = b"says flags blames\n" if WAY == "blame" else b"says flags\n"
    say(b"culprit 1\nname odd\ndoc for tests\npaper none\nfuture thing\n"
        b"needs flows hops\n" + flags + b"columns n_retx off link\n"
        b"param scale f64 0.5 8 1 votes what a flow counts\nend\n")


def answer(ids, scores, flagged, blame=()):
    return struct.pack(f"<4IQ{len(ids)}d{len(ids)}I{len(blame)}I", 2,
                       len(ids), flagged, 0, len(blame), *scores, *ids, *blame)


def votes(body):
    _, _, flows, hops, _, _ = struct.unpack_from("<6Q", body)
    at = 48
    retx = struct.unpack_from(f"<{flows}I", body, at)
    at += pad(4 * flows)
    off = struct.unpack_from(f"<{flows + 1}Q", body, at)
    at += 8 * (flows + 1)
    link = struct.unpack_from(f"<{hops}I", body, at)
    n = {}
    for i in range(flows):
        for at_link in link[off[i]:off[i + 1]] if retx[i] else ():
            if at_link != NONE:
                n[at_link] = n.get(at_link, 0) + scale
    ids = sorted(n, key=lambda x: (-n[x], x))
    return answer(ids, [n[x] for x in ids], min(1, len(ids)))


def odd(good, n_links):
    global held
    if WAY == "range":
        return answer([n_links], [1], 0)
    if WAY == "twice":
        return answer([1, 1], [1, 1], 0)
    if WAY == "nan":
        return answer([1], [float("nan")], 1)
    if WAY == "many":
        return struct.pack("<4IQ", 2, NONE, 0, 0, 0)
    if WAY == "flagged":
        return answer([1], [1], 2)
    if WAY == "blame":
        return answer([1], [1], 1, [5])
    if WAY == "garbage":
        return b"Hello, I am an algorithm\n" * 40
    if WAY == "extra":
        return good + b"more"
    if WAY == "half":
        say(good[:-1])
        sys.exit(0)
    if WAY == "exit":
        print("I give up\x1b[31m", flush=True)
        os._exit(3)
    if WAY == "killed":
        os.kill(os.getpid(), signal.SIGSEGV)
    if WAY == "hang":
        time.sleep(3600)
    if WAY == "closes":
        os.close(4)
        time.sleep(3600)
    if WAY == "says":
        text = b"I don't like\nthis window"
        return struct.pack("<4IQ", 3, len(text), 0, 0, 0) + text
    if WAY == "leak":
        held = bytearray(5 << 30)
    return good


describe()
n_asked, scale = 0, 1.0
while head := asked.read(16):
    kind, _, n = struct.unpack("<IIQ", head)
    body = asked.read(n)
    if kind == 4:
        size, = struct.unpack_from("<Q", body)
        for line in body[8:8 + size].decode().splitlines():
            if line.startswith("topology"):
                n_links = int(line.split()[3])
            if line.startswith("param scale"):
                scale = float(line.split()[2])
        if WAY == "closed":
            os._exit(0)
        say(struct.pack("<4IQ", 5, 0, 0, 0, 0))
        continue
    n_asked += 1
    out = votes(body)
    if WAY == "loud":
        os.write(1, b"x" * 200000 + b"\n")
        os.write(2, b"y" * 200000 + b"\n")
    if WAY == "moody" and n_asked % 2 == 0:
        out = answer([0], [1], 1)
    if WAY == "always":
        out = struct.pack("<4IQ", 3, 5, 0, 0, 0) + b"never"
    if struct.unpack_from("<Q", body, 8)[0] % 3 == 0:
        out = odd(out, n_links)
    say(out)
