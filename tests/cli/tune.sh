#!/bin/bash
# tests/cli/tune.sh -- culprit tune: the same again, what to paste, mistakes.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

write_telemetry_spec() {
	cat >spec.yaml <<-END
		figure: small
		seed: 7
		runs: 4
		plane: telemetry
		topology: { kind: fat_tree, k: 4, oversub: 2 }
		noise: { rate: { uniform: [0, 1e-4] } }
		faults: { count: 2, rate: { uniform: [5e-4, 5e-3] }, pick: link }
		telemetry: { kinds: [int], flows: 60 }
		algorithms: [$1]
	END
}

what_it_prints_is_an_entry_of_a_spec() {
	write_telemetry_spec sieve
	run_for 0 "$CULPRIT" tune spec.yaml flock -n 20
	mv stdout first
	run_for 0 "$CULPRIT" tune spec.yaml flock -n 20
	cmp first stdout
	[[ $(sed -n '/^p_bad/,/^{/p' first | grep -c '^[0-9]') = 21 ]]
	grep -q 'seed' first
	not grep -q 'seed 7$' first
	run_for 0 "$CULPRIT" tune spec.yaml flock -n 20 -q
	[[ $(tail -n 1 first) = "$(cat stdout)" ]]
	grep -q '^{name: flock, .*label: "flock, tuned"}$' stdout
	# Its F on the other half is what was printed as the best one's.
	seed=$(sed -nE '1s/.*seed ([0-9]+)$/\1/p' first)
	best=$(sed -nE 's/.*\t([0-9.]+)\tbest$/\1/p' first)
	write_telemetry_spec "flock, $(cat stdout)"
	run_for 0 "$CULPRIT" run spec.yaml -q -o a.h5 --set seed="$seed"
	run_for 0 "$CULPRIT" table a.h5 -c '*tuned:f,flock:f' --csv
	python3 - "$best" <<-'END'
		import csv, sys
		row = list(csv.reader(open("stdout")))[1]
		tuned, before = float(row[0]), float(row[1])
		assert abs(tuned - float(sys.argv[1])) < 1e-4, (row, sys.argv)
		assert tuned >= before, row
	END
}

mistakes_of_tuning_are_named() {
	write_telemetry_spec sieve
	run_for 2 "$CULPRIT" tune spec.yaml
	says 'one SPEC and one ALGORITHM'
	run_for 2 "$CULPRIT" tune spec.yaml flok
	says 'did you mean "flock"'
	run_for 2 "$CULPRIT" tune spec.yaml sieve
	says 'no parameters that are usually tuned'
	run_for 2 "$CULPRIT" tune spec.yaml flock --key beam=1..2
	says 'only numbers can be tuned'
	run_for 2 "$CULPRIT" tune spec.yaml flock --set 'faults=[]'
	says 'nothing fails'
	run_for 2 "$CULPRIT" tune spec.yaml '{exec: "true"}'
}

run_tests what_it_prints_is_an_entry_of_a_spec mistakes_of_tuning_are_named
