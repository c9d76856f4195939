#!/usr/bin/python3
# tests/cli/epoch_readers.py -- an epoch as h5py and xarray see it, and h5py's own.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: epoch_readers.py FILE OWN      Exit 0: good, 77: a module is missing.
#
# FILE holds all 960 flows of a Clos of 32 hosts. OWN is written: four flows of
# a leaf-spine of two leaves and one spine, without the truth.
import sys

try:
    import h5py
    import numpy as np
    import xarray as xr
    import h5netcdf  # noqa: F401  (an engine)
    import netCDF4  # noqa: F401
except ImportError as e:
    print(e)
    sys.exit(77)

path, own = sys.argv[1:]
with h5py.File(path) as f:
    assert f.attrs["epoch_version"] == 2 and f.attrs["all_flows"] == 1
    assert list(f.attrs["clos"]) == [2, 4, 3, 2, 4]
    sizes = {name: len(g["row"]) for name, g in f.items()}
    assert sizes["nodes"] == 32 + 8 + 6 + 2 and sizes["flows"] == 960
    assert sizes["offsets"] == 961 and sizes["hops"] == sizes["hop_truth"]
    name = f["nodes/name"].asstr()[:]
    assert name[31] == "host31" and name[32] == "tor0", name[30:34]
    for i in 0, 70:
        ends = name[f["links/from"][i]], name[f["links/to"][i]]
        assert f["links/name"].asstr()[i] == "->".join(ends)
    meanings = f["links/class"].attrs["flag_meanings"].split()
    assert meanings[f["links/class"][0]] == "host-tor"
    off, drops = f["offsets/first_hop"][:], f["hop_truth/drops"][:]
    sums = np.add.reduceat(drops, off[:-1])
    assert (sums == f["flow_truth/n_drops"][:]).all()
    assert (sums == f["flows/n_retx"][:]).all()
    assert (f["hops/link"][:] == f["hop_truth/link"][:]).all()
    # Each flow's links join, from its source to its destination.
    a, b = f["links/from"][:], f["links/to"][:]
    link = f["hops/link"][:]
    inner = np.ones(len(link), bool)
    inner[off[:-1]] = False
    assert (a[link[inner]] == b[link[:-1][inner[1:]]]).all()
    assert (a[link[off[:-1]]] == f["flows/src_host"][:]).all()
    assert (b[link[off[1:] - 1]] == f["flows/dst_host"][:]).all()

for engine in "h5netcdf", "netcdf4":
    for group, n in sizes.items():
        d = xr.open_dataset(path, group=group, engine=engine)
        assert dict(d.sizes) == {"row": n}, (engine, group, d.sizes)

with h5py.File(own, "w") as f:
    f.attrs["epoch_version"] = 1
    f["nodes/kind"] = np.array([0, 0, 1, 1, 1], np.uint8)
    f["nodes/name"] = ["a", "b", "leaf0", "leaf1", "spine0"]
    cables = [(0, 2), (1, 3), (2, 4), (3, 4)]
    ends = np.array([e for a, b in cables for e in ((a, b), (b, a))], np.uint32)
    f["links/from"], f["links/to"] = ends[:, 0], ends[:, 1]
    f["flows/src_host"] = np.array([0, 0, 0, 1], np.uint32)
    f["flows/dst_host"] = np.array([1, 1, 1, 0], np.uint32)
    f["flows/n_pkts"] = np.array([50, 50, 50, 50], np.uint32)
    f["flows/n_retx"] = np.array([3, 1, 0, 0], np.uint32)
    paths = [[0, 4, 7, 3], [4], [0, 4, 7, 3], [2, 6, 5, 1]]
    f["offsets/first_hop"] = np.cumsum([0] + [len(p) for p in paths])
    f["hops/link"] = np.concatenate(paths).astype(np.uint32)
