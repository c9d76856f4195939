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

five=(--n-pod 4 --n0 6 --n1 3 --n2 4 --hosts 5 --k 2 --p-bad 0.01
    --packets '20,50' --t-max 7)
# Four digits, without a point behind whole thousands.
large_numbers_have_no_point() {
	run_for 0 bounds --n-pod 100 --n0 2000 --n1 8 --n2 10 --hosts 40
	says '^  alpha = least r_bad / r_good  *1  *878\.9  *1056  *1584$' stdout
	says '^    T2 +79\.20 +7920   above T_max$' stdout
}

a_page_is_this() {
	run_for 0 bounds "${five[@]}"
	cat >want <<-'END'
		Clos: n_pod = 4; n0 = 6 ToRs and n1 = 3 T1s a pod; n2 = 4 T2s; H = 5 hosts a ToR

		Theorem 1: path discoveries a host may start a second, when a switch may
		answer T_max = 7 times a second
		  C_t = 0.7000   formula (1)
		  C_t = 0.2981  corrected: every answer counts
		  answers a second of one switch at the C_t of (1):
		            paper   really
		    ToR         -    7.000
		    T1      7.000    12.48   above T_max
		    T2      4.109    16.43   above T_max

		Theorems 2 and 3: votes rank bad links, k = 2, above all good ones
		  p_bad 0.01, p_good up to 1e-06, 20 to 50 packets
		                                 unit        paper  any pods simulated
		  k must be below                links       5.111     5.111         -
		  alpha = least r_bad / r_good   1           7.071     7.071         -
		  p_good at most                 1/pkt   0.0005150 0.0005150         -
		  least votes of a bad link      1/conn   0.002529  0.002529  0.002529
		  most votes of a good link      1/conn  0.0009926 0.0009926         -
		  after N = 7200 connections
		  eps, one bad and one good link 1          0.6761    0.6761         -
		  eps, all links                 1           1.000     1.000         -
		  eps, all, best threshold       1           1.000     1.000         -

		Pods: theorem 2 needs n_pod >= 1 + n0/n1 = 3: met with 4.
		Theorem 3 needs n_pod >= 3: met.
		With 5 hosts a ToR, links of hosts may get more votes than (10b) allows:
		no statement on what is simulated.
		Links of hosts that drop 1e-06 too leave no bound on what is simulated.
	END
	same stdout want
}
# What is printed for people is what programs get, of five networks; and a row of
# the table what is said of so many connections.
pages_objects_and_tables_agree() {
	local net
	for net in "${five[*]}" "" "--n-pod 9 --k 3 --p-bad 0.05" \
	    "--n-pod 1 --n0 4" "--n-pod 4 --hosts 400 --flows 1e9"; do
		# shellcheck disable=SC2086 # words are meant
		{
			run_for 0 bounds $net && mv stdout page
			run_for 0 bounds $net --table && mv stdout table
			run_for 0 bounds $net --json --flows 1e6 && mv stdout million
			run_for 0 bounds $net --json
		}
		python3 - <<-'END' || fail "of \"$net\" three forms differ"
			import json, math
			d = json.load(open("stdout"))
			forms = [d[f] for f in ("paper", "any_pods", "simulated")]
			lines = open("page").read().splitlines()
			def chance(x):
			    return None if x is None else math.exp(min(x, 0))
			def same(text, x, tol=1e-3):
			    return text in ("-", "NaN") if x is None else \
			        abs(float(text) - x) <= tol * abs(x)
			def row(name, values):
			    line, = (l for l in lines if l.startswith(name))
			    assert all(map(same, line.split()[-len(values):], values)), line
			def of(key):
			    return [f[key] for f in forms]
			row("  k must be below", of("max_bad"))
			row("  alpha", of("alpha"))
			row("  p_good at most", of("p_good_max"))
			row("  least votes", of("votes_bad"))
			row("  most votes", of("votes_good"))
			for name, key in (("  eps, one bad", "log_eps_pair"),
			    ("  eps, all links", "log_eps_all"),
			    ("  eps, all, best", "log_eps_best")):
			    row(name, [chance(x) for x in of(key)])
			shape = d["n_pods"], d["n_tors"], d["n_t1"], d["n_t2"], d["n_hosts"]
			assert lines[0] == "Clos: n_pod = %d; n0 = %d ToRs and n1 = %d T1s" \
			    " a pod; n2 = %d T2s; H = %d hosts a ToR" % shape
			text = "\n".join(lines)
			assert "T_max = %g times a second\n" % d["t_max"] in text
			assert "links, k = %g, above" % d["n_bad"] in text
			assert "\n  p_bad %g, p_good up to %g, %g to %g packets\n" % (
			    d["p_bad"], d["p_good"], d["packets_low"],
			    d["packets_high"]) in text
			assert "\n  after N = %g connections\n" % d["n_flows"] in text
			assert d["pods_theorem_2"] == 1 + d["n_tors"] / d["n_t1"]
			loads = d["load_tor"], d["load_t1"], d["load_t2"]
			for tier, paper, real in zip(("ToR", "T1", "T2"),
			    (None, d["load_paper_t1"], d["load_paper_t2"]), loads):
			    line, = (l for l in lines if l.startswith(f"    {tier} "))
			    words = line.split()
			    assert same(words[1], paper) and same(words[2], real), line
			    assert line.endswith("above T_max") == (real > d["t_max"] * 1.000001)
			rows = [l.rstrip("\n").split("\t") for l in open("table")]
			assert len(rows) == 82 and {len(r) for r in rows} == {10}
			assert rows[0][1:] == [f"{f}:{e}" for f in ("paper", "any_pods",
			    "simulated") for e in ("pair", "all", "best")]
			for i, r in enumerate(rows[1:]):
			    assert abs(float(r[0]) / 10 ** (2 + i / 10) - 1) < 1e-5
			million = json.load(open("million"))
			r, = (r for r in rows if r[0] == "1e+06")
			assert all(same(x, chance(million[f][f"log_eps_{e}"]), 1e-4)
			    for x, f, e in zip(r[1:], 3 * ["paper"] + 3 * ["any_pods"] +
			        3 * ["simulated"], 3 * ["pair", "all", "best"]))
		END
	done
}

