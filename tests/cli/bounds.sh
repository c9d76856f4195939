#!/bin/bash
# tests/cli/bounds.sh -- culprit bounds: the theorems' numbers and their forms.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

bounds() { "$CULPRIT" bounds "$@"; }

# KEY of the JSON, rounded to 4 digits.
number() { json stdout "'%.4g' % d$1"; }

the_papers_network_has_the_papers_numbers() {
	run_for 0 bounds --n-pod 2 --n0 20 --n1 8 --n2 10 --hosts 40
	says 'C_t = 1\.0+ ' stdout
	says 'C_t = 0\.6610' stdout
	says 'alpha.* 4\.270 ' stdout
	says 'needs n_pod >= 1 \+ n0/n1 = 3\.5: fails with 2' stdout
	run_for 0 bounds --json
	[[ $(number '["ct_paper"]') = 1 ]]
	[[ $(number '["paper"]["alpha"]') = 4.27 ]]
	[[ $(number '["any_pods"]["alpha"]') = 4.559 ]]
	[[ $(number '["paper"]["p_good_max"]') = 1.171e-06 ]]
	[[ $(json stdout 'd["paper"]["holds"]') = False ]]
	run_for 0 bounds --n-pod 4 --json
	[[ $(number '["paper"]["alpha"]') = 6.493 ]]
	[[ $(json stdout 'd["paper"]["holds"]') = True ]]
}

both_ways_to_name_a_network_agree() {
	run_for 0 bounds --n-pod 3 --n0 4 --n1 5 --n2 6 --hosts 7
	mv stdout letters
	run_for 0 bounds -s n_pods=3 -s n_tors=4 -s n_t1=5 -s n_t2=6 \
	    -s n_hosts=7
	same letters stdout
}

the_chance_to_misrank_falls_with_connections() {
	run_for 0 bounds --n-pod 4 --p-bad 1e-3 --packets 50,50 --table
	[[ $(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++)
		if ($i == "simulated:best") c = i; next }
	    $c != "NaN" && last != "" && $c > last { bad++ }
	    { last = $c; n++ } END { print (n > 10), bad + 0 }' stdout) = "1 0" ]]
}

mistakes_are_named() {
	run_for 2 bounds --n-pod 0
	says 'n-pod|n_pods'
	run_for 2 bounds --p-bad 2
	says '\[0, 1\]'
	run_for 2 bounds --packets 5
	run_for 2 bounds --packets 9,3
	run_for 2 bounds --set n_cores=3
	run_for 2 bounds extra
}

run_tests the_papers_network_has_the_papers_numbers \
    both_ways_to_name_a_network_agree \
    the_chance_to_misrank_falls_with_connections mistakes_are_named
