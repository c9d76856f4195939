#!/usr/bin/python3
# tests/cli/h5_readers.py -- a results file as h5py and xarray see it.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: h5_readers.py FILE      Exit 0: good, 77: a module is missing.
#
# FILE holds plain_cube() of tests/rigs/random_cube.c: each metric is
# 1000 * column + 10 * point + run.
import sys

try:
    import h5py
    import numpy as np
    import xarray as xr
    import h5netcdf  # noqa: F401  (the engine)
except ImportError as e:
    print(e)
    sys.exit(77)

path = sys.argv[1]
with h5py.File(path) as f:
    assert f.attrs["figure"] == "plain", f.attrs["figure"]
    assert f.attrs["complete"] == 1 and f.attrs["schema_version"] == 4
    assert list(f["algorithm"].asstr()) == ["vote", "alg1"]
    for name, d in f.items():
        if isinstance(d, h5py.Group):
            continue
        for attr in "units", "long_name", "paper":
            assert isinstance(d.attrs[attr], str), (name, attr)
        for i, dim in enumerate(d.dims):
            assert h5py.h5ds.is_scale(d.id) or len(dim) == 1, (name, i)
    assert [len(d) for d in f["hits_all"].dims] == [1, 1, 1]

d = xr.open_dataset(path, engine="h5netcdf")
n_points, n_runs = d.sizes["faults.count"], d.sizes["run"]
assert list(d.algorithm.values) == ["vote", "alg1"]
assert list(d["faults.count"].values) == [i + 1 for i in range(n_points)]
assert d["faults.count"].attrs["units"] == "links"
assert list(d.run.values) == list(range(n_runs))
assert d.attrs["spec"] == "figure: plain\n"
assert (d.status == 1).all()
assert d.status.attrs["flag_meanings"].split()[1] == "done"
assert not any(k.startswith("phony_dim") for k in d.sizes)

cell = 10 * np.arange(n_points)[:, None] + np.arange(n_runs)[None, :]
names = list(d.data_vars)
trial = names[names.index("n_flows"):names.index("hits_all")]
algo = names[names.index("hits_all"):names.index("accuracy_all")]
assert len(trial) >= 14 and len(algo) >= 16, names
for m, name in enumerate(trial):
    assert (d[name].values == 1000 * m + cell).all(), name
for a, label in enumerate(["vote", "alg1"]):
    for m, name in enumerate(algo):
        want = 1000 * (len(trial) + a * len(algo) + m) + cell
        got = d[name].sel(algorithm=label)
        assert got.dims == ("faults.count", "run"), got.dims
        assert (got.values == want).all(), name
ratio = d.hits_all / d.flows_all
assert np.array_equal(d.accuracy_all.values, ratio.values)
