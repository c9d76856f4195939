#!/bin/bash
# tests/cli/plug.sh -- algorithms from outside: good ones, and in bad ways.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh
. "$tree/tests/cli/lib/plug.sh"

odd="python3 $tree/tests/cli/lib/odd_algo.py"

it_describes_itself() {
	run_for 0 "$CULPRIT" algos "$odd good"
	says '^odd  *for tests$' stdout
	says 'scale  *number  *\[0.5, 8\] votes  *1  *what a flow counts' stdout
	says 'timeout .* stopped$' stdout
	run_for 0 "$CULPRIT" algos --json "$odd good"
	says '"name": "odd".*"timeout", "audit", "scale"' stdout
}

what_is_wrong_with_a_description_is_told() {
	while IFS='|' read -r way text; do
		run_for 2 "$CULPRIT" algos "$odd $way"
		says "$text" stderr
		write_plug "exec: \"$odd $way\""
		run_for 2 "$CULPRIT" run plug.yaml -o x.h5
		says "^culprit: plug.yaml:7:28: .*$text" stderr
		[[ $(wc -l <stderr) = 1 ]] # once, not once a point
	done <<-'END'
		dumb|ended with status 1; last words: "I have nothing to say"
		future|line 1 of its description: it begins with "culprit 2", not
		needy|line 3 .*"telepathy" is nothing that this culprit has
		column|no column is called "n_retxs"; did you mean "n_retx"?
		endless|has no end within 65536 bytes
	END
	run_for 2 "$CULPRIT" algos "./no/such"
	says 'last words: "./no/such: No such file or directory"' stderr
}

parameters_are_those_of_its_table() {
	write_plug "exec: \"$odd good\"" ', scale: 9'
	run_for 2 "$CULPRIT" run plug.yaml -o x.h5
	says 'scale.*9.*\[0.5, 8\]' stderr
	write_plug "exec: \"$odd good\"" ', scales: 2'
	run_for 2 "$CULPRIT" run plug.yaml -o x.h5
	says 'did you mean "scale"' stderr
	write_plug "exec: \"$odd good\"" ', scale: 2'
	run_for 0 "$CULPRIT" run plug.yaml --point 0 --run 0
	cp stdout two
	run_for 0 "$CULPRIT" run plug.yaml --point 0 --run 0 \
	    -s algorithms.1.scale=1
	not cmp -s stdout two
}

answers_are_the_same_for_any_number_of_workers() {
	write_plug "exec: \"$odd good\""
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o a.h5
	run_for 0 "$CULPRIT" run plug.yaml -j 2 -o b.h5
	run_for 0 "$CULPRIT" table a.h5
	cp stdout a
	run_for 0 "$CULPRIT" table b.h5
	same stdout a
	says 'odd:precision' a
	silent 'without' a
	run_for 0 "$CULPRIT" status a.h5
	silent 'without' stdout
}

# What it does wrong costs its own numbers and no other's. It does so in some of
# these ten windows.
a_bad_window_is_told_and_costs_no_other_its_row() {
	write_plug "exec: \"$odd good\""
	run_for 0 "$CULPRIT" run plug.yaml --runs 5 -j 2 -o good.h5
	columns_of vote good.h5 >vote
	while IFS='|' read -r way text; do
		# Who answers has all the time that a busy machine needs.
		[[ $way != leak || $BUILD != *-san ]] || continue # takes memory
		limit=60
		[[ $way != hang ]] || limit=0.3
		write_plug "exec: \"$odd $way\"" ", audit: 0, timeout: $limit"
		run_for 0 "$CULPRIT" run plug.yaml --runs 5 -j 2 -o "$way.h5"
		says "culprit: point . \(faults.count .\) run .*: algorithm odd: .*$text" stderr
		says '10 of 10 cells done, [1-9][0-9]* without odd' stdout
		run_for 0 "$CULPRIT" status "$way.h5"
		says '10 of 10 cells done, [1-9][0-9]* without odd' stdout
		columns_of vote "$way.h5" >got
		same got vote
	done <<-'END'
		range|answer 0 is component [0-9]* of [0-9]*\.
		twice|component 1 is answered twice
		nan|answer 0 has a score of -*nan
		many|an answer of 4294967295 components, where there are
		flagged|an answer accuses 2 of 1 components
		blame|blames for 1 flows, where
		garbage|garbage: a frame of type 1819043144
		extra|garbage: 4 bytes behind its answer
		half|it ended with status 0
		exit|ended with status 3; last words: "I give up \[31m"
		killed|died of signal 11
		hang|no answer within its timeout
		closes|it closed its answers
		says|it failed: I don't like this window
		leak|ended with status 1; last words: "MemoryError"
	END
}

