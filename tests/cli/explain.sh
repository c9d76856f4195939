#!/bin/bash
# tests/cli/explain.sh -- culprit explain: one cell, told and drawn.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

well_formed() {
	command -v xmllint >/dev/null || return 0
	run_for 0 xmllint --noout "$1"
}

it_says_what_run_says_of_a_cell() {
	write_spec
	run_for 0 "$CULPRIT" run spec.yaml --point 3 --run 1
	cp stdout want
	run_for 0 "$CULPRIT" explain spec.yaml --point 3 --run 1
	same stdout want
	run_for 0 "$CULPRIT" explain spec.yaml --point 3 --run 1 -o cell.txt
	same cell.txt want
	[[ $(cat stdout) = cell.txt ]]
	run_for 0 "$CULPRIT" explain spec.yaml --set runs=9 --run 8
	only_files spec.yaml want cell.txt
}

what_the_sweep_takes_is_told() {
	write_spec
	run_for 0 "$CULPRIT" explain spec.yaml
	says '^culprit: the sweep has 12 cells: .* took .* s, about .* with -j [0-9]+. It takes 12 MiB of memory at least.$' stderr
	# 8 bytes of each of 2 * (8 * 400000 + 40) links.
	sed 's/n_hosts: 4/n_hosts: 400000/' spec.yaml >large.yaml
	run_for 0 "$CULPRIT" explain large.yaml -s runs=1 -s 'sweep={}' \
	    -s traffic.conns=1 -o x.svg
	says 'the sweep has 1 cell: .* -j 1. It takes 61 MiB of memory at least.$' stderr
}

a_drawing_is_the_same_twice() {
	write_spec
	run_for 0 "$CULPRIT" explain spec.yaml --point 2 -o a.svg
	run_for 0 "$CULPRIT" explain spec.yaml --point 2 -o b.svg
	same a.svg b.svg
	well_formed a.svg
	says 'role="img" aria-label="small, point 2, run 0: ' a.svg
	says '<title>tor0-&gt;t1.0' a.svg
	run_for 0 "$CULPRIT" explain spec.yaml --point 2 --run 1 -o b.svg
	not cmp -s a.svg b.svg
}

each_network_is_drawn() {
	local kind
	write_spec
	run_for 0 "$CULPRIT" topo -s kind=fat_tree -s k=4 --graphml=tiers.graphml
	# One without tiers, whose names try to be markup.
	sed -E 's/<data key="tier">.<.data>/<data key="name">\&lt;b \&amp;"/
	    s/(id="sw([0-9]+)".*"name">[^<]*)/\1\2<\/data>/
	    s/(<.data>)(<.data>)?<.data><.node>/\1<\/node>/' \
	    tiers.graphml >ring.graphml
	says '<data key="name">&lt;b &amp;"7</data></node>' ring.graphml
	for kind in 'kind: fat_tree, k: 4' 'kind: graphml, file: tiers.graphml' \
	    'kind: graphml, file: ring.graphml' \
	    'kind: region, n_dcs: 2, n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 1' \
	    'n_pods: 6, n_tors: 20, n_t1: 2, n_t2: 2, n_hosts: 1'; do
		run_for 0 "$CULPRIT" explain spec.yaml -s "topology={$kind}" \
		    -o x.svg
		well_formed x.svg
	done
	says 'Left out: [0-9]+ switches' x.svg
}

columns_are_those_that_are_asked_for() {
	write_spec
	run_for 0 "$CULPRIT" explain spec.yaml -o a.svg
	says '>score by vote:<' a.svg
	says ">it&#39;s one</text>" a.svg
	run_for 0 "$CULPRIT" explain spec.yaml -o a.svg -a cover -a "it's one"
	says '>score by cover:<' a.svg
	not grep -q '>vote</text>' a.svg
	run_for 2 "$CULPRIT" explain spec.yaml -o a.svg -a votes
	says_once "--algorithm votes: the spec has no algorithm of that label"
}

no_text_of_a_spec_is_markup() {
	write_spec
	sed -i "s/^title:.*/title: \"<script>alert('1')<\\/script> \\\\\"\&\\\\\"\"/
	    s/it's one/<b onload='x'>\\\\\"/" spec.yaml
	run_for 0 "$CULPRIT" explain spec.yaml -o a.svg
	well_formed a.svg
	not grep -qE '<script|<b |onload=.x' a.svg
	says '&lt;script&gt;alert\(&#39;1&#39;\)&lt;/script&gt; &quot;&amp;&quot;' \
	    a.svg
}

mistakes_are_told() {
	write_spec
	run_for 2 "$CULPRIT" explain
	says 'which SPEC\?'
	run_for 2 "$CULPRIT" explain spec.yaml --point 4
	says_once 'point 4, run 0: the sweep has points 0 to 3 and runs 0 to 2'
	run_for 2 "$CULPRIT" explain spec.yaml -o cell.png
	says_once 'a cell is drawn as .svg or told as .txt'
	ln -s spec.yaml x.svg
	run_for 2 "$CULPRIT" explain spec.yaml -o x.svg
	says_once '-o x.svg is the spec itself'
	rm x.svg
	run_for 3 "$CULPRIT" explain spec.yaml -o none/x.svg
	says_once 'none/x.svg'
	only_files spec.yaml
}

run_tests it_says_what_run_says_of_a_cell what_the_sweep_takes_is_told \
    a_drawing_is_the_same_twice \
    each_network_is_drawn columns_are_those_that_are_asked_for \
    no_text_of_a_spec_is_markup mistakes_are_told
