#!/bin/bash
# tests/cli/plot.sh -- what is drawn of a sweep, and how.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

needs_gnuplot() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
}

# looks ALGOS...: of each label in one figure of all, its linetype and the
# colour, mark and dash of that.
looks() {
	local labels
	labels=$(printf "'%s' " "$@")
	cat >looks.gp <<-END
		OUT = "-"
		algos = "${labels% }"
		load "$tree/plots/style.gp"
		do for [a in algos] { print a . "\t" . look(a) }
		do for [a in algos] { show linetype look(a) }
	END
	gnuplot looks.gp 2>&1 | sed '/^$/d; s/^[[:space:]]*//' >said
	paste <(head -n $# said) <(tail -n $# said | sed 's/linetype [0-9]*, *//')
}

each_algorithm_has_a_look_of_its_own() {
	needs_gnuplot
	local names
	names=$("$CULPRIT" algos --json | python3 -c '
import json, sys
print(" ".join(a["name"] for a in json.load(sys.stdin)))')
	# shellcheck disable=SC2086 # words are meant
	looks $names >table
	[[ $(wc -l <table) = $(wc -w <<<"$names") ]]
	# By name: those that are left for unknown ones come behind.
	cut -f 2 table | while read -r n; do ((n <= $(wc -l <table))); done
	[[ -z $(cut -f 3 table | sort | uniq -d) ]]
	for what in 'linecolor rgb "[^"]*"' 'pointtype [0-9]*' 'dashtype.*pointtype'
	do
		[[ -z $(grep -o "$what" table | sort | uniq -d) ]]
	done
	# Nor does it depend on what else is in a figure.
	looks alg1 >alone
	same <(grep '^alg1	' table) alone
}

no_two_curves_of_a_figure_look_alike() {
	needs_gnuplot
	looks mine vote_all vote vote_ecmp_2 alg1_a alg1_b alg1_c alg1_d \
	    alg1_e "of one" w x y z cover integer binary blackhole hop_trace \
	    paper >table
	[[ $(wc -l <table) = 20 ]]
	[[ -z $(cut -f 3 table | sort | uniq -d) ]]
	# A variant has its algorithm's look, and its colour beside it.
	looks vote_all alg1_b >one
	looks vote alg1 >other
	same <(cut -f 2- one) <(cut -f 2- other)
	[[ $(awk '$1 == "vote_ecmp_2" { print $2 }' table) = \
	    $(looks vote_ecmp | cut -f 2) ]]
}

run_tests each_algorithm_has_a_look_of_its_own \
    no_two_curves_of_a_figure_look_alike
