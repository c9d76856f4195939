#!/bin/bash
# tests/cli/convert.sh -- culprit convert: epochs as Flock's traces, and back.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

write_spec() {
	cat >sums.yaml <<-END
		figure: sums
		seed: 7
		plane: telemetry
		topology: { kind: fat_tree, k: 4, oversub: 3 }
		noise: { rate: {uniform: [0, 1e-4]} }
		faults: { count: 2, rate: 0.03 }
		telemetry: { kinds: [int, a1], flows: 40 }
		algorithms: [flock]
	END
}

accused() {
	"$CULPRIT" diagnose "$1" -a flock --json |
		python3 -c '
import json, sys
a = json.load(sys.stdin)["algorithms"][0]
print([(x["id"], x["score"]) for x in a["ranked"] if x["accused"]])'
}

there_and_back_it_is_the_same() {
	write_spec
	run_for 0 "$CULPRIT" dump sums.yaml -o a.h5
	run_for 0 "$CULPRIT" convert a.h5 --edges a.edgelist --trace a.txt
	run_for 0 "$CULPRIT" convert --edges a.edgelist --trace a.txt -o b.h5
	says '1920 flows, 384 probes, 2 failed links, 0 failed' stdout
	run_for 0 "$CULPRIT" convert b.h5 --edges b.edgelist --trace b.txt.gz
	same a.edgelist b.edgelist
	gzip -dc b.txt.gz >b.txt
	same a.txt b.txt
	run_for 0 "$CULPRIT" convert --edges a.edgelist --trace b.txt.gz -o c.h5
	same b.h5 c.h5
	run_for 0 "$CULPRIT" convert --edges a.edgelist --trace a.txt -o p.h5 \
		--telemetry a1,a2,p
	run_for 0 "$CULPRIT" dump sums.yaml -o q.h5 \
		--set 'telemetry.kinds=[a1,a2,p]'
	for x in "a b" "p q"; do
		set -- $x
		run_for 0 "$CULPRIT" diagnose "$1.h5" -a flock
		run_for 0 "$CULPRIT" diagnose "$2.h5" -a flock
		accused "$1.h5" | sed 's/\.[0-9]*//g' >one
		accused "$2.h5" | sed 's/\.[0-9]*//g' >two
		same one two
	done
}

what_does_not_fit_is_told() {
	write_spec
	run_for 2 "$CULPRIT" convert
	says '[-]-edges and --trace: which files'
	run_for 2 "$CULPRIT" convert --edges e --trace t
	says 'either EPOCH'
	run_for 0 "$CULPRIT" dump sums.yaml -o p.h5 \
		--set 'telemetry.kinds=[a1,p]'
	run_for 2 "$CULPRIT" convert p.h5 --edges e --trace t
	says 'row 0 has no path'
	[[ ! -e e && ! -e t ]]
	run_for 0 "$CULPRIT" dump vigil_fig05a --smoke -o f.h5
	run_for 2 "$CULPRIT" convert f.h5 --edges e --trace t
	says 'has no flows as sums'
	printf '1 3\n2 3\n10000->1\n10001->2\n' >e
	printf 'FID 10000 10001 1 2 1500 0\nFPT 1 3 2\nSS 1 5 9 0\n' >t
	run_for 3 "$CULPRIT" convert --edges e --trace t -o x.h5
	says 't:3: LOST is "9", which is no whole number from 0 to 5'
	[[ ! -e x.h5 ]]
	run_for 2 "$CULPRIT" convert --edges e --trace t -o x.h5 --telemetry a3
	says 'a3 is none of int, a1, a2 and p'
	run_for 2 "$CULPRIT" convert --edges e --trace t -o t
	gzip -c t | head -c 30 >t.gz
	run_for 3 "$CULPRIT" convert --edges e --trace t.gz -o x.h5
}

