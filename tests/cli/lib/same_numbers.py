#!/usr/bin/python3
# tests/cli/lib/same_numbers.py -- a results file against its table.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: same_numbers.py READER FILE.h5 TABLE.tsv
# READER is h5py or an engine of xarray. What the table pools is pooled anew
# from the datasets: ratios are sums over sums, trial metrics are means.
import sys

reader, path, table = sys.argv[1:]
if reader == "h5py":
    import h5py

    f = h5py.File(path)

    def get(name):
        return f[name][...]

    algos = [a.decode() for a in f["algorithm"][...]]
else:
    import xarray as xr

    d = xr.open_dataset(path, engine=reader)

    def get(name):
        return d[name].values

    algos = [str(a) for a in d["algorithm"].values]

with open(table) as t:
    head, *rows = [line.rstrip("\n").split("\t") for line in t]
assert len(rows) == 4 and algos == ["vote", "it's one", "cover"], algos


def column(name):
    return [float(r[head.index(name)]) for r in rows]


# The axes: count, then the zip of rate and packets; the last varies fastest.
counts, rates = list(get("faults.count")), list(get("faults.rate"))
packets = list(get("traffic.packets"))
assert column("faults.count") == [c for c in counts for _ in rates]
assert column("faults.rate") == rates * len(counts)
assert column("traffic.packets") == packets * len(counts)

status = get("status")
assert status.shape == (2, 2, 3) and (status == 1).all(), status
n = 0
for name in "n_flows", "n_failed_flows", "n_drops", "n_faults":
    want = get(name).reshape(4, 3).mean(axis=1)
    assert max(abs(want - column(name))) <= 1e-12 * max(want), name
    n += 1
for i, algo in enumerate(algos):
    for part in "all", "fault":
        hits = get("hits_" + part)[i].reshape(4, 3).sum(axis=1)
        flows = get("flows_" + part)[i].reshape(4, 3).sum(axis=1)
        got = column(f"{algo}:accuracy_{part}")
        assert max(abs(hits / flows - got)) <= 1e-12, (algo, part)
        assert column(f"{algo}:accuracy_{part}_trials") == list(flows)
        n += 1
print(n, "columns agree")
