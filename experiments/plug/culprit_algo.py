# experiments/plug/culprit_algo.py -- an algorithm for culprit, in Python.
# SPDX-License-Identifier: GPL-3.0-or-later OR MIT
"""An algorithm for culprit in Python: a function of a window.

    import numpy as np
    import culprit_algo

    def mine(w, p):
        bad = np.repeat(w.n_retx > 0, np.diff(w.off))
        votes = np.bincount(w.link[bad], minlength=w.topo.n_links)
        link = np.flatnonzero(votes)
        link = link[np.argsort(-votes[link], kind="stable")]
        return culprit_algo.Answer(link, votes[link], flagged=p.accuse)

    culprit_algo.serve(mine, name="mine", doc="most votes",
        needs="flows hops", says="flags", columns="n_retx off link",
        params=[("accuse", "u32", 0, 100, 2, "links", "how many are accused")])

Scores that should be equal must be so to the last bit: sums of 1/h in another
order differ, so round them.
"""
import os
import struct
import sys
import sysconfig
import types

import numpy as np

TYPES = {"start_ns": "<u8", "src_host": "<u4", "dst_host": "<u4",
         "src_port": "<u2", "dst_port": "<u2", "n_pkts": "<u4",
         "srtt_us": "<u4", "n_retx": "<u4", "count_off": "<i8", "off": "<u8",
         "link": "<u4",
         # Of rows, with needs="tallies": packets sent and lost. Row r took
         # links up[r], down[r] and a path of set[r], path[r] if not NONE.
         "up": "<u4", "down": "<u4", "set": "<u4", "path": "<u4",
         "n_sent": "<u4", "n_lost": "<u4", "flow": "<u4", "is_probe": "u1",
         # Set s has paths set_first[s] to set_first[s + 1] - 1, path p has
         # links path_link[path_off[p]:path_off[p + 1]].
         "set_first": "<u4", "set_from": "<u4", "set_to": "<u4",
         "path_off": "<u4", "path_link": "<u4"}
ROWS = frozenset("up down set path n_sent n_lost flow is_probe".split())
PATHS = frozenset("set_first set_from set_to path_off path_link".split())
NONE = 0xffffffff  # no link: an unknown hop, or a flow blamed on nothing


class Answer:
    """Components, the accused first, with scores; a blamed one a flow."""

    def __init__(self, ids=(), scores=(), flagged=0, blame=()):
        ids = np.asarray(ids, "<u4")
        scores = np.asarray(scores, "<f8")
        blame = np.asarray(blame, "<u4")
        if len(ids) != len(scores):
            raise ValueError(f"{len(ids)} ids and {len(scores)} scores")
        head = struct.pack("<4IQ", 2, len(ids), min(int(flagged), len(ids)), 0,
                           len(blame))
        self.bytes = b"".join((head, scores.tobytes(), ids.tobytes(),
                               blame.tobytes()))


class _Body:
    """Parts of a frame, one after the other, each padded to 8 bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def array(self, dtype, n):
        n, size = int(n), np.dtype(dtype).itemsize
        if n * size > len(self.data) - self.at:
            raise ValueError(f"{n} values of {size} bytes at {self.at} of a "
                             f"frame of {len(self.data)}")
        # Of none there may be nothing to point at.
        out = (np.frombuffer(self.data, dtype, n, self.at) if n
               else np.empty(0, dtype))
        self.at += -(-out.nbytes // 8) * 8
        return out

    def end(self):
        if self.at != len(self.data):
            raise ValueError(f"a frame of {len(self.data)} bytes, of which "
                             f"{self.at} are known")


def _files():
    """What this program imported, but for Python's own and installed modules."""
    own = {os.path.realpath(p) for p in sysconfig.get_paths().values()}
    own |= {os.path.realpath(p) for p in sys.path
            if os.path.basename(p) in ("site-packages", "dist-packages")}
    files = {os.path.realpath(f) for m in list(sys.modules.values())
             if (f := getattr(m, "__file__", None))}
    return sorted(f for f in files if f.isprintable()
                  and not any(f.startswith(p + os.sep) for p in own))


def _describe(name, doc, paper, needs, says, columns, params):
    lines = ["culprit 1", f"name {name}", f"doc {doc}", f"paper {paper}",
             f"needs {needs}", f"says {says}", f"columns {columns}"]
    lines += ["param " + " ".join(str(x) for x in p) for p in params]
    lines += ["file " + f for f in _files()]
    return ("\n".join(lines + ["end"]) + "\n").encode()


