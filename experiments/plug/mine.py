# experiments/plug/mine.py -- a vote in Python, to begin one's own with.
# SPDX-License-Identifier: GPL-3.0-or-later OR MIT
import numpy as np
import culprit_algo


def mine(w, p):
    n_hops = np.diff(w.off).astype(int)
    known = np.repeat((w.n_retx > 0) / np.maximum(n_hops, 1), n_hops)
    good = w.link != culprit_algo.NONE
    votes = np.bincount(w.link[good], known[good], w.topo.n_links).round(9)
    link = np.flatnonzero(votes)
    link = link[np.argsort(-votes[link], kind="stable")]
    return culprit_algo.Answer(link, votes[link], flagged=p.accuse)


culprit_algo.serve(mine, name="mine", doc="the links with the most votes",
                   needs="flows hops", says="flags",
                   columns="n_retx off link",
                   params=[("accuse", "u32", 0, 100, 2, "links",
                            "how many are accused")])
