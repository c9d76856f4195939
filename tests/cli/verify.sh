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
		      metric: accuracy_kept, algorithm: vote,
		      at: { faults.rate: 1e-2 }, relation: ">=", value: 50 %,
		      must: true }
		  - { id: fails, figure: small, certainty: R+, text: "little",
		      metric: accuracy_fault, algorithm: vote,
		      at: { faults.rate: 1e-2 }, relation: "<=", value: 10 % }
		  - { id: absent, figure: other, certainty: R, text: "nothing",
		      metric: recall, algorithm: alg1, relation: ">=", value: 100 % }
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
	says "^holds +>= 50 % +agrees +0\.[0-9]{4} \[0\.[0-9]+, [01]\.[0-9]+\] sees [0-9.]+ +agrees +[01]\.[0-9]{4}" stdout
	says "^    stated: a lot" stdout
	says "^    at faults.count" stdout
	says "^fails +<= 10 % +DIFFERS +" stdout
	says "^    unconfirmed, R\+: little" stdout
	says "^    why: expected/differs.md, fails" stdout
	says "^absent +>= 100 % +not run" stdout
	says "^    no results of other" stdout
	says "^words +in words +not comparable" stdout
	says "^the paper's, by kept flows +1 +1 +0 +0 +0 +1 +1$" stdout
	says "^another simulator's +0 +0 +0 +0 +0 +0 +0$" stdout
	says "^0 failed" stdout
}

# Each way in which a claim is printed, and what another simulator has said counts
# apart.
claims_are_printed_as_they_are() {
	setup small
	cat >>expected/claims.yaml <<-END
		  - { id: measured, figure: small, certainty: M, text: "ours, too",
		      metric: n_drops, relation: ">=", value: 0, runs: 20 }
	END
	run_for 0 verify
	says "^    another simulator: ours, too" stdout
	says "^another simulator's +0 +1 +0 +0 +0 +0 +0\$" stdout
	says "^    at faults.count 1, faults.rate 0.01; 2 of 2 points differ$" \
	    stdout
}

a_claim_that_must_hold_fails() {
	setup small
	sed -i 's/value: 10 %/&, must: true/' expected/claims.yaml
	run_for 1 verify
	says "^1 failed" stdout
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
	says "^small +weak +([0-9]+) of \1 numbers exactly as in expected/small.tsv; sees [0-9]+ % of n_drops$" stdout
	cp ../seed8.h5 results/out/small.h5
	run_for 0 verify small
	says "^small +weak +([0-9]+) of \1 numbers by z as in .*, [0-9]+ not the same; " stdout
}

# What another version is asked of no more than chance lets pass, but that
# nothing moved, or what did, is told.
moved_numbers_are_counted() {
	setup small
	run_for 0 verify --write small
	sed -i '1s/made of .*/made of 0000000000000001/' expected/small.tsv
	run_for 0 verify small
	says "^small +weak +([0-9]+) of \1 numbers by z as in [^,]*, all the same; " stdout
	# The mean of the first metric over all points, by a millionth.
	awk -v CONVFMT=%.12g -v OFMT=%.12g -F"\t" -v OFS="\t" \
	    'NR == 4 { $(NF - 1) = $(NF - 1) * (1 + 1e-6) "" } 1' \
	    expected/small.tsv >moved.tsv
	mv moved.tsv expected/small.tsv
	run_for 0 verify small
	says "^small +weak +([0-9]+) of \1 numbers by z as in [^,]*, 1 not the same; " stdout
	run_for 0 verify --json small
	[[ $(json stdout '[t["moved"] for t in d["expected"]]') = '[1]' ]]
}

# Fewer points, and fewer runs of each.
a_part_of_the_numbers_does_not_pass() {
	setup small
	run_for 0 verify --write small
	run_for 0 "$CULPRIT" run ../spec.yaml --runs 20 -q --fresh --force \
	    -o results/out/small.h5 --set 'sweep={ grid: { faults.count: [1] } }'
	run_for 1 verify small
	says "^small +FAIL +0 of 0 numbers .*, [0-9]+ missing" stdout
	says "^1 failed" stdout
	# Half of the runs have all numbers, but it is told that it is half.
	run_for 0 "$CULPRIT" run ../spec.yaml --runs 20 -q --shard 1/2 --fresh \
	    --force -o results/out/small.h5
	run_for 0 verify small
	says "^small +partial +([0-9]+) of \1 numbers by z .*; 40 of 80 cells are not there" stdout
	says "^    partial: 40 of 80 cells are not there" stdout
	says "^0 failed, 3 without results or with a part of them" stdout
	run_for 1 verify --strict small
}

