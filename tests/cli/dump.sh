#!/bin/bash
# tests/cli/dump.sh -- culprit dump and diagnose: an epoch for anybody.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

write_flows() {
	cat >flows.yaml <<-END
		figure: flows
		seed: 7
		runs: 2
		topology: { n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, n_hosts: 4 }
		traffic: { conns: 30, packets: 50 }
		noise: { rate: 1e-4 }
		faults: { count: 1, rate: 0.05 }
		algorithms: [vote, { name: alg1, label: "it's one" }, cover]
		sweep: { grid: { faults.count: [1, 3] } }
		smoke: { runs: 1 }
	END
}

# All but the line that counts flows, where each verb has its own words.
it_says_what_the_cell_says() {
	write_flows
	for cell in "--point 0 --run 0" "--point 1 --run 1"; do
		# shellcheck disable=SC2086 # words are meant
		run_for 0 "$CULPRIT" run flows.yaml $cell
		sed 2d stdout >cell
		# shellcheck disable=SC2086
		run_for 0 "$CULPRIT" dump flows.yaml -o a.h5 $cell
		run_for 0 "$CULPRIT" diagnose a.h5
		sed 2d stdout >replayed
		same cell replayed
	done
	run_for 0 "$CULPRIT" dump flows.yaml
	says 'those that lost something.*-> results/out/flows.epoch.h5$' stdout
	run_for 0 "$CULPRIT" dump flows.yaml -o b.h5
	same b.h5 results/out/flows.epoch.h5
}

# Whose fault a loss was is told again, also as agents see it.
full_buffers_are_replayed() {
	local -a hot=(--set congestion.racks=1 --set congestion.ports=0.5)
	local plane
	write_flows
	for plane in exact agents; do
		hot[4]=--set hot[5]=plane=$plane
		run_for 0 "$CULPRIT" dump flows.yaml "${hot[@]}" -o hot.h5
		h5dump -a /has_buffer hot.h5 >has
		says '.0.: 1$' has
		run_for 0 "$CULPRIT" run flows.yaml --point 0 --run 0 \
			"${hot[@]}"
		grep -A99 '^vote' stdout >cell
		run_for 0 "$CULPRIT" diagnose hot.h5
		grep -A99 '^vote' stdout >replayed
		same cell replayed
	done
}

# By the draws of plane exact, and the file's own spec says so.
all_flows_are_those_of_plane_exact() {
	write_flows
	run_for 0 "$CULPRIT" dump flows.yaml --all -o all.h5
	says '960 flows ran, 960 are written .all.' stdout
	run_for 0 "$CULPRIT" run flows.yaml --point 0 --run 0 -s plane=exact
	sed 2d stdout >cell
	run_for 0 "$CULPRIT" diagnose all.h5
	sed 2d stdout >replayed
	same cell replayed
	h5dump -a /spec all.h5 >spec
	says '^ *plane: exact' spec
	run_for 2 "$CULPRIT" dump flows.yaml --all -s plane=skip -o no.h5
	says_once 'plane skip has drawn only .* plane exact draws all'
	run_for 2 "$CULPRIT" dump flows.yaml --all -s plane=agents -o no.h5
	says_once 'plane agents has drawn only'
	[[ ! -e no.h5 ]]
}

what_is_no_cell_is_refused() {
	write_flows
	run_for 2 "$CULPRIT" dump
	says 'no spec'
	run_for 2 "$CULPRIT" dump flows.yaml --run 2
	says_once 'point 0, run 2: the sweep has points 0 to 1 and runs 0 to 1'
	run_for 2 "$CULPRIT" dump flows.yaml -s plane=pingmesh \
	    -s 'algorithms=[blackhole]' -s pingmesh.duration=600 -o x.h5
	says 'plane pingmesh has probes and no flows: .culprit record.'
	run_for 3 "$CULPRIT" dump flows.yaml -o no/such/x.h5
	only_files flows.yaml
}