def _open(body, params):
    text = body.array("u1", body.array("<u8", 1)[0]).tobytes().decode()
    topo = types.SimpleNamespace(node_name=[])
    values, columns = types.SimpleNamespace(), []
    kinds = {p[0]: float if p[1] == "f64" else int for p in params}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "topology":
            topo.n_hosts, topo.n_switches, topo.n_links = map(int, rest.split())
        elif word == "columns":
            columns = rest.split()
        elif word == "param":
            key, value = rest.split()
            setattr(values, key, kinds[key](value))
        elif word == "node":
            topo.node_name.append(rest)
    topo.link_from = body.array("<u4", topo.n_links)
    topo.link_to = body.array("<u4", topo.n_links)
    topo.host_tor = body.array("<u4", topo.n_hosts)
    topo.link_class = body.array("u1", topo.n_links)
    body.end()
    return topo, values, columns


def _paths(body, columns):
    sets, paths, links = body.array("<u8", 3).tolist()
    size = {"set_first": sets + 1, "set_from": sets, "set_to": sets,
            "path_off": paths + 1, "path_link": links}
    paths = {name: body.array(TYPES[name], size[name])
             for name in columns if name in PATHS}
    body.end()
    return paths


def _window(body, topo, columns, paths):
    complete, seed, flows, hops, ran, packets = body.array("<u8", 6).tolist()
    w = types.SimpleNamespace(topo=topo, complete=bool(complete), seed=seed,
                              n_flows=ran, n_packets=packets, **paths)
    size = {"off": flows + 1, "link": hops}
    if not ROWS.isdisjoint(columns):
        w.n_rows, w.telemetry = body.array("<u8", 2).tolist()
        size.update(dict.fromkeys(ROWS, w.n_rows))
    for name in columns:
        if name not in PATHS:
            setattr(w, name, body.array(TYPES[name], size.get(name, flows)))
    body.end()
    return w


def _failed(error):
    text = f"{type(error).__name__}: {error}".encode()[:4096]
    return struct.pack("<4IQ", 3, len(text), 0, 0, 0) + text


def _frames(asked):
    """Kinds and bodies, until the program is done, or has died half-way."""
    while len(head := asked.read(16)) == 16:
        kind, _, n = struct.unpack("<IIQ", head)
        if n > 1 << 40:
            sys.exit(f"culprit_algo: a frame of {n} bytes is none")
        data = asked.read(n)
        if len(data) < n:
            return
        yield kind, _Body(data)


class _Plug:
    """The network and the equal paths that were sent last, and who answers."""

    def __init__(self, answer, params):
        self.answer, self.params, self.topo = answer, params, None
        self.wrong = ValueError("a frame before that of a network")

    def open(self, body):
        self.topo, self.paths = None, {}
        self.topo, self.values, self.order = _open(body, self.params)
        self.wrong = None

    def take(self, kind, body):
        """What to say; nothing to equal paths, for which nobody waits: that they
        are wrong is the next window's answer, lest all be one too late."""
        try:
            if kind == 4:
                self.open(body)
                return struct.pack("<4IQ", 5, 0, 0, 0, 0)
            if kind not in (1, 6):
                raise ValueError(f"there is no frame {kind}")
            if self.wrong and (kind == 1 or not self.topo):
                raise self.wrong
            if kind == 1:
                w = _window(body, self.topo, self.order, self.paths)
                return self.answer(w, self.values).bytes
            self.paths, self.wrong = _paths(body, self.order), None
        except Exception as error:  # of this frame; the next may be good
            if kind != 1:
                self.wrong = error
            return _failed(error) if kind != 6 else b""
        return b""


def serve(answer, name, doc="", paper="none", needs="flows hops", says="",
          columns="n_retx off link", params=()):
    """Answer every window by answer(window, parameters), until the end."""
    with os.fdopen(3, "rb") as asked, os.fdopen(4, "wb") as said:
        said.write(_describe(name, doc, paper, needs, says, columns, params))
        said.flush()
        plug = _Plug(answer, params)
        for kind, body in _frames(asked):
            said.write(plug.take(kind, body))
            said.flush()
