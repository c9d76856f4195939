#!/bin/bash
# tests/cli/gate.sh -- accuracy gates from the command line, and their JUnit.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# One fault that no algorithm can miss. $1: more lines.
write_gates() {
	cat >gates.yaml <<-END
		figure: easy
		topology: { n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, n_hosts: 4 }
		traffic: { conns: 20, packets: 50 }
		noise: { rate: 0 }
		faults: { count: 1, classes: [tor-t1], rate: 0.5 }
		algorithms: [vote, { name: alg1, adjust: removal }]
		gates:
		  - { name: "it's <first> & only", algorithm: vote,
		      metric: worst_first_rate, at_least: 1, p0: 0.5, p1: 0.9 }
		  - { name: flagged, algorithm: alg1, metric: recall,
		      unit: link, p0: 0.5, p1: 0.9 }
		${1-}
	END
}
impossible='  - { name: none, algorithm: alg1, metric: n_flagged, at_most: 0,
      p0: 0.5, p1: 0.9 }'

# xml FILE XPATH: the count of it.
xml() {
	xmllint --xpath "count($2)" "$1"
}
valid() {
	command -v xmllint >/dev/null || skip "no xmllint"
	# A DTD is a URL to it, which has no spaces.
	cp "$tree/tests/data/junit.dtd" .
	xmllint --noout --dtdvalid junit.dtd "$1" ||
		fail "$1 is not valid"
}

the_keys_of_a_gate_are_listed() {
	run_for 0 "$CULPRIT" gate --keys
	mv stdout keys
	run_for 0 "$CULPRIT" spec gates
	same keys stdout
	for key in metric at_least p0 max_runs; do
		says "^ *$key\\b" keys
	done
	write_gates
	run_for 2 "$CULPRIT" gate gates.yaml --count 3 --junit x.xml
	says '[-]-count decides nothing to --junit'
	only_files gates.yaml keys
}

good_gates_pass() {
	write_gates
	run_for 0 "$CULPRIT" gate gates.yaml
	says "gates.yaml: seed 1" stdout
	says "it's <first> & only +24 +24 +24 +14.11  good" stdout
	says "^2 of 2 gates good" stdout
	[[ ! -s stderr ]] || fail "stderr is not empty"
}

a_bad_one_fails_alone() {
	write_gates "$impossible"
	run_for 1 "$CULPRIT" gate gates.yaml
	says "none +9 +9 +0 +-14.48  bad" stdout
	says "^2 of 3 gates good" stdout
}

an_undecided_one_fails() {
	write_gates
	run_for 1 "$CULPRIT" gate gates.yaml --set gates.0.max_runs=23
	says "only +23 +23 +23 +13.52  undecided" stdout
	says "^1 of 2 gates good" stdout
}

a_broken_threshold_is_caught() {
	local gates=$tree/tests/accuracy/one_fault.yaml
	run_for 0 "$CULPRIT" gate "$gates"
	run_for 1 "$CULPRIT" gate "$gates" --set algorithms.2.threshold=0.0001
	says "removal: no other link is accused .* bad" stdout
	run_for 1 "$CULPRIT" gate "$tree/tests/accuracy/five_faults.yaml" \
	    --set algorithms.2.threshold=0.2 --set gates.10.max_runs=50
	says "removal: 4 of the 5 links are accused .* bad" stdout
}

# A fifth more or less of any rate; five faults show it least.
a_fifth_of_a_rate_is_caught() {
	local gates=$tree/tests/accuracy/five_faults.yaml
	run_for 0 "$CULPRIT" gate "$gates" --seed 1
	run_for 1 "$CULPRIT" gate "$gates" --seed 2 \
	    --set 'faults.rate={ uniform: [1.2e-4, 1.2e-2] }'
	says "^  at most [0-9]+ packets are lost .* bad" stdout
	run_for 1 "$CULPRIT" gate "$gates" --seed 3 \
	    --set 'faults.rate={ uniform: [8e-5, 8e-3] }'
	says "^  at most [0-9]+ packets are lost .* bad" stdout
	for noise in 8e-7 1.2e-6; do
		run_for 1 "$CULPRIT" gate "$gates" --seed 4 \
		    --set "noise.rate={ uniform: [0, $noise] }"
		says "cover: at most [0-9]+ links are accused .* bad" stdout
	done
}