the_spec_is_not_written_over() {
	write_flows
	cp flows.yaml before
	ln -s flows.yaml link.h5
	for out in flows.yaml ./flows.yaml link.h5; do
		run_for 2 "$CULPRIT" dump flows.yaml -o $out
		says_once 'would replace .*, which is read'
		run_for 2 "$CULPRIT" record flows.yaml -o $out
		says_once 'would replace .*, which is read'
	done
	same flows.yaml before
}

algorithms_are_chosen_and_printed_for_programs() {
	write_flows
	run_for 0 "$CULPRIT" dump flows.yaml -o a.h5
	run_for 0 "$CULPRIT" diagnose a.h5 -a "it's one" \
	    -a '{name: alg1, label: low, threshold: 0.001}' --json -b blame.tsv
	/usr/bin/python3 "$tree/tests/cli/lib/ranked.py" low <stdout >low
	[[ -s low ]]
	says '"accuracy_kept": [01]' stdout
	[[ $(head -1 blame.tsv) = "$(printf 'algorithm\tflow\tsrc_host\t')"* ]]
	[[ $(cut -f1 blame.tsv | sort -u | xargs -d '\n') = \
	    "algorithm it's one low" ]]
	[[ $(awk -F'\t' 'NF != 9' blame.tsv) = "" ]]
	run_for 0 "$CULPRIT" diagnose a.h5 -s algorithms.1.threshold=0.3 \
	    -a "it's one"
	says "^it's one$" stdout
	run_for 2 "$CULPRIT" diagnose a.h5 -a votes
	says_once 'did you mean "vote"'
	run_for 2 "$CULPRIT" diagnose a.h5 -a blackhole
	says_once "blackhole reads Pingmesh's probes; a.h5 has none"
	run_for 2 "$CULPRIT" diagnose a.h5 -s seed=8
	says_once 'only algorithms can be set'
	run_for 2 "$CULPRIT" diagnose
	says 'which EPOCH'
	run_for 3 "$CULPRIT" diagnose none.h5
	says_once 'cannot read none.h5: No such file'
	head -c 5000 a.h5 >cut.h5
	run_for 3 "$CULPRIT" diagnose cut.h5
	says 'cannot read cut.h5: it does not end as'
	says 'with --unsealed'
	run_for 3 "$CULPRIT" diagnose cut.h5 --unsealed
	says_once 'cannot read cut.h5: HDF5 cannot open it'
}

# By h5py alone, on an epoch of each kind of plane.
votes_are_those_of_a_program_of_ones_own() {
	write_flows
	for plane in auto exact vigil_matlab agents; do
		run_for 0 "$CULPRIT" dump flows.yaml -o a.h5 -s plane=$plane
		/usr/bin/python3 "$tree/tests/cli/epoch_votes.py" a.h5 >theirs ||
			{ [[ $? = 77 ]] && skip "$(cat theirs)"; exit 1; }
		run_for 0 "$CULPRIT" diagnose a.h5 -a vote --json
		/usr/bin/python3 "$tree/tests/cli/lib/ranked.py" vote <stdout \
		    >ours
		[[ $(wc -l <ours) -gt 10 ]]
		LC_ALL=C sort -o theirs theirs
		LC_ALL=C sort -o ours ours
		same theirs ours
	done
}

# The groups as xarray sees them, and a file that h5py made.
other_programs_read_and_write_it() {
	write_flows
	run_for 0 "$CULPRIT" dump flows.yaml --all -o a.h5
	/usr/bin/python3 "$tree/tests/cli/epoch_readers.py" a.h5 own.h5 >why ||
		{ [[ $? = 77 ]] && skip "$(cat why)"; cat why; exit 1; }
	run_for 3 "$CULPRIT" diagnose own.h5 -a vote
	says 'with --unsealed'
	run_for 0 "$CULPRIT" diagnose own.h5 -a vote --unsealed
	says '^without the truth: nothing is scored' stdout
	says '^    1 leaf0->spine0  *score 1[.]25 ' stdout
}

run_tests it_says_what_the_cell_says full_buffers_are_replayed \
    all_flows_are_those_of_plane_exact \
    what_is_no_cell_is_refused the_spec_is_not_written_over \
    algorithms_are_chosen_and_printed_for_programs \
    votes_are_those_of_a_program_of_ones_own other_programs_read_and_write_it