small_network() {
	printf '1 3\n1 4\n2 3\n2 4\n10000->1\n10001->2\n' >e
	printf 'FID 10000 10001 1 2 1500 0\nFPT 1 3 2\nSS 1 5 1 0\n' >t
}

# Which hosts they are of an epoch has not, so none are written of it again.
black_holes_are_read_and_their_switches_kept() {
	small_network
	printf 'Failing_component 10000 10001 3 1\n' >t.fails
	run_for 0 "$CULPRIT" convert --edges e --trace t --fails t.fails -o x.h5
	says '1 failed switches' stdout
	run_for 2 "$CULPRIT" convert x.h5 --edges e2 --trace t2 --fails f2
	says 'there are no black holes to be written'
	[[ ! -e e2 && ! -e t2 && ! -e f2 ]]
	printf 'Failing_component 10000 10009 3 1\n' >t.fails
	run_for 3 "$CULPRIT" convert --edges e --trace t --fails t.fails -o y.h5
	says 't.fails:1: DST is 10009, but the network has no such host'
	run_for 2 "$CULPRIT" convert --edges e --trace t --fails t.fails \
		-o t.fails
	same t t
	[[ ! -e y.h5 ]]
}

# Of 3,000,000 lines 1,000,000 rows are kept and no text. What the program maps before
# it reads anything is found by a trace of one flow.
memory_is_of_rows_and_not_of_lines() {
	[[ $BUILD != *-san ]] || skip "sanitizers take memory"
	local kib=30000
	small_network
	until (ulimit -v $kib && "$CULPRIT" convert --edges e --trace t \
	    -o x.h5 -f) >log 2>&1; do
		kib=$((kib + 5000))
		[[ $kib -lt 1000000 ]] || { cat log; fail "one flow"; }
	done
	awk 'BEGIN { for (i = 0; i < 1000000; i++)
		printf "FID 10000 10001 1 2 %d 0.0\nFPT 1 %d 2\nSS 0 9 %d 0\n",
		    13500, 3 + i % 2, i % 97 == 0 }' >t
	(
		ulimit -v $((kib + 120000))
		run_for 0 "$CULPRIT" convert --edges e --trace t -o x.h5 -f
	)
	says '3000000 lines: 1000000 flows' stdout
	(
		ulimit -v $((kib + 2000))
		run_for 3 "$CULPRIT" convert --edges e --trace t -o y.h5
	)
	says '^culprit: (t:[0-9]+: no memory|y.h5: no memory|library hdf5) '
	[[ $(wc -l <stderr) = 1 && ! -e y.h5 ]]
}

each_mistake_is_one_line() {
	small_network
	: >empty
	printf 'FID 10000 10001 1 2 1500 0\nFPT 1 4 3 2\nSS 1 5 1 0\n' >way
	printf 'FID 10000 10007 1 2 1500 0\nFPT 1 3 2\nSS 1 5 1 0\n' >node
	printf 'FID 10000 10001 1 2 1500 0\nFPT 1 3 2\nSS 1 5' >cut
	gzip -c t | head -c 40 >cut.gz
	printf 'Failing_link 1 3 2\n' >rate
	local name
	for name in "way:2: no cable joins 4 and 3" "node:1: DST is 10007" \
	    "cut:3: the last line has no end" "cut.gz: it is cut" \
	    "rate:1: X is .2., which is no number from 0 to 1" "none: "; do
		run_for 3 "$CULPRIT" convert --edges e \
			--trace "${name%%:*}" -o x.h5
		says "$name"
		[[ $(wc -l <stderr) = 1 ]] || { cat stderr; fail "$name"; }
	done
	run_for 3 "$CULPRIT" convert --edges empty --trace t -o x.h5
	says 'empty'
	[[ $(wc -l <stderr) = 1 && ! -e x.h5 ]]
}

run_tests there_and_back_it_is_the_same what_does_not_fit_is_told \
    black_holes_are_read_and_their_switches_kept \
    memory_is_of_rows_and_not_of_lines each_mistake_is_one_line
