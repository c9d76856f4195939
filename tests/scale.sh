#!/bin/bash
# tests/scale.sh -- size against cost: cells of a sweep, hosts, probes.
# SPDX-License-Identifier: GPL-3.0-or-later
#
#	tests/scale.sh BUILD [small] >scale.tsv
#
# Each row is one `culprit run` of one worker, and what its record (.run.json)
# says of it: CPU seconds of parent and worker, and the peak memory of the larger. CPU is
# the least of three where that takes less than a few seconds. `small` leaves out
# the largest size of each kind.
#	cells   of a sweep of almost no work: two ToRs, four hosts, vote
#	hosts   an epoch of 60 connections each, 10 failed links, vote
#	probes  a day of ever larger fleets by plane pingmesh_bulk, with all windows
#	        and drop rates; the smallest is an hour
set -euo pipefail
[[ $# = 1 || ( $# = 2 && $2 = small ) ]] || {
	echo "usage: tests/scale.sh BUILD [small]" >&2
	exit 2
}
culprit=$(realpath "$1")/culprit
small=${2:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >cells.yaml <<-'END'
	figure: cells
	seed: 1
	topology: { kind: clos, n_pods: 1, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2 }
	traffic: { conns: 1 }
	faults: { count: 1 }
	algorithms: [vote]
	runs: 10
	sweep: { grid: { faults.rate: [0.001, 0.002, 0.003, 0.004, 0.005,
	                               0.006, 0.007, 0.008, 0.009, 0.01] } }
END
cat >hosts.yaml <<-'END'
	figure: hosts
	seed: 1
	topology: { kind: clos, n_pods: 2, n_tors: 20, n_t1: 8, n_t2: 10, n_hosts: 40 }
	faults: { count: 10 }
	algorithms: [vote]
	runs: 1
END
cat >probes.yaml <<-'END'
	figure: probes
	seed: 1
	plane: pingmesh_bulk
	topology: { kind: clos, n_pods: 5, n_tors: 5, n_t1: 8, n_t2: 16, n_hosts: 20 }
	noise: { rate: 5e-6 }
	faults: { count: 0 }
	runs: 1
	pingmesh:
	  window: 600
	  along: window
	  pinglist: { tor_interval_s: 100, dc_interval_s: 100 }
	  connect: { profile: dc2 }
END

# record NAME: the value of a field of the last run.
record() {
	sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},*$/\1/p" "$kind.run.json"
}

# measure KIND SIZE OPTION...: one row.
measure() {
	kind=$1
	local size=$2 best= peak=0 i cpu bytes
	shift 2
	for i in 1 2 3; do
		rm -f "$kind.h5"
		"$culprit" run "$kind.yaml" -o "$kind.h5" -j 1 "$@" \
		    >log 2>&1 || { cat log >&2; exit 1; }
		cpu=$(record cpu_s) bytes=$(record peak_bytes)
		best=$(printf '%s\n' $best $cpu | sort -g | head -n 1)
		((bytes <= peak)) || peak=$bytes
		awk "BEGIN { exit $cpu < 3 }" && break
	done
	awk "BEGIN { printf \"%s\t%.0f\t%.3g\t%.3g\n\", \"$kind\", $size, $best,
	    $peak / 1048576 }"
}

rows() {
	local n of
	for n in 100 1000 10000 ${small:-100000}; do
		[[ $n = small ]] || measure cells $((10 * n)) --runs $n
	done
	for n in 2 20 200 2000 ${small:-20000}; do
		[[ $n = small ]] ||
			measure hosts $((800 * n)) -s topology.n_pods=$n
	done
	for of in 5:5:20:3600 5:5:20:86400 10:10:20:86400 20:20:30:86400 \
	    30:30:40:86400 ${small:-50:50:40:86400}; do
		[[ $of != small ]] || continue
		IFS=: read -r pods tors hosts seconds <<<"$of"
		# A server probes all under its ToR, and one under each other.
		measure probes $((pods * tors * hosts * \
		    (hosts - 1 + pods * tors - 1) * seconds / 100)) \
		    -s topology.n_pods=$pods -s topology.n_tors=$tors \
		    -s topology.n_hosts=$hosts -s pingmesh.duration=$seconds
	done
}

rows >table
cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | sort -u | head -n 1)
echo "# version $(record culprit), commit $(record git_commit)," \
    "build $(record build); $(record machine)," \
    "$(nproc) of ${cpu:-an unknown processor}"
printf 'kind\tsize\tcpu_s\tpeak_mib\n'
cat table