one_cell_says_why_there_is_no_answer() {
	local run
	write_plug "exec: \"$odd says\"" ', audit: 0'
	for run in {0..11}; do
		run_for 0 "$CULPRIT" run plug.yaml --point 0 --run "$run"
		grep -q '^no answer of algorithm odd: it failed: I don' stdout &&
			return
	done
	fail "all windows were answered"
}

# So that a program that can't work does not cost its start at each cell.
one_that_always_dies_is_given_up() {
	write_plug "exec: \"$odd closed\""
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o x.h5
	says '24 without odd' stdout
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o x.h5 --fresh -s runs=20
	says 'it failed 8 times in a row and is not started again' stderr
}

hidden_state_is_found() {
	write_plug "exec: \"$odd moody\"" ', audit: 1'
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o x.h5
	says 'asked twice about one window it answered differently' stderr
	says '24 without odd' stdout
	write_plug "exec: \"$odd good\"" ', audit: 1'
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o y.h5
	silent 'without' stdout
}

what_it_prints_is_in_nobodys_way() {
	write_plug "exec: \"$odd good\""
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o a.h5
	columns_of odd a.h5 >want
	write_plug "exec: \"$odd loud\""
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o b.h5
	columns_of odd b.h5 >got
	same got want
	silent xxx stdout
}

a_sweep_goes_on_only_with_the_same_program() {
	cp "$tree/tests/cli/lib/odd_algo.py" mine.py
	write_plug "exec: \"python3 mine.py good\""
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o a.h5
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o a.h5
	echo '# better' >>mine.py
	run_for 2 "$CULPRIT" run plug.yaml -j 1 -o a.h5
	says 'holds results of another spec' stderr
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o a.h5 --fresh
}

# What it imports is of it, as far as it knows when it describes itself.
a_sweep_knows_what_a_program_imports() {
	local python
	find_numpy
	cat >mine.py <<-END
		import other
		exec(open("$tree/experiments/plug/mine.py").read())
	END
	echo 'x = 1' >other.py
	echo 'x = 1' >unused.py
	write_plug "exec: \"$python mine.py\""
	run_for 0 "$CULPRIT" run plug.yaml -q -o a.h5
	echo 'x = 2' >unused.py
	run_for 0 "$CULPRIT" run plug.yaml -q -o a.h5
	echo 'x = 2' >other.py
	run_for 2 "$CULPRIT" run plug.yaml -q -o a.h5
	says 'holds results of another spec' stderr
}

no_child_stays_behind() {
	local pid mark="stay$$"
	cp "$tree/tests/cli/lib/odd_algo.py" "$mark.py"
	write_plug "exec: \"python3 $mark.py hang\"" ', timeout: 100'
	"$CULPRIT" run plug.yaml -j 2 -o a.h5 >/dev/null 2>&1 &
	pid=$!
	for _ in {1..100}; do
		[[ $(pgrep -fc "$mark.py hang" || true) -ge 2 ]] && break
		sleep 0.1
	done
	[[ $(pgrep -fc "$mark.py hang") -ge 2 ]] || fail "no child was started"
	kill -KILL "$pid"
	wait "$pid" || true
	for _ in {1..100}; do
		pgrep -f "$mark.py hang" >/dev/null || return 0
		sleep 0.1
	done
	fail "a child outlived the sweep"
}

