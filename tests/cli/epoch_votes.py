#!/usr/bin/python3
# tests/cli/epoch_votes.py -- 007's votes of an epoch's file, by h5py alone.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: epoch_votes.py EPOCH      Exit 77: a module is missing.
import sys

try:
    import h5py
    import numpy as np
except ImportError as e:
    print(e)
    sys.exit(77)

with h5py.File(sys.argv[1]) as f:
    failed = (f["flows/n_retx"][:] > 0) & (f["flows/in_window"][:] == 1)
    first, link = f["offsets/first_hop"][:], f["hops/link"][:]
    name = f["links/name"].asstr()[:]
votes = np.zeros(len(name))
for i in np.flatnonzero(failed):
    path = link[first[i]:first[i + 1]]
    known = path[path != 0xffffffff]
    votes[known] += 1 / max(len(known), 1)
for v, n in sorted(((-v, n) for v, n in zip(votes, name) if v > 0)):
    print(f"{n}\t{-v:.9f}")
