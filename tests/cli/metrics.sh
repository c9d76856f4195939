#!/bin/bash
# tests/cli/metrics.sh -- what each number means, in words and as JSON.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

one_is_explained_whole() {
	run_for 0 "$CULPRIT" metrics recall
	says '^recall -- accused links that have a fault / links with a fault$' stdout
	says '^  definition +n_flagged_true / n_links_true$' stdout
	says '^  numerator +n_flagged_true \(links\): count of the accused links' stdout
	says '^  denominator +n_links_true \(links\): count of the links with' stdout
	says '^  range +from 0 to 1$' stdout
	says '^  in figures ' stdout
	says pingmesh_blackhole stdout
	says '^  in claims +fig04_recall' stdout
	says '^  schema.h +RES_RATIOS X\(recall, n_flagged_true, n_links_true' stdout
	cp stdout want
	# As a column is called.
	for name in vote:recall_lo recall_p90 'it is:recall'; do
		run_for 0 "$CULPRIT" metrics "$name"
		same stdout want
	done
	run_for 0 "$CULPRIT" metrics n_icmp_sent
	says '^  on planes +agents, telemetry$' stdout
	says '^  set +seconds|^  set +agents' stdout
}

# Each has a line here, and all that a header has is known by name.
all_are_listed() {
	write_spec
	"$CULPRIT" run spec.yaml -q -o x.h5 >/dev/null
	run_for 0 "$CULPRIT" metrics
	[[ $(awk 'length > 80' stdout) = "" ]] || fail "long lines"
	cp stdout list
	run_for 0 "$CULPRIT" metrics --json
	[[ $(json stdout 'len(d)') = $(grep -cE '^  [a-z]' list) ]]
	[[ $(json stdout '[m["name"] for m in d if not m["definition"] or
	    (m["denominator"] and not m["numerator"])]') = '[]' ]]
	[[ $(json stdout '[m["figures"] for m in d if m["name"] == "n_reloaded"]') = \
		"[['pingmesh_fig06']]" ]]
	for column in $("$CULPRIT" table x.h5 --runs | head -1 | tr ' \t' '_\n' |
		grep -vE '^(run|faults.*|traffic.*)$'); do
		run_for 0 "$CULPRIT" metrics "$column"
	done
}

# What HDF5 says of a dataset is what is said here.
a_dataset_has_the_same_words() {
	write_spec
	"$CULPRIT" run spec.yaml -q -o x.h5 >/dev/null
	for name in top_k_recall n_top_true n_flows; do
		"$CULPRIT" metrics "$name" --json >one
		h5dump -a "/$name/long_name" x.h5 | tr -d '\n' |
			tr -s ' ' >attribute
		grep -qF "\"$(json one 'd["meaning"]')\"" attribute ||
			fail "$name: $(cat attribute)"
	done
}

a_wrong_name_is_met_with_the_near_one() {
	run_for 2 "$CULPRIT" metrics top_k_recal
	says_once 'there is no metric "top_k_recal"; did you mean "top_k_recall"?'
	run_for 2 "$CULPRIT" metrics vote:n_flaged
	says_once 'there is no metric "vote:n_flaged"; did you mean "n_flagged"?'
	run_for 2 "$CULPRIT" metrics zzz
	says_once 'there is no metric "zzz"; .culprit metrics. lists them'
	run_for 2 "$CULPRIT" metrics recall precision
	says 'one metric at a time; "precision" is a second'
}

run_tests one_is_explained_whole all_are_listed a_dataset_has_the_same_words \
    a_wrong_name_is_met_with_the_near_one