equal_seeds_give_equal_bytes() {
	write_gates "$impossible"
	for j in 1 2 5; do
		run_for 1 "$CULPRIT" gate gates.yaml -j "$j" --junit "$j.xml"
		mv stdout "$j.out"
		same "$j.out" 1.out
		same "$j.xml" 1.xml
	done
	run_for 0 "$CULPRIT" gate gates.yaml --seed 2 --count 40
	says "seed 2" stdout
}

a_fresh_seed_is_told_and_repeats() {
	write_gates
	run_for 0 "$CULPRIT" gate gates.yaml --fresh-seed --json
	mv stdout first
	run_for 0 "$CULPRIT" gate gates.yaml --seed "$(number_in first seed |
		head -1)" --json
	same stdout first
	run_for 0 "$CULPRIT" gate gates.yaml --fresh-seed --json
	! cmp -s stdout first || fail "the same seed twice"
}

junit_is_valid_and_counts() {
	write_gates "$impossible"
	cp gates.yaml second.yaml
	run_for 1 "$CULPRIT" gate gates.yaml second.yaml --junit out/of/x.xml
	valid out/of/x.xml
	[[ $(xml out/of/x.xml //testsuite) = 2 ]]
	[[ $(xml out/of/x.xml '//testsuite[@tests=3 and @failures=1]') = 2 ]]
	[[ $(xml out/of/x.xml //testcase) = 6 ]]
	[[ $(xml out/of/x.xml "//testcase[@name='none']/failure") = 2 ]]
	[[ $(xml out/of/x.xml //failure) = 2 ]]
	[[ $(xml out/of/x.xml "//testcase[contains(@name, '<first> &')]") = 2 ]]
}

json_has_a_line_a_gate() {
	write_gates "$impossible"
	run_for 1 "$CULPRIT" gate gates.yaml --json
	[[ $(wc -l <stdout) = 3 ]]
	sed -n 3p stdout >line
	[[ $(json line 'd["gate"], d["verdict"], d["runs"], d["good"]') = \
		"('none', 'bad', 9, 0)" ]]
}

mistakes_come_before_the_first_run() {
	write_gates
	sed 's/metric: recall/metric: recal/; s/p0: 0.5, p1: 0.9 }$/p0: 2 }/' \
	    gates.yaml >wrong.yaml
	run_for 2 "$CULPRIT" gate gates.yaml wrong.yaml
	says 'wrong.yaml:.*"recal"; did you mean "recall"'
	says 'wrong.yaml:.*p0'
	[[ ! -s stdout ]] || fail "something ran"
	run_for 2 "$CULPRIT" gate none.yaml
	says "none.yaml: No such file"
	run_for 2 "$CULPRIT" gate
	run_for 2 "$CULPRIT" gate gates.yaml --seed 1 --fresh-seed
	run_for 2 "$CULPRIT" gate gates.yaml --freshseed
	says "did you mean --fresh-seed"
}

what_an_algorithm_does_not_answer_is_a_mistake() {
	write_gates "  - { name: x, algorithm: vote, metric: recall, at_least: 1,
		      p0: 0.5, p1: 0.9 }"
	run_for 2 "$CULPRIT" gate gates.yaml --junit x.xml
	says 'gates.yaml: gate "x": algorithm vote has no recall.'
	valid x.xml
	[[ $(xml x.xml '//testsuite[@errors=3 and @failures=0]/testcase/error') = 3 ]]
}

what_cannot_be_written_is_trouble() {
	write_gates
	run_for 3 "$CULPRIT" gate gates.yaml --junit /dev/full
	says "cannot write /dev/full: No space left"
	run_for 3 "$CULPRIT" gate gates.yaml --junit gates.yaml/x.xml
	run_for 3 sh -c '"$CULPRIT" gate gates.yaml >/dev/full'
}

counting_shows_shares() {
	write_gates "$impossible"
	run_for 0 "$CULPRIT" gate gates.yaml --count 100
	says "only +100 +100 +100  1.0000 \[0.9638, 1.0000\]" stdout
	says "none +100 +100 +0  0.0000 \[0.0000, 0.0362\]" stdout
}

run_tests the_keys_of_a_gate_are_listed good_gates_pass a_bad_one_fails_alone an_undecided_one_fails \
    a_broken_threshold_is_caught a_fifth_of_a_rate_is_caught \
    equal_seeds_give_equal_bytes \
    a_fresh_seed_is_told_and_repeats junit_is_valid_and_counts \
    json_has_a_line_a_gate mistakes_come_before_the_first_run \
    what_an_algorithm_does_not_answer_is_a_mistake \
    what_cannot_be_written_is_trouble counting_shows_shares
