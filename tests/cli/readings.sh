#!/bin/bash
# tests/cli/readings.sh -- scenes of alg1_readings are those of 007's figures.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# The runs of a figure with Algorithm 1 alone, one a line, without coordinates.
runs_of() { # FIGURE --set...
	run_for 0 "$CULPRIT" run "$tree/experiments/$1.yaml" -q --force \
	    -o "$1.h5" --set runs=3 "${@:2}"
	"$CULPRIT" table --runs "$1.h5" | awk -F '\t' '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "run") from = i }
		NR > 1 { for (i = from; i <= NF; i++) printf "%s\t", $i
		    print "" }'
}
as_in() { # FIGURE SWEEP
	runs_of "$1" --set 'algorithms=[{ name: alg1 }]' --set "sweep=$2"
}

each_scene_has_the_epochs_of_its_figure() {
	local pods='topology.n_pods: [1, 2, 4, 6, 7]'
	local hot='traffic.conns: [60], traffic.hot_share: [0.5]'
	local spines='topology.n_t2: [0, 10, 10, 10, 10]'
	runs_of alg1_readings --set 'sweep.grid={}' >readings
	{
		as_in vigil_fig04 '{ grid: { faults.count: [2, 6, 14] } }'
		as_in vigil_fig10 '{ grid: { faults.rate: [1e-4, 5e-4, 1e-3, 1e-2] } }'
		as_in vigil_fig12 '{ grid: { faults.1.count: [1, 3, 6, 13] } }'
		as_in vigil_fig13 "{ grid: { $hot, faults.rate: [5e-4, 1e-3, 1e-2] } }"
		as_in vigil_sec67 "{ grid: { faults.count: [1] }, zip: { $pods, $spines } }"
		as_in vigil_sec67 '{ grid: { faults.count: [30], topology.n_pods: [2, 7] } }'
	} >figures
	[[ $(wc -l <readings) = 63 ]] || fail "not 3 runs of 21 scenes"
	same readings figures
}

run_tests each_scene_has_the_epochs_of_its_figure