an_epoch_and_a_cell_have_one_answer() {
	write_plug "exec: \"$odd good\""
	run_for 0 "$CULPRIT" run plug.yaml --point 1 --run 3
	sed -n '/^odd$/,$p' stdout | grep accused >cell
	run_for 0 "$CULPRIT" dump plug.yaml --point 1 --run 3 -o w.h5
	run_for 0 "$CULPRIT" diagnose w.h5
	sed -n '/^odd$/,$p' stdout | grep accused >got
	same got cell
	run_for 0 "$CULPRIT" diagnose w.h5 \
	    -a "{exec: \"$odd good\", label: again}"
	says '^again$' stdout
	run_for 0 "$CULPRIT" explain plug.yaml --point 1 --run 3
	says '^odd$' stdout
	run_for 0 "$CULPRIT" explain plug.yaml --point 1 --run 3 -o a.svg
}

# In an epoch's file as in a sweep: the others answer.
one_that_fails_costs_no_other_its_answer() {
	write_plug "exec: \"$odd good\""
	run_for 0 "$CULPRIT" dump plug.yaml --point 1 --run 3 -o w.h5
	run_for 0 "$CULPRIT" diagnose w.h5 -a vote
	sed -n '/^vote$/,$p' stdout >want
	run_for 3 "$CULPRIT" diagnose w.h5 -a "{exec: \"$odd always\"}" -a vote
	says '^culprit: algorithm odd: it failed: never' stderr
	says '^no answer of algorithm odd: it failed: never' stdout
	sed -n '/^vote$/,$p' stdout >got
	same got want
	run_for 3 "$CULPRIT" diagnose w.h5 -a "{exec: \"$odd always\"}" -a vote \
	    --json
	says '"label": "odd".*"failed": "algorithm odd: it failed: never' stdout
}

# Who looks at results does not mean to start what their spec names.
verbs_that_only_read_start_nothing() {
	cat >mark.py <<-END
		import sys
		open("started", "w").close()
		sys.argv = ["odd", "good"]
		exec(open("$tree/tests/cli/lib/odd_algo.py").read())
	END
	write_plug 'exec: "python3 mark.py"'
	run_for 0 "$CULPRIT" run plug.yaml -q -o a.h5
	[[ -e started ]]
	rm started
	for verb in status table verify; do
		"$CULPRIT" $verb a.h5 >/dev/null 2>&1 || true
	done
	run_for 0 "$CULPRIT" report a.h5 -o a.html
	says 'algorithm odd is a program or plug-in, which is not started' a.html
	sed -i 's/^traffic/plane: everflow\ntraffic/' plug.yaml
	"$CULPRIT" trace rules plug.yaml >/dev/null 2>&1 || true
	[[ ! -e started ]] || fail "it was started"
}

the_helper_for_python_ranks_as_vote_does() {
	local python
	find_numpy
	cp "$tree/experiments/plug/mine.py" .
	write_plug "exec: \"$python mine.py\"" ', accuse: 1'
	run_for 0 "$CULPRIT" run plug.yaml -j 2 -o a.h5
	silent without stdout
	"$CULPRIT" table a.h5 >got
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) n[$i] = i }
		NR > 1 && $n["vote:top_k_recall"] != $n["mine:top_k_recall"] {
			exit 1 }' got || fail "$(cat got)"
}

# Frames that are cut, forged or out of turn: an answer each, none too many.
the_helper_for_python_bears_any_frames() {
	local python
	find_numpy
	PLUG=$tree/experiments/plug run_for 0 $python -B \
	    "$tree/tests/cli/lib/plug_frames.py" 300
	[[ $(cat stdout) = "300 lives" && ! -s stderr ]]
}

run_tests it_describes_itself what_is_wrong_with_a_description_is_told \
    parameters_are_those_of_its_table \
    answers_are_the_same_for_any_number_of_workers \
    a_bad_window_is_told_and_costs_no_other_its_row \
    one_cell_says_why_there_is_no_answer \
    one_that_always_dies_is_given_up hidden_state_is_found \
    what_it_prints_is_in_nobodys_way \
    a_sweep_goes_on_only_with_the_same_program \
    a_sweep_knows_what_a_program_imports no_child_stays_behind \
    an_epoch_and_a_cell_have_one_answer \
    one_that_fails_costs_no_other_its_answer \
    verbs_that_only_read_start_nothing \
    the_helper_for_python_ranks_as_vote_does \
    the_helper_for_python_bears_any_frames