other_results_fail() {
	setup small
	run_for 0 verify --write small
	cp ../noisy.h5 results/out/small.h5
	run_for 1 verify small
	says "^small +FAIL " stdout
	says "^culprit: over all points: n_failed_flows .* z "
	says "^culprit: and others."
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
	[[ $(json stdout '[c["own"]["lo"] < c["own"]["ours"] for c in d["claims"][0]["cases"]]') = '[True]' ]]
	[[ $(json stdout 'd["claims"][0]["verdict_accuracy_fault"]') = agrees ]]
	[[ $(json stdout 'd["claims"][2]["cases"]') = '[]' ]]
	[[ $(json stdout "d['counts'][\"the paper's, by kept flows\"]['DIFFERS']") = 1 ]]
	[[ $(json stdout '[(x["figure"], x["verdict"]) for x in d["expected"]]') = \
		"[('small', 'weak')]" ]]
	[[ $(json stdout '[(x["exact"], x["loss"], x["sees"] > 0.25)
	    for x in d["expected"]]') = "[(True, 'n_drops', True)]" ]]
}

mistakes_and_trouble_have_their_codes() {
	setup small
	run_for 2 verify smal
	says_once 'nothing is claimed or expected of figure "smal"'
	run_for 2 "$CULPRIT" verify --claims none.yaml
	run_for 2 verify --write
	sed -i 's/accuracy_fault/accuracy_fualt/' expected/claims.yaml
	run_for 2 verify
	says 'claims.yaml:7:.*did you mean "accuracy_fault"'
	cp ../claims.yaml expected
	printf 'a\tb\n' >expected/small.tsv
	run_for 3 verify small
	says "expected/small.tsv:1: not .# seed"
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
	run_for 1 "$CULPRIT" verify \
	    --claims "$tree/results/expected/vigil.yaml" vigil_fig03 vigil_fig12
	says "^fig03_accuracy +>= 96 % " stdout
	says "^vigil_fig03 +FAIL .* missing" stdout
	says "^culprit: over all points: n_flows is not in these results, of --set or --smoke"
}

# Its head is "culprit 0.11.0", or "culprit 0.11.0; planner, sieve_vs by 0.13.0" where a
# later version moved numbers of those figures alone (tests/golden/history.tsv tells
# whose), which claim nothing: then their tables are of that version.
report_is_of() { # VERSION REPORT
	local of figure by
	of=$(head -1 "$2")
	[[ $of != "culprit $1" ]] || return 0
	[[ $of =~ ^culprit\ [0-9.]+\;\ ([a-z_0-9,\ ]+)\ by\ ([0-9.]+)$ ]] || return 1
	by=${BASH_REMATCH[2]}
	[[ $by = "$1" ]] || return 1
	for figure in ${BASH_REMATCH[1]//,/}; do
		grep -Eq "^$figure  *(PASS|weak) " "$2" &&
			head -1 "${2%/*}/$figure.tsv" |
			grep -q "version ${by//./\\.}[;,]" || return 1
	done
}

# What differs is explained, and nothing else is; the README counts as the report
# does.
each_difference_has_its_reasons() {
	local report=$tree/results/expected/verify.txt
	sed -n 's/^    why: .*differs.md, //p' "$report" | sort >differ
	sed -n 's/^## .*(\(.*\))$/\1/p' "$tree/results/expected/differs.md" |
		tr -d '`' | tr -s ', ' '\n' | sort >explained
	"$CULPRIT" --version >version
	report_is_of "$(sed -n '1s/^culprit \([0-9.]*\).*/\1/p' version)" "$report" ||
		fail "$report is of another version; \`make expected\` writes it"
	[[ -s differ ]] || fail "no difference in $report"
	diff differ explained || fail "claims and reasons are not the same"
	uniq -d explained | grep . && fail "explained twice"
	read -r agree differ depends < <(sed -n \
	    "s/^the paper's, by kept flows *\([0-9]*\) *\([0-9]*\) *\([0-9]*\).*/\2 \1 \3/p" \
	    "$report")
	tr '\n' ' ' <"$tree/README.md" | grep -q \
	    "$agree agree, $differ differ, $depends depend" ||
		fail "README counts not $agree, $differ, $depends"
}

prepare
run_tests each_claim_has_its_verdict claims_are_printed_as_they_are \
    a_claim_that_must_hold_fails \
    what_is_missing_fails_when_strict earlier_results_are_written_and_pass \
    moved_numbers_are_counted \
    a_part_of_the_numbers_does_not_pass other_results_fail \
    only_whole_results_are_written json_is_one_object \
    mistakes_and_trouble_have_their_codes shipped_claims_meet_smoke_results \
    each_difference_has_its_reasons
