#!/bin/bash
# tests/cli/samples.sh -- samples of hosts: in from other programs, and out.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

if "$CULPRIT" samples import x -o y 2>&1 | grep -q 'built without jansson'; then
	echo "SKIP built without jansson"
	exit 0
fi

# Files as of the public data: 3 racks of 4 hosts, one run each, whose bursts are
# buckets above THRESHOLD bytes, with up to GAP lower ones between.
make_public() { # FOLDER THRESHOLD GAP
	mkdir -p "$1"
	python3 - "$@" <<'END'
import gzip, json, random, sys
folder, threshold, gap = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random.seed(7)
def bursts(series):
    out = []
    for i, x in enumerate(series):
        if x <= threshold:
            continue
        if out and i - out[-1][0] - out[-1][1] <= gap:
            out[-1][1] = i - out[-1][0] + 1
        else:
            out.append([i, 1])
    return [{"Position": p, "Length": n, "Volume": 1} for p, n in out]
for rack in range(3):
    for host in range(4):
        n = 2000 if host else 1500
        i = [random.randrange(1562500) if random.random() < .3 else 0
             for _ in range(n)]
        run = {"rack_id": rack, "server_hostname": f"h{rack}-{host}",
               "sampling_freq": 1000, "ingressBytes": i,
               "egressBytes": [x // 2 for x in i],
               "inRxmitBytes": [x // 100 for x in i],
               "outRxmitBytes": [x // 200 for x in i],
               "inCongestionExperiencedBytes": [x // 3 for x in i],
               "connections": [x % 90 for x in i],
               "burst_result": {"ingress": {"1650000000000000": bursts(i)}}}
        with gzip.open(f"{folder}/rackId_{rack}_hostId_{host}.txt.gz",
                       "wt") as f:
            json.dump(run, f)
END
}

published_runs_are_taken() {
	make_public public 781250 0
	run_for 0 "$CULPRIT" samples import public -o x.h5
	says '^12 files: 12 runs of 12 hosts in 3 racks -> x.h5$' stdout
	says '; 0.00 % differ$' stdout
	[[ ! -s stderr ]]
	run_for 0 "$CULPRIT" samples export x.h5 --csv
	python3 - <<'END'
import csv, gzip, json
want = {}
for rack in range(3):
    for host in range(4):
        run = json.load(gzip.open(
            f"public/rackId_{rack}_hostId_{host}.txt.gz"))
        for b in range(len(run["ingressBytes"])):
            if run["ingressBytes"][b]:
                want[4 * rack + host, b] = [run[k][b] for k in (
                    "ingressBytes", "egressBytes",
                    "inCongestionExperiencedBytes", "inRxmitBytes",
                    "outRxmitBytes", "connections")]
for row in csv.DictReader(open("stdout")):
    k = int(row["run"]), int(row["bucket"])
    assert int(row["host"]) == k[0] and int(row["rack"]) == k[0] // 4
    assert int(row["t_ns"]) == 1650000000 * 10**9 + k[1] * 10**6
    assert int(row["width_ns"]) == 10**6
    assert want.pop(k) == [int(row[c]) for c in (
        "in_bytes", "out_bytes", "in_ce", "in_retx", "out_retx", "conns")]
assert not want
END
}

# What is exported is imported as the same samples, whatever is done twice.
there_and_back_it_is_the_same() {
	make_public public 781250 0
	run_for 0 "$CULPRIT" samples import public -o x.h5
	run_for 0 "$CULPRIT" samples export x.h5 -o out
	says '^12 runs -> out$' stdout
	run_for 2 "$CULPRIT" samples export x.h5 -o out
	says 'rackId_0_hostId_0_run_0.txt.gz is there already; --force' stderr
	sha256sum out/* >sums
	run_for 0 "$CULPRIT" samples export x.h5 -o out --force
	sha256sum --quiet -c sums
	run_for 0 "$CULPRIT" samples import out -o y.h5
	says ' 0.00 % differ$' stdout
	run_for 0 "$CULPRIT" samples import out -o y.h5
	run_for 0 "$CULPRIT" samples export x.h5 --csv
	mv stdout x.csv
	run_for 0 "$CULPRIT" samples export y.h5 --csv
	cut -d, -f1,2,5- x.csv | sort >x.sorted
	# Runs go by the order of files, and 10 comes before 2.
	[[ $(cut -d, -f1,2,7- x.csv | sort | sha256sum) = \
	    $(cut -d, -f1,2,7- stdout | sort | sha256sum) ]]
}

another_definition_of_bursts_is_found() {
	make_public public 468750 2
	run_for 0 "$CULPRIT" samples import public -o x.h5
	says 'best fit: above 0.3 of the line, up to 2 buckets between; 0.00 %' \
	    stdout
}

what_is_not_whole_is_left_out_and_counted() {
	make_public public 781250 0
	cd public
	echo '{' >a.json
	echo '{"rack_id": 1}' >b.json
	echo '{"rack_id": 1, "server_hostname": "x"}' >c.json
	echo '{"rack_id": 1, "server_hostname": "x", "ingressBytes": [1, -2]}' \
	    >d.json
	echo '{"rack_id": 1, "server_hostname": "x", "ingressBytes": [1, 2],
	    "egressBytes": [1]}' >e.json
	echo '{"rack_id": 1, "server_hostname": "x", "ingressBytes": "no"}' \
	    >f.json
	echo '{"rack_id": 1, "server_hostname": "x", "ingressBytes": [100, 0],
	    "sampling_freq": 250, "inRxmitBytes": [101, 0], "burst_result": {"ingress": {"1": [
	    {"Position": 4}]}}}' >g.json
	echo '{"rack_id": 1, "server_hostname": "x", "ingressBytes": [1],
	    "start_ns": 9000000000000000000}' >i.json
	head -c 300 rackId_0_hostId_1.txt.gz >h.txt.gz
	echo 'not a run' >README.md
	cd ..
	run_for 0 "$CULPRIT" samples import public -o x.h5
	says '^21 files: 13 runs of 13 hosts in 3 racks' stdout
	says '^2 left out: it is no JSON.*public/a.json \(line 2: ' stdout
	says '^1 left out: it lacks rack_id or server_h.* public/b.json$' stdout
	says '^1 left out: it lacks ingressBytes; .* public/c.json$' stdout
	says '^3 left out: it has a series of .* public/d.json$' stdout
	says '^1 left out: it starts after .* public/i.json$' stdout
	says '^1 buckets had more bytes marked or sent again' stdout
	says '^1 bursts lack Position or Length$' stdout
	says '^sampling_freq is from 250 to 1000: buckets may be of' stdout
}

# Bursts, contention and causes against a few lines of Python on the same runs.
what_is_told_is_what_python_counts() {
	make_public public 781250 0
	run_for 0 "$CULPRIT" samples import public -o x.h5
	run_for 0 "$CULPRIT" samples bursts x.h5 --json
	mv stdout bursts
	run_for 0 "$CULPRIT" samples rack x.h5
	mv stdout rack
	run_for 0 "$CULPRIT" samples cause x.h5 --all
	mv stdout cause
	python3 - <<'END'
import csv, gzip, json
runs = {(r, h): json.load(gzip.open(f"public/rackId_{r}_hostId_{h}.txt.gz"))
        for r in range(3) for h in range(4)}
told = sorted((b["rack"], b["host"], round(b["t_ms"]), round(b["ms"]))
              for b in json.load(open("bursts")))
want = sorted((r, f"h{r}-{h}", b["Position"], b["Length"])
              for (r, h), x in runs.items()
              for b in next(iter(x["burst_result"]["ingress"].values())))
assert told == want and len(want) > 1000
racks = list(csv.DictReader(open("rack"), delimiter="\t"))
assert [int(x["rack"]) for x in racks] == [0, 1, 2]
for r, x in enumerate(racks):
    n = [sum(runs[r, h]["ingressBytes"][k] > 781250 for h in range(4))
         for k in range(1500)]
    assert abs(float(x["contention_mean"]) - sum(n) / 1500) < 1e-5
    assert int(x["contention_max"]) == max(n)
    assert int(x["bursts"]) == sum(w[0] == r for w in want)
    assert x["start_ns"] == "1650000000000000000"
causes = list(csv.DictReader(open("cause"), delimiter="\t"))
assert len(causes) == 12
for x in causes:
    i = runs[int(x["rack"]), int(x["host"][3:])]["ingressBytes"]
    assert int(x["retx_packets"]) == sum(
        max(1, (v // 100 + 750) // 1500) for v in i if v >= 100)
END
}

a_run_is_drawn() {
	make_public public 781250 0
	run_for 0 "$CULPRIT" samples import public -o x.h5
	run_for 0 "$CULPRIT" samples show x.h5 h1-2
	says '^h1-2, run 6 of all: 2000 ms in 2000 buckets of 1 ms$' stdout
	[[ $(wc -l <stdout) = 13 ]]
	run_for 0 "$CULPRIT" samples show x.h5 h1-2 -o x.svg
	xmllint --noout x.svg
	run_for 2 "$CULPRIT" samples show x.h5 h9
	says 'x.h5 has no host "h9"' stderr
	run_for 2 "$CULPRIT" samples show x.h5 h1-2 --run 1
	says 'the host has 1 runs, from 0 on; there is no 1' stderr
	run_for 2 "$CULPRIT" samples rack x.h5 --width 3ms
	says 'no run with buckets of 3 ms; it has 12 of 1 ms' stderr
	[[ ! -s stdout ]]
}

# Of runs of several widths those are read that more than half have, whichever came
# first; where none has, one must be named.
widths_are_chosen_by_most_or_by_name() {
	cat >racks.yaml <<-END
		figure: racks
		plane: rack
		topology: { n_pods: 1, n_tors: 2, n_t1: 1, n_t2: 1, n_hosts: 4 }
		rack: { length: 0.4, widths: [1ms, 10ms] }
		algorithms: [loss_cause]
	END
	run_for 0 "$CULPRIT" samples run racks.yaml -o x.h5
	run_for 2 "$CULPRIT" samples rack x.h5
	says 'several widths, .* 8 of 1 ms, 8 of 10 ms. --width says' stderr
	[[ ! -s stdout ]]
	run_for 0 "$CULPRIT" samples rack x.h5 --width 10ms
	mv stdout ten
	run_for 0 "$CULPRIT" samples rack x.h5 --width 1ms
	not cmp -s stdout ten
	mv stdout one
	run_for 0 "$CULPRIT" samples export x.h5 -o mixed
	rm mixed/*_run_4.txt.gz # is of 10 ms
	run_for 0 "$CULPRIT" samples import mixed -o y.h5
	run_for 0 "$CULPRIT" samples rack y.h5
	cut -f2- stdout >most
	cut -f2- one | cmp - most
}

# From a spec to a drawing and an answer; the truth is at hand beside it.
a_cell_is_run_and_read() {
	cat >racks.yaml <<-END
		figure: racks
		plane: rack
		topology: { n_pods: 1, n_tors: 2, n_t1: 1, n_t2: 1, n_hosts: 24 }
		rack: { length: 1, traffic: { ml_racks: 0.5 } }
		faults: { rate: 0.01, links: ["tor1->host30"] }
		algorithms: [loss_cause]
	END
	run_for 0 "$CULPRIT" samples run racks.yaml
	says '^racks: 48 hosts in 2 racks, 48 runs, ' stdout
	says ' -> results/out/racks.samples.h5$' stdout
	mv results/out/racks.samples.h5 x.h5
	run_for 0 "$CULPRIT" samples run racks.yaml -o y.h5
	cmp x.h5 y.h5
	run_for 0 "$CULPRIT" samples show x.h5 host30
	[[ $(wc -l <stdout) = 13 ]]
	run_for 0 "$CULPRIT" samples cause x.h5
	[[ $(awk '$3 == "link" {print $1, $2}' stdout) = "1 host30" ]]
	not grep -q '	far	' stdout
	run_for 0 "$CULPRIT" samples run racks.yaml -o z.h5 \
	    --set 'faults.links=["host5->tor0"]' \
	    --set rack.traffic.out=1
	run_for 0 "$CULPRIT" samples cause z.h5
	[[ $(awk '$11 == "link" {print $1, $2}' stdout) = "0 host5" ]]
	[[ -z $(awk '$3 == "link"' stdout) ]]
	run_for 0 "$CULPRIT" samples cause z.h5 --json
	python3 - <<-END
		import json
		rows = json.load(open("stdout"))
		x = [r for r in rows if r["out"] == "link"]
		assert [r["host"] for r in x] == ["host5"], rows
		assert x[0]["out_ahead"] > 2 and x[0]["out_packets"] > 1000
		assert all((r["out"] == "none") == (r["out_retx_packets"] == 0)
		           for r in rows)
		assert {r["cause"] for r in rows} <= {"none", "buffer"}
	END
	run_for 0 "$CULPRIT" samples rack x.h5
	[[ $(wc -l <stdout) = 3 ]]
	h5dump -d /faults/host x.h5 | grep -q '(0): 30$'
	run_for 0 "$CULPRIT" samples run racks.yaml -o y.h5 \
	    --set 'rack.widths=[100us, 1ms]' --set seed=5
	says ', 96 runs, ' stdout
	not cmp -s x.h5 y.h5
}

what_is_no_rack_is_not_run() {
	printf 'figure: f\nalgorithms: [vote]\n' >f.yaml
	run_for 2 "$CULPRIT" samples run f.yaml
	says 'hosts of plane auto do not count in buckets; those of' stderr
	[[ ! -e results/out/f.samples.h5 ]]
	run_for 2 "$CULPRIT" samples run f.yaml --point 7
	run_for 2 "$CULPRIT" samples run
	says 'no spec' stderr
	printf 'figure: f\nplane: rack\nalgorithms: [loss_cause]\n' >f.yaml
	run_for 2 "$CULPRIT" dump f.yaml
	says 'count in buckets and no flows: .culprit samples run' stderr
	echo mine >x.h5
	run_for 2 "$CULPRIT" samples run f.yaml -o x.h5
	[[ $(cat x.h5) = mine ]]
}

nothing_is_an_error() {
	mkdir empty
	run_for 2 "$CULPRIT" samples import empty -o x.h5
	says 'empty has no file that ends in .json' stderr
	run_for 3 "$CULPRIT" samples import missing.json -o x.h5
	says 'cannot read missing.json: No such file' stderr
	echo '{' >a.json
	run_for 2 "$CULPRIT" samples import a.json -o x.h5
	says '1 left out: it is no JSON' stderr
	says 'none of 1 files is a run' stderr
	[[ ! -e x.h5 ]]
	echo mine >x.h5
	make_public public 781250 0
	run_for 2 "$CULPRIT" samples import public -o x.h5
	[[ $(cat x.h5) = mine ]]
	run_for 3 "$CULPRIT" samples export x.h5 --csv
	run_for 2 "$CULPRIT" samples export x.h5
	says 'in which form' stderr
	run_for 2 "$CULPRIT" samples import public
	says '[-]o FILE: where are samples to be'
	run_for 2 "$CULPRIT" samples import public -o y.h5 --width 0s
	says "width: a bucket can't be of no time"
	run_for 2 "$CULPRIT" samples show x.h5 host 7
	says '"7" is one word too many'
	run_for 0 "$CULPRIT" samples import public -o y.h5
	run_for 3 "$CULPRIT" samples export y.h5 -o y.h5/out
	says_once 'cannot make y.h5/out: Not a directory'
	run_for 2 "$CULPRIT" samples imprt
	says 'did you mean "import"' stderr
}

# 65 MB of blanks pack into 64 KB.
a_file_that_unpacks_to_too_much_is_not_read() {
	python3 -c 'import gzip; gzip.open("x.json.gz", "wb").write(
	    b"[" + b" " * 70000000 + b"]")'
	run_for 2 "$CULPRIT" samples import x.json.gz -o x.h5
	says 'it goes on behind 64 MiB' stderr
}

run_tests published_runs_are_taken there_and_back_it_is_the_same \
    another_definition_of_bursts_is_found \
    what_is_told_is_what_python_counts widths_are_chosen_by_most_or_by_name \
    a_run_is_drawn a_cell_is_run_and_read \
    what_is_no_rack_is_not_run \
    what_is_not_whole_is_left_out_and_counted nothing_is_an_error \
    a_file_that_unpacks_to_too_much_is_not_read
