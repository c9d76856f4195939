#!/bin/bash
# tests/cli/schema.sh -- the JSON Schema of specs, against the reader of specs.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

lib=$tree/tests/cli/lib
python3 -c 'import jsonschema, yaml' 2>/dev/null || no_python=1

# schema.json is there, and can be used.
have_schema() {
	[[ ! ${no_python-} ]] || skip "no python3-jsonschema, or no python3-yaml"
	run_for 0 "$CULPRIT" spec --schema
	[[ ! -s stderr ]]
	cp stdout schema.json
}

judge() { python3 "$lib/schema.py" schema.json "$@"; }

it_takes_every_spec_that_there_is() {
	have_schema
	judge "$tree"/experiments/*.yaml "$tree"/experiments/arena/*.yaml \
	    "$tree"/tests/golden/*.yaml \
	    "$tree"/tests/accuracy/*.yaml >said
	[[ $(wc -l <said) -gt 50 ]]
	[[ $(grep -vc ' good$' said) = 0 ]] ||
		{ grep -v ' good$' said; fail "a good spec is refused"; }
}

# The spec with sed's EXPRESSION applied: the reader says no, and the schema is to
# say so at PATH, which schema_refuses() asks of all of them at once.
both_refuse() { # EXPRESSION PATH [PATTERN]
	local name
	name=bad$(find . -name 'bad*.yaml' | wc -l).yaml
	write_spec
	sed "$1" spec.yaml >"$name"
	run_for 2 "$CULPRIT" run "$name" -q -o x.h5
	echo "^$name bad ($2): .*${3-}" >>wanted
}

schema_refuses() {
	local line
	judge bad*.yaml >said
	[[ $(wc -l <said) = $(wc -l <wanted) ]]
	while read -r line; do
		says "$line" said
	done <wanted
}

what_it_can_see_it_refuses() {
	have_schema
	write_spec
	judge spec.yaml >said
	says ' good$' said
	both_refuse 's/^seed:/sead:/' '' "'sead' was unexpected"
	both_refuse '/^figure:/d' '' "'figure' is a required"
	both_refuse '/^algorithms:/d' '' 'not valid under any'
	both_refuse 's/conns: 20/conns: many/' traffic/conns
	both_refuse 's/conns: 20/conns: 1%/' traffic/conns
	both_refuse 's/conns: 20/conns: -1/' traffic/conns
	both_refuse 's/conns: 20/conns: "20"/' traffic/conns
	both_refuse 's/conns: 20/conns: {log_uniform: [1, 2]}/' traffic/conns
	both_refuse 's/conns: 20/conns: {uniform: [1, 2, 3]}/' traffic/conns
	both_refuse 's/conns: 20/conns: 20, dst: far/' traffic/dst "'far'"
	both_refuse 's/count: 1,/count: 1, same_switch: 1.5,/' faults
	both_refuse 's/count: 1,/count: 1, mode: slow,/' faults
	both_refuse 's/count: 1,/count: 1, switches: 1.5,/' faults
	both_refuse 's/rate: \[1e-3, 1e-2\]/rate: [1e-3, 2]/' \
	    'sweep/grid/faults.rate/1|sweep/zip/faults.rate/1'
	both_refuse 's/rate: \[1e-3, 1e-2\]/rte: [1e-3, 1e-2]/' \
	    'sweep/grid|sweep/zip'
	both_refuse 's/algorithms: \[vote,/algorithms: [voet,/' algorithms/0
	both_refuse 's/algorithms: \[vote,/algorithms: [{name: vote, x: 1},/' \
	    algorithms/0
	both_refuse 's/accuracy_fault/accuracy_falt/' claims/0/metric
	# Versions of jsonschema place what no schema allows differently.
	both_refuse 's/n_pods: 2,/n_pods: 2, kind: fat_tree,/' \
	    'topology|topology/n_[a-z]*'
	both_refuse 's/n_pods: 2,/n_pods: 2, n_leaves: 4,/' \
	    'topology|topology/n_[a-z]*'
	both_refuse 's/^runs: 3/runs: 0/' runs
	both_refuse 's/^figure: small/figure: ..\/small/' figure
	both_refuse 's/^runs: 3/runs: 3\nfabric: netnss/' fabric
	both_refuse 's/^runs: 3/runs: 3\nplane: exakt/' plane
	both_refuse 's/^smoke: .*/smoke: {figure: y}/' smoke
	both_refuse 's/^smoke: .*/smoke: {rnus: 1}/' smoke
	both_refuse 's/^runs: 3/runs: 3\nsweeep: {}/' ''
	schema_refuses
}

