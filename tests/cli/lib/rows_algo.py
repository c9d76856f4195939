# tests/cli/lib/rows_algo.py -- the link that lost most of what it was sent.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Of rows of packets sent and lost, whose columns it checks first. The same as
# rows_plugin.c, to the last bit.
import numpy as np
import culprit_algo as ca


def check(w):
    n_sets, n_paths = len(w.set_from), len(w.path_off) - 1
    assert len(w.set_first) == n_sets + 1 and w.set_first[-1] == n_paths
    assert w.path_off[-1] == len(w.path_link)
    assert (np.diff(w.set_first.astype(int)) > 0).all()
    assert w.path_link.max(initial=0) < w.topo.n_links
    assert (w.set < n_sets).all() and (w.n_lost <= w.n_sent).all()
    known = w.path != ca.NONE
    assert (w.path[known] >= w.set_first[w.set[known]]).all()
    assert (w.path[known] < w.set_first[w.set[known] + 1]).all()
    assert w.telemetry in range(1, 16)
    assert (w.is_probe <= 1).all() and w.n_rows == len(w.up)
    assert known.all() or w.telemetry & 8


def rows(w, p):
    check(w)
    sent = np.zeros(w.topo.n_links)
    lost = np.zeros(w.topo.n_links)
    for cable in w.up, w.down:
        ends = cable != ca.NONE
        np.add.at(sent, cable[ends], w.n_sent[ends])
        np.add.at(lost, cable[ends], w.n_lost[ends])
    off = w.path_off.astype(int)
    for r in np.flatnonzero(w.path != ca.NONE):
        links = w.path_link[off[w.path[r]]:off[w.path[r] + 1]]
        np.add.at(sent, links, w.n_sent[r])
        np.add.at(lost, links, w.n_lost[r])
    link = np.flatnonzero(lost)
    score = lost[link] / sent[link]
    order = np.argsort(-score, kind="stable")
    return ca.Answer(link[order], score[order], flagged=1)


ca.serve(rows, name="rows", needs="tallies", says="flags",
         columns="up down set path n_sent n_lost is_probe set_first set_from "
                 "path_off path_link")
