#!/bin/bash
# tests/cli/figures.sh -- the shipped figures, of their smoke runs.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Each is drawn, and what its table says is what it said before: a line a series
# of tests/golden/figures.tsv. Numbers are changed on purpose only, with those
# of golden_test; GOLDEN=write writes the file anew.
. tests/cli/lib/common.sh

# All but those of real networks.
figures() {
	local spec name
	for spec in "$tree"/experiments/*.yaml; do
		name=$(basename "$spec" .yaml)
		case $name in
		real_*) ;;
		*) [[ -f $tree/plots/$name.gp ]] && echo "$name" ;;
		esac
	done
}

# A few runs of everything: curves of a point, intervals that one run has not.
# What they make of the scripts must still be a figure.
each_is_drawn_and_can_be_read() {
	local name
	command -v gnuplot >/dev/null || skip "no gnuplot"
	cd "$tree"
	for name in $(figures); do
		"$CULPRIT" run "$name" --smoke -o "$top/$name.h5" \
		    >"$top/log" 2>&1 || { cat "$top/log"; fail "run $name"; }
		"$CULPRIT" plot --format svg -o "$top" "$top/$name.h5" \
		    >"$top/log" 2>&1 || { cat "$top/log"; fail "plot $name"; }
		# gnuplot says what it does not find, and goes on without it.
		! grep -E 'warning|undefined|line [0-9]+:' "$top/log" ||
			fail "gnuplot on $name"
		"$CULPRIT" plot --term "$top/$name.h5" >"$top/log"
		[[ -s $top/log ]]
	done
	python3 tests/cli/lib/svg_text.py "$top"/*.svg
}

# Its points stand there though they have no bars, in each curve.
one_run_which_has_no_interval_is_drawn() {
	local name
	command -v gnuplot >/dev/null || skip "no gnuplot"
	ln -s "$tree/plots" "$tree/experiments" .
	for name in sieve_vs ms_alpha ms_impute pingmesh_fig06 vigil_table1; do
		run_for 0 "$CULPRIT" run "$name" --smoke --runs 1 -q -o "$name.h5"
		run_for 0 "$CULPRIT" plot --format svg -o out "$name.h5"
		not grep 'without points' stderr
	done
	run_for 0 "$CULPRIT" run vigil_fig09 --smoke -q -o fig09.h5
	run_for 0 "$CULPRIT" plot --term fig09.h5
	says '^plots/vigil_fig09.gp: curves without points in these results: [0-9]+.$'
}

# Of the runs above, so that it costs no second one. Without gnuplot there are
# none, and they are made here.
tables_say_what_they_said_before() {
	local name golden=$tree/tests/golden/figures.tsv
	for name in $(figures); do
		[[ -f $top/$name.h5 ]] ||
		    (cd "$tree" && "$CULPRIT" run "$name" --smoke -q \
			-o "$top/$name.h5") || fail "run $name"
		"$CULPRIT" table --tidy --all "$top/$name.h5" >"$name.tidy"
	done
	python3 "$tree/tests/cli/lib/figure_sums.py" ./*.tidy >figures.tsv
	[[ ${GOLDEN:-} != write ]] || cp figures.tsv "$golden"
	diff "$golden" figures.tsv >differ || {
		head -20 differ
		fail "$(grep -c '^>' differ) series are others; if that is" \
		    "meant, GOLDEN=write, and history.tsv says why"
	}
}

# Claims are of full sweeps: where a smoke run leaves too little for one, the page
# says that it was not run. Without gnuplot, as drawings are looked at above.
claims_are_told_of_smoke_runs() {
	local claims
	for claims in "$tree"/results/expected/*.yaml; do
		(cd "$tree" && PATH=/none "$CULPRIT" report --cells 0 -q \
		    --claims "$claims" -o "$top/all.html" "$top"/*.h5) \
		    >stdout 2>stderr || fail "$(grep -v gnuplot stderr)"
		says "^$top/all.html: $(figures | wc -l) figures" stdout
	done
}

# What is not on the canvas gnuplot does not even write.
text_that_cannot_be_read_is_seen() {
	local code=0
	command -v gnuplot >/dev/null || skip "no gnuplot"
	cat >bad.gp <<-END
		set terminal svg size 300,200 noenhanced
		set output "bad.svg"
		set label 1 "one above the other" at graph 0.5, 0.5
		set label 2 "the other" at graph 0.5, 0.52
		set label 3 "much that runs over the edge" at graph 0.9, 0.1
		plot x
	END
	gnuplot bad.gp
	python3 "$tree/tests/cli/lib/svg_text.py" bad.svg >said || code=$?
	[[ $code = 1 && $(wc -l <said) = 2 ]]
	says "cut off" said
	says "cover each other" said
}

# Of a program that notes who runs beside it.
make_figures() {
	mkdir -p experiments build busy
	for name in a b c bad; do echo "figure: $name"; done |
	    while read -r key name; do
		echo "$key $name" >"experiments/$name.yaml"
	    done
	for name in n1 n2; do
		echo 'fabric: netns' >"experiments/$name.yaml"
	done
	cat >build/culprit <<-'END'
		#!/bin/bash
		[[ $1 != lab ]] || exit 0
		touch "busy/$1.$2"
		echo "$1 $2, beside $(($(ls busy | wc -l) - 1))" >>did
		rm "busy/$1.$2"
		[[ $2 != bad ]]
	END
	chmod +x build/culprit
	"$tree/plots/figures.sh" build "$@" >log
}

several_are_drawn_and_those_of_real_networks_last_and_alone() {
	make_figures 4 a n1 b n2 c
	[[ $(grep -c 'took [0-9]* s$' log) = 5 ]]
	tail -4 did | diff - <(printf '%s, beside 0\n' "run n1" "plot n1" \
	    "run n2" "plot n2")
	for name in a b c; do
		grep -q "^run $name" did
		grep -q "^plot $name" did
	done
}

one_that_fails_ends_it() {
	not make_figures 1 bad a n1 2>/dev/null
	diff did - <<<"run bad, beside 0"
	not make_figures 1 bad
}

run_tests each_is_drawn_and_can_be_read one_run_which_has_no_interval_is_drawn \
	tables_say_what_they_said_before \
	claims_are_told_of_smoke_runs text_that_cannot_be_read_is_seen \
	several_are_drawn_and_those_of_real_networks_last_and_alone \
	one_that_fails_ends_it