# FIRST is how the notes begin, LAST the line that they end with.
notes_are() {
	local first=$1 last=$2
	shift 2
	run_for 0 bounds "$@"
	[[ $(sed -n '/^  eps, all, best/,$ p' stdout | sed -n 3p) = "$first"* &&
	    $(tail -1 stdout) = "$last" ]] ||
		{ cat stdout; fail "other notes of $*"; }
}

the_first_reason_for_no_statement_is_told() {
	local pods='Pods: theorem 2 needs n_pod >= 1 + n0/n1 ='
	local met='Theorem 3 needs n_pod >= 3.5: met.'
	notes_are '* With one pod there is no level-2 link and no statement.' \
	    '* With one pod there is no level-2 link and no statement.' --n-pod 1
	notes_are "$pods 3.5: met with 4." "$met" --n-pod 4 --p-good 5e-7
	# The bound itself is met.
	notes_are "$pods 3: met with 3." 'Theorem 3 needs n_pod >= 3: met.' \
	    --n-pod 3 --n0 16 --p-good 5e-7
	notes_are "$pods 3.5: met with 4." \
	    'Good links that drop 0.0001 may get as many votes as bad ones.' \
	    --n-pod 4 --p-good 1e-4
	notes_are "$pods 3.5: met with 4." them. --n-pod 4 --k 16
	says '^k = 16 is too many: bad links together may give a good one' stdout
	notes_are "$pods 2.125: fails with 2." \
	    'links of level 2 and no reading says anything.' --n0 9
	says '^Theorem 3 needs n0 >= n2: fails with 9 and 10\.$' stdout
	says '^\* Its conditions fail here: these are what the formulas give' stdout
	notes_are "$pods 3.5: met with 4." \
	    'Links of hosts that drop 6e-07 too leave no bound on what is simulated.' \
	    --n-pod 4 --p-good 6e-7
	run_for 0 bounds --n-pod 1 --n0 1
	says '^  There is one ToR in all: no path leaves it\.$' stdout
	! grep -q 'C_t' stdout || fail "of no path there is a C_t"
}

# The ends of a range are in it; what is beyond is told with both.
options_have_these_ranges() {
	local last good bad message
	while read -r option good bad message; do
		for last in ${good//;/ }; do
			run_for 0 bounds "--$option" "$last" --json
		done
		for last in ${bad//;/ }; do
			run_for 2 bounds "--$option" "$last"
			says_once "^culprit bounds: ${message/@/$last}$"
		done
	done <<-'END'
		t-max 1e-9;1e12 9e-10;1.1e12 t-max @ is not in \[1e-09, 1e\+12\]
		k 1;1000000000 0;1000000001 k @ is not in \[1, 1e\+09\]
		k 2 1.5 k @ is not a whole number
		flows 1;1e18 0;1.1e18 flows @ is not in \[1, 1e\+18\]
		p-bad 0;1 -0.1;1.01 p-bad @ is not in \[0, 1\]
		p-good 0;1 -0.1;1.01 p-good @ is not in \[0, 1\]
		p-good 0 x p-good: "@" is not a number\.
		packets 3,3;1,1e9 9,8 packets 8 is not in \[9, 1e\+09\]
		packets 1,2 0,3 packets 0 is not in \[1, 1e\+09\]
		packets 1,2 1,1000000001 packets 1000000001 is not in \[1, 1e\+09\]
		packets 1,2 5 packets "@" is not LO,HI
		packets 1,2 1,2.5 packets 2.5 is not a whole number
		set n_pods=3 n_cores=3 there is no "n_cores"; there are n_pods, n_tors, n_t1, n_t2 and n_hosts
		set n_t1=3 n_pods "@" is not KEY=VALUE
	END
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

run_tests large_numbers_have_no_point the_papers_network_has_the_papers_numbers \
    both_ways_to_name_a_network_agree \
    the_chance_to_misrank_falls_with_connections a_page_is_this \
    pages_objects_and_tables_agree the_first_reason_for_no_statement_is_told \
    options_have_these_ranges mistakes_are_named
