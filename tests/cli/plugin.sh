#!/bin/bash
# tests/cli/plugin.sh -- algorithms that are libraries: good ones, and bad ones.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh
. "$tree/tests/cli/lib/plug.sh"

# build_odd [FLAG...]: odd.so; what it does wrong says ODD when it runs.
build_odd() {
	${CC:-cc} -shared -fPIC -I"$tree" -o odd.so "$@" \
	    "$tree/tests/cli/lib/odd_plugin.c" -lm
}

# As a newcomer does.
build_mine() {
	cp "$tree/experiments/plug/mine.c" .
	${CC:-cc} -O2 -shared -fPIC -I"$BUILD/include" -o mine.so mine.c
}

the_header_is_c99_and_cpp() {
	cat >x.c <<-'END'
		#include <culprit/plugin.h>
		int main(void)
		{
			struct culprit_window w;
			w.size = sizeof(w);
			return !CULPRIT_HAS(&w, path_link);
		}
	END
	cp x.c x.cpp
	for std in c99 c17; do
		${CC:-cc} -std=$std -Wall -Wextra -Wpedantic -Werror \
		    -I"$BUILD/include" -o x x.c
		./x
	done
	${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Werror -shared -fPIC \
	    -I"$BUILD/include" -o mine.so "$tree/experiments/plug/mine.c"
	command -v "${CXX:-c++}" >/dev/null || skip "no C++"
	for std in c++98 c++17; do
		${CXX:-c++} -std=$std -Wall -Wextra -Wpedantic -Werror \
		    -I"$BUILD/include" -o x x.cpp
		./x
	done
}

it_describes_itself() {
	build_odd
	run_for 0 "$CULPRIT" algos ./odd.so
	says '^odd  *for tests$' stdout
	says 'scale  *number  *\[0.5, 8\] votes  *1  *what a flow counts' stdout
	run_for 0 "$CULPRIT" algos --json odd.so
	says '"name": "odd".*"timeout", "audit", "scale"' stdout
	write_plug "plugin: odd.so" ", scale: 9"
	run_for 2 "$CULPRIT" run plug.yaml -o x.h5
	says 'scale.*9.*\[0.5, 8\]' stderr
}

# The values of column $1 in a table of $2.
column() {
	"$CULPRIT" table "$2" | awk -F'\t' -v c="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) k = i }
		NR > 1 && k { print $k }'
}

# The example is the built-in, and says the same to the last digit.
the_example_votes_as_vote_does() {
	build_mine
	for workers in 1 2; do
		write_plug "plugin: mine.so" ", accuse: 0, audit: 1"
		run_for 0 "$CULPRIT" run plug.yaml -j $workers -o $workers.h5
		silent without stdout
		for metric in accuracy_fault accuracy_fault_lo top_k_recall; do
			column vote:$metric $workers.h5 >want
			column mine:$metric $workers.h5 >got
			[[ $(wc -l <want) = 2 ]]
			same got want
		done
	done
	run_for 0 "$CULPRIT" table 1.h5
	cp stdout one
	run_for 0 "$CULPRIT" table 2.h5
	same stdout one
}

what_is_wrong_with_a_library_is_told() {
	# A sanitizer would see the signal first, and end by itself.
	local ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0
	build_odd
	while IFS='|' read -r way text; do
		ODD=$way run_for 2 "$CULPRIT" algos ./odd.so
		says "^culprit: ./odd.so: .*$text" stderr
		write_plug "plugin: ./odd.so"
		ODD=$way run_for 2 "$CULPRIT" run plug.yaml -o x.h5
		says "^culprit: plug.yaml:7:30: .*$text" stderr
		[[ $(wc -l <stderr) = 1 ]] # once, not once a point
	done <<-'END'
		load_crash|it died of signal 11
		load_exit|ended with status 4; last words: "I won't"
		crash|it died of signal 4
		null_plugin|its culprit_plugin_1\(\) returns nothing
		small|its struct culprit_plugin has 24 bytes, and [0-9]* are due
		stride|a parameter of it has 8 bytes, and [0-9]* are due
		without|it lacks one of open\(\), diagnose\(\) and close\(\)
		needs|it needs features 0x200 that this culprit has not
		says_more|it says features 0x10000000000 that this culprit has not
		nameless|a name has 1 to 31 bytes
		range_0|its default
		type|a parameter is u32, f64 or bool
	END
}

what_is_no_plugin_is_told() {
	run_for 2 "$CULPRIT" algos ./no.so
	says './no.so: cannot open shared object file: No such file' stderr
	silent 'no.so.*no.so' stderr
	echo 'not ELF' >no.so
	run_for 2 "$CULPRIT" algos ./no.so
	says './no.so: (file too short|invalid ELF header)' stderr
	build_odd -DOLD
	run_for 2 "$CULPRIT" algos ./odd.so
	says 'it has culprit_plugin_2\(\), another version' stderr
	build_odd -DNONE
	run_for 2 "$CULPRIT" algos ./odd.so
	says 'it has no culprit_plugin_1\(\), so it is no plug-in' stderr
	build_odd
	write_plug "plugin: ./odd.so" ", exec: x"
	run_for 2 "$CULPRIT" run plug.yaml -o x.h5
	says 'an algorithm has one of exec and plugin' stderr
	write_plug "plugin: [odd.so]"
	run_for 2 "$CULPRIT" run plug.yaml -o x.h5
	says 'plugin is the name of a file' stderr
}

# What a later interface appends is passed over; a text is a line.
a_later_plugin_is_read_as_far_as_it_is_known() {
	build_odd
	ODD=later run_for 0 "$CULPRIT" algos --json ./odd.so
	says '"scale", "second"' stdout
	ODD=lines run_for 0 "$CULPRIT" algos ./odd.so
	says '^odd  *one needs all$' stdout
}

# The tables of parameters go by columns.
a_unit_is_a_word() {
	build_odd
	run_for 0 "$CULPRIT" algos ./odd.so
	says '[[]0.5, 8[]] votes  *1 ' stdout
	for way in words no_word; do
		ODD=$way run_for 0 "$CULPRIT" algos ./odd.so
		says '[[]0.5, 8[]] [?]  *1 ' stdout
	done
}

# What it does wrong costs its own numbers and no other's, whatever it is.
a_bad_window_is_told_and_costs_no_other_its_row() {
	build_odd
	write_plug "plugin: odd.so"
	run_for 0 "$CULPRIT" run plug.yaml -j 2 -o good.h5
	columns_of vote good.h5 >vote
	while IFS='|' read -r way text; do
		# Who answers has all the time that a busy machine needs.
		limit=60
		[[ $way != hang && $way != spin ]] || limit=0.3
		write_plug "plugin: odd.so" ", audit: 0, timeout: $limit"
		ODD=$way run_for 0 "$CULPRIT" run plug.yaml -j 2 -o "$way.h5"
		says "culprit: point . \(faults.count .\) run .*: algorithm odd: .*$text" stderr
		says '24 of 24 cells done, [1-9][0-9]* without odd' stdout
		columns_of vote "$way.h5" >got
		same got vote
	done <<-'END'
		segfault|diagnose\(\): it crashed by signal 11
		null|diagnose\(\): it crashed by signal 11
		abort|diagnose\(\): it crashed by signal 6
		stack|diagnose\(\): it crashed by signal 11
		hang|diagnose\(\): no answer within its timeout
		spin|diagnose\(\): no answer within its timeout
		says|it failed: I don't like this window\.
		mute|it failed\.
		range|answer 0 is component [0-9]* of [0-9]*\.
		twice|component 1 is answered twice
		nan|answer 0 has a score of -*nan
		many|an answer of 4294967295 components, where there are
		flagged|an answer accuses [0-9]* of [0-9]* components
		open_fails|it failed: too large for me\.
		open_crash|open\(\): it crashed by signal 11
		exit|diagnose\(\): it called exit\(\), which a library may not
	END
}

# Cells that follow a crash are served by another process, so which ones fail
# does not depend on how many there are.
the_same_cells_fail_for_any_number_of_workers() {
	build_odd
	for workers in 1 2; do
		write_plug "plugin: odd.so" ', audit: 0'
		ODD=segfault run_for 0 "$CULPRIT" run plug.yaml -j $workers \
		    -o $workers.h5
		grep ^culprit stderr | sort >told.$workers
	done
	same told.1 told.2
	run_for 0 "$CULPRIT" table 1.h5
	cp stdout one
	run_for 0 "$CULPRIT" table 2.h5
	same stdout one
	says 'odd:' one
}

# Nothing keeps a library from ending its process at once. That costs the cell.
one_that_ends_at_once_costs_its_cells() {
	build_odd
	write_plug "plugin: odd.so" ', audit: 0'
	ODD=_exit run_for 3 "$CULPRIT" run plug.yaml -j 2 -o x.h5
	says 'the worker exited with status 3' stderr
}

# What should not be there is told when it is described and when it is run, once.
imports_are_looked_at() {
	build_mine
	run_for 0 "$CULPRIT" algos ./mine.so
	silent . stderr
	build_odd
	run_for 0 "$CULPRIT" algos ./odd.so
	says '^culprit: warning: ./odd.so imports .*\babort\b' stderr
	says '\bexit\b.*: a library should not end' stderr
	silent 'strcmp|memcpy|snprintf' stderr
	write_plug "plugin: odd.so"
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o x.h5
	[[ $(grep -c 'warning: plug.yaml: algorithm odd imports' stderr) = 1 ]]
}

one_cell_says_why_there_is_no_answer() {
	build_odd
	write_plug "plugin: odd.so" ', audit: 0'
	for run in {0..11}; do
		ODD=segfault run_for 0 "$CULPRIT" run plug.yaml --point 0 \
		    --run "$run"
		grep -q '^no answer of algorithm odd: .*signal 11' stdout &&
			return
	done
	fail "all windows were answered"
}

hidden_state_is_found() {
	build_odd
	write_plug "plugin: odd.so" ', audit: 1'
	ODD=moody run_for 0 "$CULPRIT" run plug.yaml -j 1 -o x.h5
	says 'asked twice about one window it answered differently' stderr
}

# A library linked with -ffast-math makes tiny numbers zero for the whole
# process, and any may round as it likes, or set a locale with a comma.
what_it_sets_for_its_process_is_set_back() {
	build_odd
	write_plug "plugin: odd.so"
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o good.h5
	columns_of vote good.h5 >want
	for way in rounds locale; do
		ODD=$way LC_ALL=de_DE.UTF-8 run_for 0 "$CULPRIT" run plug.yaml \
		    -j 1 -o $way.h5
		columns_of vote $way.h5 >got
		same got want
		ODD=$way LC_ALL=de_DE.UTF-8 run_for 0 "$CULPRIT" run plug.yaml \
		    --point 1 --run 1
		silent '[0-9],[0-9]{4}'
	done
}

a_leak_is_bounded() {
	build_odd
	write_plug "plugin: odd.so" ', audit: 0'
	cat >measure.py <<-'END'
		import resource, subprocess, sys
		code = subprocess.call(sys.argv[1:])
		print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
		sys.exit(code)
	END
	ODD=leak run_for 0 python3 measure.py "$CULPRIT" run plug.yaml -j 1 \
	    -o x.h5
	silent without stdout
	[[ $(tail -n 1 stdout) -lt 1500000 ]] || fail "$(tail -n 1 stdout) kiB"
}

a_sweep_goes_on_only_with_the_same_library() {
	build_odd
	write_plug "plugin: odd.so"
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o a.h5
	run_for 0 "$CULPRIT" run plug.yaml -j 1 -o a.h5
	build_odd -O1
	run_for 2 "$CULPRIT" run plug.yaml -j 1 -o a.h5
	says 'holds results of another spec' stderr
}

# A library of the user's that comes with it is of it, too.
a_sweep_knows_what_a_library_loads() {
	mkdir lib
	for n in 1 2; do
		echo "int beside(void); int beside(void) { return $n; }" >b.c
		${CC:-cc} -shared -fPIC -o lib/libbeside$n.so b.c
	done
	cp lib/libbeside1.so lib/libbeside.so
	build_odd -Wl,--no-as-needed -Llib -lbeside "-Wl,-rpath,$PWD/lib"
	write_plug "plugin: odd.so"
	run_for 0 "$CULPRIT" run plug.yaml -q -o a.h5
	run_for 0 "$CULPRIT" run plug.yaml -q -o a.h5
	cp lib/libbeside2.so lib/libbeside.so
	run_for 2 "$CULPRIT" run plug.yaml -q -o a.h5
	says 'holds results of another spec' stderr
}

# By the spec's words and the bytes alone: not by where it was started, or lies.
a_sweep_is_the_same_from_any_folder() {
	mkdir -p here/lib here/below beside
	echo "int beside(void); int beside(void) { return 1; }" >b.c
	${CC:-cc} -shared -fPIC -o here/lib/libbeside.so b.c
	build_odd -Wl,--no-as-needed -Lhere/lib -lbeside \
	    '-Wl,-rpath,$ORIGIN/lib'
	mv odd.so here
	write_plug "plugin: ./odd.so"
	mv plug.yaml here
	(cd here && run_for 0 "$CULPRIT" run plug.yaml -q -o ../want.h5)
	for from in here/below:.. beside:../here .:here "/:$PWD/here"; do
		cp want.h5 got.h5
		to=$PWD/got.h5
		(cd "${from%%:*}" &&
			"$CULPRIT" run "${from#*:}/plug.yaml" -q -o "$to" &&
			"$CULPRIT" run "${from#*:}/plug.yaml" -q --fresh -o "$to") ||
			fail "from ${from%%:*}"
		same got.h5 want.h5
	done
	cp -r here moved
	run_for 0 "$CULPRIT" run moved/plug.yaml -q -o got.h5
	same got.h5 want.h5
	# That all are equal would be true of no hash at all.
	printf x >>moved/lib/libbeside.so
	run_for 2 "$CULPRIT" run moved/plug.yaml -q -o got.h5
	says 'holds results of another spec' stderr
}

an_epoch_and_a_cell_have_one_answer() {
	build_odd
	write_plug "plugin: odd.so"
	run_for 0 "$CULPRIT" run plug.yaml --point 1 --run 3
	sed -n '/^odd$/,$p' stdout | grep accused >cell
	run_for 0 "$CULPRIT" dump plug.yaml --point 1 --run 3 -o w.h5
	run_for 0 "$CULPRIT" diagnose w.h5
	sed -n '/^odd$/,$p' stdout | grep accused >got
	same got cell
	run_for 0 "$CULPRIT" diagnose w.h5 -a '{plugin: ./odd.so, label: again}'
	says '^again$' stdout
}

run_tests the_header_is_c99_and_cpp it_describes_itself \
    the_example_votes_as_vote_does what_is_wrong_with_a_library_is_told \
    what_is_no_plugin_is_told a_later_plugin_is_read_as_far_as_it_is_known \
    a_unit_is_a_word \
    a_bad_window_is_told_and_costs_no_other_its_row \
    the_same_cells_fail_for_any_number_of_workers \
    one_that_ends_at_once_costs_its_cells imports_are_looked_at \
    one_cell_says_why_there_is_no_answer \
    hidden_state_is_found what_it_sets_for_its_process_is_set_back \
    a_leak_is_bounded a_sweep_goes_on_only_with_the_same_library \
    a_sweep_knows_what_a_library_loads a_sweep_is_the_same_from_any_folder \
    an_epoch_and_a_cell_have_one_answer
