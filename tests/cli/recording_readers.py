#!/usr/bin/python3
# tests/cli/recording_readers.py -- a recording as h5py and xarray see it.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: recording_readers.py FILE      Exit 0: good, 77: a module is missing.
#
# FILE holds 300 probes of two data centres, 42 to VIPs and 33 counters.
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

path = sys.argv[1]
sizes = {"probes": 300, "probes_index": 1, "vip_probes": 42,
         "vip_probes_index": 1, "counters": 33, "coverage": 1,
         "http": 0, "http_index": 0}
with h5py.File(path) as f:
    assert f.attrs["recording_version"] == 2
    assert f.attrs["service"] == "web=0-3,9; db=4", f.attrs["service"]
    assert list(f.attrs["shapes"]) == [3, 2, 2, 2, 4, 2, 3, 2, 4, 2]
    assert list(f.attrs["syn_wait_ns"][:3]) == [3e9, 6e9, 0]
    assert sorted(f) == sorted(sizes), list(f)
    for group, n in sizes.items():
        for name, d in f[group].items():
            assert d.shape == (n,), (group, name)
            if name == "row":
                continue
            assert isinstance(d.attrs["units"], str)
            assert isinstance(d.attrs["long_name"], str)
            assert d.compression == "gzip" and d.shuffle
    probes = {k: f["probes"][k][:] for k in f["probes"] if k != "row"}
    assert probes["outcome"].dtype == np.uint8
    assert (probes["rtt_ns"][probes["outcome"] == 1] == 0).all()

for engine in "h5netcdf", "netcdf4":
    for group, n in sizes.items():
        d = xr.open_dataset(path, group=group, engine=engine)
        assert dict(d.sizes) == {"row": n}, (engine, group, d.sizes)
        assert "row" not in d.variables, (engine, group)
        if group == "probes":
            for name, want in probes.items():
                assert np.array_equal(d[name].values, want), (engine, name)