what_belongs_to_gates_alone_is_told() {
	have_schema
	cp "$tree/tests/accuracy/one_fault.yaml" gate.yaml
	echo 'runs: 3' >>gate.yaml
	run_for 2 "$CULPRIT" gate gate.yaml
	judge gate.yaml >said
	says '^gate.yaml bad .*False schema does not allow 3' said
	sed 's/p0:/q0:/' "$tree/tests/accuracy/one_fault.yaml" >gate.yaml
	run_for 2 "$CULPRIT" gate gate.yaml
	judge gate.yaml >said
	says '^gate.yaml bad gates/0: ' said
}

# Each section's example is a spec, or becomes one with what all need.
examples_are_good() {
	have_schema
	"$CULPRIT" spec | sed '1,/^$/d' >overview
	for section in top $(sed -nE 's/^([a-z]+)[:,].*/\1/p' overview); do
		"$CULPRIT" spec "$section" |
			sed '1,/^  For example:$/d; s/^    //' >"$section.yaml"
		grep -q . "$section.yaml" || fail "$section: no example"
		grep -q '^figure:' "$section.yaml" ||
			echo 'figure: example' >>"$section.yaml"
		grep -q '^algorithms:' "$section.yaml" ||
			echo 'algorithms: [vote]' >>"$section.yaml"
		if [[ $section = gates ]]; then
			run_for 0 "$CULPRIT" gate gates.yaml
			continue
		fi
		run_for 2 "$CULPRIT" run "$section.yaml" --point 999999 --run 0
		says_once 'the sweep has points'
	done
	[[ -e gates.yaml && -e pingmesh.yaml && -e tun.yaml ]]
	judge ./*.yaml >said
	[[ $(grep -c ' good$' said) = $(ls ./*.yaml | wc -l) ]] ||
		{ cat said; fail "an example is refused"; }
}

spoiled_specs_are_refused_by_both() {
	have_schema
	mkdir -p data golden
	cp "$tree"/tests/data/*.graphml data
	cp "$tree"/tests/golden/*.yaml golden
	run_for 0 python3 "$lib/schema_mutants.py" schema.json "$CULPRIT" \
	    "${SEED:-20180409}" "${MUTANTS:-150}" golden/*.yaml
}

spec() { run_for "$1" "$CULPRIT" spec "${@:2}"; }

a_word_is_told() {
	spec 0
	says '^traffic: ' stdout
	says '^culprit spec --schema ' stdout
	[[ $(awk 'length > 80' stdout) = "" ]]
	spec 0 --all
	for word in '^faults: ' '^sweep: ' '^gates: ' '^  tier +int' '^  icmp:$' \
	    '^    t_max: 100 ' '^agents, on plane agents: ' '^  links: '; do
		says "$word" stdout
	done
	[[ $(awk 'length > 80' stdout) = "" ]]
	[[ $(grep -c ' $' stdout) = 0 ]] || fail "blanks at an end"
	spec 0 traffic.conns
	says '^traffic.conns: 60 ' stdout
	says '\[0, 1000000\] connections' stdout
	spec 0 faults.3.rate
	says '^faults.rate: ' stdout
	spec 0 agents.icmp
	says '^  t_max: 100 ' stdout
	spec 0 t_max
	[[ $(grep -c 't_max: 100 ' stdout) = 2 ]] # of agents and of pingmesh
	spec 0 links
	says '^faults.links: ' stdout
	spec 0 graphml
	says 'edgedefault="undirected"' stdout
	spec 2 trafic
	says_once 'did you mean "traffic"'
	spec 2 traffic.con
	says_once 'did you mean "traffic.conns"'
	spec 2 zzzzzz
	says_once 'no key "zzzzzz"'
	spec 2 traffic --all
	spec 2 traffic noise
}

# Each key with its default, and what it may be. KEYS=write writes the list anew:
# specs that people have rely on it.
keys_may_be_what_they_were() {
	spec 0 --all
	awk '/^ +[a-z][a-z0-9_]*: / {
			sub(/^ +/, ""); sub(/   .*/, ""); key = $0
		}
		/^ +(whole number|number|text at most|one of)/ {
			sub(/^ +/, ""); print key "\t" $0
		}' stdout >keys.tsv
	[[ ${KEYS-} != write ]] || cp keys.tsv "$tree"/tests/data
	diff "$tree"/tests/data/keys.tsv keys.tsv >moved ||
		{ cat moved; fail 'keys have other ranges or defaults'; }
}

run_tests it_takes_every_spec_that_there_is what_it_can_see_it_refuses \
    what_belongs_to_gates_alone_is_told examples_are_good \
    spoiled_specs_are_refused_by_both a_word_is_told keys_may_be_what_they_were
