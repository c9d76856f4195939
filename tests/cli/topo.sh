#!/bin/bash
# tests/cli/topo.sh -- culprit topo: sizes, checks, paths, export.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

topo() { "$CULPRIT" topo "$@"; }

# 007's simulation: 2 pods of 20 ToRs, 8 T1 a pod, 10 T2 in all, 40 hosts a ToR.
# 1600 + 40 * 8 + 16 * 10 = 2080 cables.
the_default_is_the_papers_network() {
	run_for 0 topo
	says '^hosts +1600$' stdout
	says '^switches +66$' stdout
	says '^links +4160 directed$' stdout
	run_for 0 topo --json
	[[ $(json stdout '[d[k] for k in ("hosts", "switches", "links",
	    "host-tor", "tor-t1", "t1-t2", "t2-t1", "t1-tor", "tor-host")]') = \
	    "[1600, 66, 4160, 1600, 320, 160, 160, 320, 1600]" ]]
}

sizes_follow_the_shape() {
	for shape in "3 4 2 5 6" "1 2 1 0 1" "2 1 3 3 2"; do
		# shellcheck disable=SC2086 # words are meant
		set -- $shape
		run_for 0 topo --json -s "n_pods=$1" -s "n_tors=$2" \
		    -s "n_t1=$3" -s "n_t2=$4" -s "n_hosts=$5"
		[[ $(json stdout '(d["hosts"], d["switches"], d["links"])') = \
		    "($(($1 * $2 * $5)), $(($1 * $2 + $1 * $3 + $4)), $((2 * \
		    ($1 * $2 * $5 + $1 * $2 * $3 + $1 * $3 * $4))))" ]] ||
			{ cat stdout; fail "$shape"; }
	done
	# k ports: k^3/4 hosts, 5k^2/4 switches, 3k^3/2 directed links.
	for k in 2 4 8; do
		run_for 0 topo --json --set kind=fat_tree --set k=$k
		[[ $(json stdout '(d["hosts"], d["switches"], d["links"])') = \
		    "($((k * k * k / 4)), $((5 * k * k / 4)), $((3 * k * k * \
		    k / 2)))" ]] || { cat stdout; fail "fat tree, k=$k"; }
	done
}

# Leaves are ToRs, spines T1s: the Clos of one pod without T2s, link by link.
a_leaf_spine_is_a_clos_of_one_pod() {
	for shape in "4 3 2" "1 2 1" "20 8 40"; do
		# shellcheck disable=SC2086 # words are meant
		set -- $shape
		topo -s kind=leaf_spine -s "n_leaves=$1" -s "n_spines=$2" \
		    -s "n_hosts=$3" --graphml - >leaf_spine
		topo -s n_pods=1 -s "n_tors=$1" -s "n_t1=$2" -s n_t2=0 \
		    -s "n_hosts=$3" --graphml - >clos
		same leaf_spine clos
	done
	topo -s kind=leaf_spine --graphml - >default
	same default clos
	run_for 0 topo -s kind=leaf_spine --check --json
	[[ $(json stdout '[d[k] for k in ("hosts", "diameter",
	    "min_tor_degree", "disjoint_intra")]') = "[800, 4, 8, 8]" ]]
	refuses 2 'n_spines 0 is not in' -s kind=leaf_spine -s n_spines=0
	refuses 2 'a leaf-spine is a Clos of one pod.*limit' \
	    -s kind=leaf_spine -s n_leaves=1000000
}

check_finds_what_a_clos_must_have() {
	run_for 0 topo --check --json
	[[ $(json stdout '[d[k] for k in ("connected", "diameter",
	    "min_tor_degree", "disjoint_intra", "disjoint_inter")]') = \
	    "[True, 6, 8, 8, 8]" ]] || { cat stdout; fail "default"; }
	run_for 0 topo --check
	says '^connected +yes$' stdout
	# One pod: no pair in different pods.
	run_for 0 topo --check --json -s n_pods=1 -s n_t2=0
	[[ $(json stdout '(d["diameter"], d["disjoint_inter"])') = \
	    "(4, None)" ]] || { cat stdout; fail "one pod"; }
	run_for 0 topo --check -s n_pods=1 -s n_t2=0
	says 'different pods +none$' stdout
}

paths_have_the_length_and_chances_of_their_shape() {
	# Same ToR; same pod: one of 8 T1; other pod: one of 8 T1, of 10 T2, of
	# 8 T1 there.
	for case in "0,1 1,1" "0,40 1,0.125,0.125,1" \
	    "0,1599 1,0.125,0.0125,0.0125,0.125,1" "5,5 "; do
		run_for 0 topo --json --path "${case% *}"
		[[ $(json stdout '",".join("%g" % l["chance"]
		    for l in d["path"])') = "${case#* }" ]] ||
			{ cat stdout; fail "$case"; }
	done
	run_for 0 topo --path 0,1599
	[[ $(grep -c ' link .* chance ' stdout) = 6 ]]
	# Each link starts where the one before ended.
	sed -n 's/^  \([^ ]*\)->\([^ ]*\) .*/\1 \2/p' stdout |
		awk 'NR > 1 && $1 != last { exit 1 } { last = $2 }
		    NR == 1 && $1 != "host0" { exit 1 }
		    END { exit last != "host1599" }'
	# 40 chances of 1/8 at the first hop: each uplink is met by some port.
	# The chance that one of 8 is missed in 200 is 8 (7/8)^200 = 2e-11.
	for port in $(seq 200); do
		topo --path 0,40 --ports "$port,80"
	done | grep '^  tor0->' >first
	[[ $(sort -u first | wc -l) = 8 ]]
	# A connection keeps its path; another seed moves some.
	topo --path 0,1599 --ports 5,6 --seed 7 >one
	topo --path 0,1599 --ports 5,6 --seed 7 >two
	same one two
	for seed in $(seq 40); do
		topo --path 0,1599 --seed "$seed" | md5sum
	done >sums
	(($(sort -u sums | wc -l) > 20)) || fail "seeds hardly matter"
}

graphml_comes_back_as_it_went() {
	for options in "" "-s n_pods=3 -s n_hosts=2" "-s kind=fat_tree -s k=4"; do
		# shellcheck disable=SC2086 # words are meant
		run_for 0 topo $options --graphml net.graphml --check --json
		cp stdout want
		run_for 0 topo net.graphml --check --json
		for key in hosts switches links connected diameter \
		    min_tor_degree; do
			[[ $(json stdout "d['$key']") = \
			    "$(json want "d['$key']")" ]] ||
				{ cat want stdout; fail "$options: $key"; }
		done
		# And once more: the same bytes.
		run_for 0 topo net.graphml --graphml again.graphml
		run_for 0 topo again.graphml --graphml third.graphml
		same again.graphml third.graphml
		rm net.graphml
	done
	topo -s n_hosts=1 --graphml net.graphml >/dev/null
	topo -s n_hosts=1 --graphml - >printed
	same net.graphml printed
	# What is no file of its own is written to, not replaced.
	: >target
	ln -s target link
	topo -s n_hosts=1 --graphml link >/dev/null
	[[ -L link ]]
	same net.graphml target
	mkfifo pipe
	cat pipe >piped &
	topo -s n_hosts=1 --graphml pipe >/dev/null
	wait
	[[ -p pipe ]]
	same net.graphml piped
}

# Switches and hosts as the file calls them, with blanks, quotes and a comma.
write_cities() {
	cat >cities.graphml <<-'END'
		<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
		<key id="k" for="node" attr.name="kind" attr.type="string"/>
		<key id="n" for="node" attr.name="name" attr.type="string"/>
		<graph edgedefault="undirected">
		<node id="Bern"><data key="k">switch</data></node>
		<node id="New &quot;York&quot;, NY"><data key="k">switch</data></node>
		<node id="0x3"><data key="k">switch</data><data key="n">Rom &amp; Ostia</data></node>
		<node id="host1"><data key="k">host</data></node>
		<node id="a, b"><data key="k">host</data></node>
		<node id="0"><data key="k">host</data></node>
		<edge source="Bern" target="host1"/>
		<edge source="New &quot;York&quot;, NY" target="a, b"/>
		<edge source="0x3" target="0"/>
		<edge source="Bern" target="New &quot;York&quot;, NY"/>
		<edge source="New &quot;York&quot;, NY" target="0x3"/>
		</graph></graphml>
	END
}

path_of() { # SRC,DST
	run_for 0 topo cities.graphml --path "$1" --json
	json stdout '" ".join(l["name"] for l in d["path"])'
}

a_network_of_a_file_keeps_its_names() {
	local way='host1->Bern Bern->New "York", NY New "York", NY->Rom & Ostia'
	write_cities
	[[ $(path_of host1,0) = "$way Rom & Ostia->0" ]]
	# "0" is a host of the file, and so is not the first one; 2 is none.
	[[ $(path_of 0,0) = "" ]]
	[[ $(path_of 2,0) = "" ]]
	[[ $(path_of "host1,a, b") = \
	    'host1->Bern Bern->New "York", NY New "York", NY->a, b' ]]
	refuses 2 'no node is called "host0"' cities.graphml --path host0,0
	refuses 2 '"Bern" is a switch' cities.graphml --path Bern,0
	for file in cities.graphml one.graphml two.graphml; do
		run_for 0 topo "$file" --graphml next.graphml
		cp -f next.graphml "$([[ $file = cities* ]] && echo one.graphml ||
			echo two.graphml)"
	done
	same one.graphml two.graphml
	says 'id="0x3">.*"name">Rom &amp; Ostia<' one.graphml
	says 'source="Bern" target="New &quot;York&quot;, NY"' one.graphml
	# Verdicts, an epoch's file, and what is made of that.
	cat >spec.yaml <<-'END'
		figure: cities
		topology: {kind: graphml, file: cities.graphml}
		noise: {rate: 0}
		faults: {links: ['Bern->New "York", NY'], rate: 0.5}
		algorithms: [vote]
	END
	run_for 0 "$CULPRIT" run spec.yaml --point 0 --run 0
	says ' Bern->New "York", NY +score .*FAULTY' stdout
	run_for 0 "$CULPRIT" dump spec.yaml -o epoch.h5
	run_for 0 "$CULPRIT" diagnose epoch.h5
	says ' Bern->New "York", NY +score .*FAULTY' stdout
	run_for 2 "$CULPRIT" run spec.yaml --set 'faults.links=["Bern->Rom"]'
	says_once 'no node is called "Rom"'
	run_for 2 "$CULPRIT" run spec.yaml --set 'faults.links=["Bern->0x3"]'
	says_once 'no cable joins'
	sed -i '0,/host1/s//Bern/' cities.graphml
	refuses 2 'cities.graphml: Two nodes have the id "Bern", in lines 5 and 8' \
	    cities.graphml
}

graphml_is_well_formed() {
	command -v xmllint >/dev/null || skip "no xmllint"
	topo -s n_hosts=2 --graphml net.graphml >/dev/null
	run_for 0 xmllint --noout --nonet net.graphml
	[[ $(grep -c '<edge ' net.graphml) = 560 ]]
}

# stdout stays empty: no half of an answer.
refuses() { # CODE PATTERN OPTION...
	local code=$1 pattern=$2
	shift 2
	run_for "$code" topo "$@"
	says_once "$pattern"
	[[ ! -s stdout ]] || { cat stdout; fail "half an answer"; }
}

mistakes_are_named() {
	refuses 2 'hosts are in \[0, 1599\]' --path 0,1600
	refuses 2 'hosts are in \[0, 1599\]' --path 1600,0 --json
	for pair in 1 1, ,1 a,b 1,2,3 -1,2 "1, 2" 4294967296,1 0,tor0; do
		refuses 2 'is not two hosts: ' --path "$pair"
	done
	refuses 2 'is not two .*65535' --path 0,1 --ports 65536,1
	refuses 2 '--seed "x"' --path 0,1 --seed x
	refuses 2 'for --path' --ports 1,2
	run_for 2 topo --set n_pod=3
	says 'n_pod.*did you mean "n_pods"'
	refuses 2 'n_pods' --set n_pods=0
	refuses 2 'n_t1' --set n_t1=0
	refuses 2 'kind' --set kind=torus
	refuses 2 'second' a.graphml b.graphml
	refuses 2 'another' a.graphml --set k=4
	refuses 3 'nowhere.graphml' nowhere.graphml
	echo '<graphml' >bad.graphml
	refuses 2 'bad.graphml' bad.graphml
	: >empty.graphml
	refuses 2 'empty.graphml' empty.graphml
	refuses 3 '/proc/nowhere' --graphml /proc/nowhere/x.graphml
	ln -s /dev/full full
	refuses 3 'No space left' --graphml full
	[[ -L full ]]
}

run_tests the_default_is_the_papers_network sizes_follow_the_shape \
    a_leaf_spine_is_a_clos_of_one_pod \
    check_finds_what_a_clos_must_have \
    paths_have_the_length_and_chances_of_their_shape \
    graphml_comes_back_as_it_went a_network_of_a_file_keeps_its_names \
    graphml_is_well_formed mistakes_are_named
