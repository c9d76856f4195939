#!/usr/bin/env python3
# tests/cli/lib/plug_frames.py -- frames for Python's helper, good, cut and forged.
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: plug_frames.py LIVES [SEED [FIRST]]

Each life of the helper hears a description's worth of frames (frame.h), some of
which were changed. A good frame behind a bad one has the answer of a small and slow
reader; a bad one that is whole has one answer, too, or none if nobody waits for it;
and the helper ends by itself, without a word. All bounds are exact: nothing here
fails by chance. It prints the seed and the life that failed."""

import os
import random
import struct
import sys

sys.path.insert(0, os.environ["PLUG"])
import culprit_algo

COLUMNS = "n_retx off link up down set path n_sent n_lost is_probe set_first " \
    "path_off path_link"


def pad(b):
    return b + bytes(-len(b) % 8)


def frame(kind, *parts):
    body = b"".join(map(pad, parts))
    return struct.pack("<IIQ", kind, 0, len(body)) + body


def ints(code, values):
    return struct.pack(f"<{len(values)}{code}", *values)


class World:
    """A network, equal paths and windows, as numbers."""

    def __init__(self, r):
        self.hosts, self.links = r.randrange(4), r.randrange(6)
        self.r = r

    def draw(self, n):
        return [self.r.randrange(1 << 16) for _ in range(n)]

    def network(self):
        text = (f"topology {self.hosts} 1 {self.links}\ncolumns {COLUMNS}\n"
                f"param add {self.r.randrange(9)}\nnode a\nend\n").encode()
        return frame(4, ints("Q", [len(text)]), text,
                     ints("I", self.draw(self.links)),
                     ints("I", self.draw(self.links)),
                     ints("I", self.draw(self.hosts)), bytes(self.links))

    def paths(self):
        sets, paths, links = (self.r.randrange(4) for _ in range(3))
        return frame(6, struct.pack("<3Q", sets, paths, links),
                     ints("I", self.draw(sets + 1)),
                     ints("I", self.draw(paths + 1)),
                     ints("I", self.draw(links)))

    def window(self):
        flows, hops, rows = (self.r.randrange(5) for _ in range(3))
        return frame(1, struct.pack("<6Q", 1, 7, flows, hops, flows, 9),
                     struct.pack("<2Q", rows, 1),
                     ints("I", self.draw(flows)), ints("Q", self.draw(flows + 1)),
                     ints("I", self.draw(hops)),
                     *(ints("I", self.draw(rows)) for _ in range(6)),
                     bytes(rows))


def answer(w, p):
    """A sum over all that was read, which a shifted column would change."""
    parts = (w.n_retx, w.off, w.link, w.up, w.down, w.set, w.path, w.n_sent,
             w.n_lost, w.is_probe)
    more = [getattr(w, x, ()) for x in ("set_first", "path_off", "path_link")]
    total = sum((i + 1) * int(sum(int(v) for v in x))
                for i, x in enumerate((*parts, *more)))
    return culprit_algo.Answer([0], [total % 100003 + p.add])


def change(r, f):
    """Another frame of whole length: what is in it, or how much, is not as told."""
    kind, body = struct.unpack_from("<I", f)[0], bytearray(f[16:])
    what = r.randrange(5)
    if what == 0 and body:
        del body[r.randrange(len(body)):]
    elif what == 1:
        body += bytes(r.randrange(1, 40))
    elif what == 2 and len(body) >= 8:
        at = r.randrange(len(body) // 8) * 8
        body[at:at + 8] = struct.pack("<Q", r.choice(
            [0, 1, 3, 1 << 31, 1 << 40, (1 << 61) + 1, (1 << 63) - 1,
             (1 << 64) - 1]))
    elif what == 3:
        kind = r.choice([0, 1, 2, 3, 4, 5, 6, 7, 1 << 31])
    elif body:
        body[r.randrange(len(body))] ^= 1 << r.randrange(8)
    return struct.pack("<IIQ", kind, 0, len(body)) + body, kind


def make_life(r):
    """Frames, each with its kind and whether it was left as it was."""
    w, out = World(r), []
    for i in range(r.randrange(1, 12)):
        f = w.network() if i == 0 else r.choice([w.paths, w.window, w.window,
                                                 w.network])()
        kind, good = struct.unpack_from("<I", f)[0], True
        if r.randrange(4) == 0:
            g, kind = change(r, f)
            good, f = g == f, g
        out.append((f, kind, good))
    return out


def hear(frames):
    """What the helper says to FRAMES: its answers, without its description."""
    asked, said = os.memfd_create("asked"), os.memfd_create("said")
    os.write(asked, frames)
    os.lseek(asked, 0, os.SEEK_SET)
    os.dup2(asked, 3)
    keep = os.dup(said)
    os.dup2(said, 4)
    for fd in (asked, said):
        if fd not in (3, 4):
            os.close(fd)
    culprit_algo.serve(answer, name="sums", needs="tallies", columns=COLUMNS,
                       params=[("add", "u32", 0, 9, 0, "1", "is added")])
    os.lseek(keep, 0, os.SEEK_SET)
    with os.fdopen(keep, "rb") as f:
        return f.read().partition(b"\nend\n")[2]


def answers(said):
    """Kinds and bytes of what was said; an answer that is not whole is a fault."""
    out = []
    while said:
        kind, n, _, _, blamed = struct.unpack_from("<4IQ", said)
        size = 24 + {2: 12 * n, 3: n, 5: 0}[kind] + 4 * blamed
        assert len(said) >= size, "half an answer"
        out.append((kind, said[:size]))
        said = said[size:]
    return out


def check_life(life, cut):
    stream = b"".join(f for f, _, _ in life)
    got = answers(hear(stream[:len(stream) - cut]))
    whole, left = [], len(stream) - cut
    for f, kind, good in life:
        left -= len(f)
        if left >= 0:
            whole.append((f, kind, good))
    asked = [x for x in whole if x[1] != 6]
    assert len(got) == len(asked), f"{len(got)} answers to {len(asked)} frames"
    # A window is answered as if nothing bad had been between it and what it is
    # of; what is of something bad is refused, or is another good frame.
    network, paths, spoilt = None, b"", True
    for f, kind, good in whole:
        said = got.pop(0) if kind != 6 else None
        if kind == 4:
            network, paths, spoilt = (f, b"", not good)
            assert not good or said[0] == 5, said
        elif kind == 6:
            paths, spoilt = f, spoilt or not good
        elif kind != 1:
            assert said[0] == 3, said
            spoilt = True
        elif good and not spoilt:
            alone = answers(hear(network + paths + f))
            assert said[0] == 2 and said == alone[-1], said


def main():
    lives, seed = int(sys.argv[1]), int((sys.argv + ["20180409"])[2])
    for i in range(int(sys.argv[3]) if sys.argv[3:] else 0, lives):
        r = random.Random(f"{seed} {i}")
        life = make_life(r)
        total = sum(len(f) for f, _, _ in life)
        cut = r.randrange(total) if r.randrange(3) == 0 else 0
        try:
            check_life(life, cut)
        except BaseException as e:
            print(f"seed {seed}, life {i}: {type(e).__name__}: {e}")
            raise
    print(f"{lives} lives")


main()
