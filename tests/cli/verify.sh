#!/bin/bash
# tests/cli/verify.sh -- results against claims and against earlier results.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# small.h5 of 2 x 2 points, and claims on it and on a figure that is not there.
prepare() {
	cd "$top" || exit
	write_spec
	"$CULPRIT" run spec.yaml -q --runs 20 -o small.h5 >/dev/null || exit
	"$CULPRIT" run spec.yaml -q --runs 20 --set seed=8 -o seed8.h5 \
	    >/dev/null || exit
	"$CULPRIT" run spec.yaml -q --runs 20 --set noise.rate=0.01 \
	    -o noisy.h5 >/dev/null || exit
	cat >claims.yaml <<-END
		claims:
		  - { id: holds, figure: small, certainty: S, text: "a lot",
		      metric: accuracy_fault, algorithm: vote,
		      at: { faults.rate: 1e-2 }, relation: ">=", value: 0.5,
		      must: true }
		  - { id: fails, figure: small, certainty: R+, text: "little",
		      metric: accuracy_fault, algorithm: vote,
		      at: { faults.rate: 1e-2 }, relation: "<=", value: 0.1,
		      note: "as it's made so" }
		  - { id: absent, figure: other, certainty: R, text: "nothing",
		      metric: recall, algorithm: alg1, relation: ">=", value: 1 }
		  - { id: words, figure: other, certainty: R-, text: "nice",
		      note: "no number" }
	END
	cd "$tree" || exit
}
setup() { # RESULTS
	mkdir -p results/out expected
	cp "../$1.h5" results/out/small.h5
	cp ../claims.yaml expected
}
verify() {
	"$CULPRIT" verify --claims expected/claims.yaml "$@"
}

each_claim_has_its_verdict() {
	setup small
	run_for 0 verify
	says "^holds +agrees +>= 0.5 +0\.[0-9]{4} \[0\.[0-9]+, [01]\.[0-9]+\] +faults" stdout
	says "^    stated: a lot" stdout
	says "^fails +DIFFERS +<= 0.1 " stdout
	says "^    unconfirmed, R\+: little" stdout
	says "^    note: as it's made so" stdout
	says "^absent +not run .*no results of other" stdout
	says "^words +not comparable" stdout
	says "1 agree, 1 differ, 1 not comparable, 1 not run; 0 failed" stdout
}

a_claim_that_must_hold_fails() {
	setup small
	sed -i 's/note: "as.*/must: true }/' expected/claims.yaml
	run_for 1 verify
	says "1 differ, .*; 1 failed" stdout
}

what_is_missing_fails_when_strict() {
	setup small
	run_for 1 verify --strict
	run_for 0 verify --strict small
	run_for 0 "$CULPRIT" run ../spec.yaml --runs 20 -q --shard 1/2 --fresh \
	    -o results/out/small.h5
	run_for 0 verify small
	run_for 1 verify --strict small
}

earlier_results_are_written_and_pass() {
	setup small
	run_for 0 verify --write small
	says "small -> expected/small.tsv" stdout
	run_for 0 verify small
	says "^small +PASS +([0-9]+) of \1 ratios as in expected/small.tsv$" stdout
	cp ../seed8.h5 results/out/small.h5
	run_for 0 verify small
	says "^small +PASS" stdout
}

other_results_fail() {
	setup small
	run_for 0 verify --write small
	cp ../noisy.h5 results/out/small.h5
	run_for 1 verify small
	says "^small +FAIL " stdout
	says "^culprit: faults.count [13], .*: vote:accuracy_all 0.* was 0"
}

only_whole_results_are_written() {
	setup small
	run_for 3 verify --write other
	says "results/out/other.h5 is not there; .culprit run other. makes it"
	run_for 0 "$CULPRIT" run ../spec.yaml --runs 20 -q --shard 1/2 --fresh \
	    -o results/out/small.h5
	run_for 3 verify --write small
	says "results/out/small.h5 is not complete"
}

json_is_one_object() {
	setup small
	run_for 0 verify --write small
	run_for 0 verify --json
	[[ $(json stdout '[c["verdict"] for c in d["claims"]]') = \
		"['agrees', 'DIFFERS', 'not run', 'not comparable']" ]]
	[[ $(json stdout 'd["claims"][0]["lo"] < d["claims"][0]["ours"]') = True ]]
	[[ $(json stdout 'd["claims"][2]["ours"]') = None ]]
	[[ $(json stdout '[(x["figure"], x["verdict"]) for x in d["expected"]]') = \
		"[('small', 'PASS')]" ]]
}

mistakes_and_trouble_have_their_codes() {
	setup small
	run_for 2 verify smal
	says_once 'nothing is claimed or expected of figure "smal"'
	run_for 2 "$CULPRIT" verify --claims none.yaml
	run_for 2 verify --write
	sed -i 's/accuracy_fault/accuracy_fualt/' expected/claims.yaml
	run_for 2 verify
	says 'claims.yaml:3:.*did you mean "accuracy_fault"'
	cp ../claims.yaml expected
	printf 'a\tb\n' >expected/small.tsv
	run_for 3 verify small
	says "expected/small.tsv: no column .runs."
	rm expected/small.tsv
	head -c 5000 ../small.h5 >results/out/small.h5
	run_for 3 verify small
	says "results/out/small.h5"
	cp ../small.h5 results/out/small.h5
	run_for 3 sh -c '"$CULPRIT" verify --claims expected/claims.yaml \
	    >/dev/full'
}

# The claims that are shipped, on small sweeps of two figures.
shipped_claims_meet_smoke_results() {
	mkdir -p results/out
	for f in 03 12; do
		run_for 0 "$CULPRIT" run "$tree/experiments/vigil_fig$f.yaml" \
		    --smoke -q -o "results/out/vigil_fig$f.h5"
	done
	run_for 0 "$CULPRIT" verify \
	    --claims "$tree/results/expected/vigil.yaml" vigil_fig03 vigil_fig12
	says "^fig03_accuracy +agrees" stdout
	says "^vigil_fig03 +PASS .* missing" stdout
}

prepare
run_tests each_claim_has_its_verdict a_claim_that_must_hold_fails \
    what_is_missing_fails_when_strict earlier_results_are_written_and_pass \
    other_results_fail only_whole_results_are_written json_is_one_object \
    mistakes_and_trouble_have_their_codes shipped_claims_meet_smoke_results
