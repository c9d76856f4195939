#!/bin/bash
# tests/cli/complete.sh -- completion, by the shells themselves where they are.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

scripts=$tree/.packaging/completion

# The shells find it as a program of that name.
on_path() {
	mkdir -p path results/out
	ln -sf "$CULPRIT" path/culprit
	export PATH=$PWD/path:$PATH
	touch results/out/mine.h5 net.graphml my.yaml other.txt
	mkdir -p folder
}

# offers CANDIDATE... -- WORD...: are all among what the last WORD can become?
offers() {
	local want=()
	while [[ $1 != -- ]]; do
		want+=("$1")
		shift
	done
	shift
	run_for 0 "$CULPRIT" complete "$@"
	for word in "${want[@]}"; do
		cut -f 1 stdout | grep -qxF -e "$word" ||
			{ cat stdout; fail "$*: not $word"; }
	done
}

offers_no_more_than() {
	offers "$@"
	cut -f 1 stdout | grep . >rest || true
	while [[ $1 != -- ]]; do
		grep -vxF -e "$1" rest >others || true
		mv others rest
		shift
	done
	[[ ! -s rest ]] || { cat stdout; fail "$*: too much"; }
}

it_knows_verbs_options_and_values() {
	on_path
	offers_no_more_than record -- reco
	offers run status man -- ''
	offers_no_more_than --help --version --cite -- --
	offers_no_more_than run -- help ru
	offers_no_more_than --smoke --set= --shard= -- run --s
	offers --smoke -- run vigil_fig05a --set traffic.conns=30 --s
	offers_no_more_than --smoke --set= --shard= -- lab run --s
	offers_no_more_than --format=svg,pdf --format=svg,png -- \
	    plot --format=svg,p
	offers_no_more_than pdf png -- plot --format p
	offers_no_more_than linux linux_linear -- latency --timers l
	offers_no_more_than levels= -- pinglist -p lev
	offers_no_more_than payload_probes=false payload_probes=true -- \
	    pinglist --param payload_probes=
	offers traffic.conns= traffic.tcp.resend= faults.rate= runs= -- \
	    run --set ''
	offers_no_more_than --set=traffic.dst= -- run --set=traffic.ds
	offers_no_more_than --set=traffic.dst=uniform --set=traffic.dst=skewed \
	    -- run --set=traffic.dst=
	offers_no_more_than plane=pingmesh plane=pingmesh_bulk plane=planner \
	    -- gate -s plane=p
	offers_no_more_than up run check selftest -- lab ''
	offers_no_more_than -- lab check ''
	offers get show explain -- trace ''
	offers_no_more_than --where= -- trace get --w
	offers trace-get -- man trace-g
	offers alg1 -- algos ''
	# A value is no option, and behind "--" there are none.
	offers vigil_fig05a -- run -o --smoke ''
	offers_no_more_than -- run -- --s
	offers_no_more_than -- nonsense ''
}

it_knows_what_there_is_to_name() {
	on_path
	offers vigil_fig05a -- run ''
	offers_no_more_than mine -- plot m
	[[ $("$CULPRIT" complete status '') = *$'\tfiles'* ]]
	[[ $("$CULPRIT" complete topo '') = $'\tfiles .graphml' ]]
	[[ $("$CULPRIT" complete collector --dir '') = $'\tfolders' ]]
	[[ $("$CULPRIT" complete plot -o '') = *$'\tfolders' ]]
	offers recall,precision recall,proved -- plot --metric recall,p
	[[ $("$CULPRIT" complete run '' | sort | uniq -d) = "" ]]
	# Two specs of one name, here and installed, are no mistake.
	mkdir experiments
	cp my.yaml experiments/mine.yaml
	offers mine vigil_fig05a -- run ''
}

# What is offered for an option, the verb takes.
values_that_it_offers_are_taken() {
	local n=0
	for verb in $("$CULPRIT" complete '' | cut -f 1); do
		for option in $("$CULPRIT" complete "$verb" -- | cut -f 1 |
			grep "=" || true); do
			for value in $("$CULPRIT" complete "$verb" "$option" |
				grep -v $'^\t' | grep -v $'=\t' | cut -f 1); do
				run_for 0 "$CULPRIT" "$verb" "$value" --help
				n=$((n + 1))
			done
		done
	done
	((n > 20)) || fail "only $n values"
}

# bash_offers WORD...: as bash has broken them.
bash_offers() {
	bash --norc -c '. "$1"/culprit.bash; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_culprit; printf "%s\n" "${COMPREPLY[@]}"' - "$scripts" "$@"
}

bash_completes() {
	on_path
	[[ $(bash_offers culprit reco) = record ]]
	[[ $(bash_offers culprit ru) = run ]]
	[[ $(bash_offers culprit plot min) = mine ]]
	# As bash breaks "--format=svg,p" and "--param payload_probes=".
	[[ $(bash_offers culprit plot --format = p | xargs) = "pdf png" ]]
	[[ $(bash_offers culprit plot --format = svg,p | xargs) = \
	    "svg,pdf svg,png" ]]
	[[ $(bash_offers culprit pinglist --param payload_probes = | xargs) = \
	    "false true" ]]
	[[ $(bash_offers culprit topo '' | xargs) = *"folder"*"net.graphml" ]]
	[[ $(bash_offers culprit topo '') != *other.txt* ]]
	[[ $(bash_offers culprit collector --dir fo) = folder ]]
	[[ $(bash_offers culprit run --output = fo) = *folder* ]]
	bash --norc -c '. "$1"/culprit.bash; complete -p culprit' - \
	    "$scripts" >stdout
	says '^complete -F _culprit culprit$' stdout
}

fish_completes() {
	command -v fish >/dev/null || skip "no fish"
	on_path
	export HOME=$PWD XDG_CONFIG_HOME=$PWD/config XDG_DATA_HOME=$PWD/data
	fish_offers() {
		fish --no-config -c 'source $argv[1]/culprit.fish
			complete -C "$argv[2]"' "$scripts" "$1"
	}
	fish_offers 'culprit reco' >stdout
	says "^record	one run of Pingmesh" stdout
	[[ $(fish_offers 'culprit plot m' | cut -f 1 | xargs) = *mine* ]]
	[[ $(fish_offers 'culprit run --sm' | cut -f 1) = --smoke ]]
	fish_offers 'culprit topo ' >stdout
	says '^net.graphml' stdout
	[[ $(fish_offers 'culprit plot --format=svg,p' | cut -f 1 | xargs) = \
	    "--format=svg,pdf --format=svg,png" ]]
	[[ $(fish_offers 'culprit collector --dir fo' | cut -f 1) = folder/ ]]
}

# A shell at a terminal of its own, at which a tab is struck.
zsh_completes() {
	command -v zsh >/dev/null || skip "no zsh"
	on_path
	mkdir functions
	cp "$scripts"/culprit.zsh functions/_culprit
	zsh_offers() {
		zsh -f "$tree"/tests/cli/lib/zsh_tab.zsh "$PWD/functions" "$1"
	}
	zsh_offers 'culprit run --sm' >stdout
	says '^culprit run --smoke $' stdout
	zsh_offers 'culprit plot mi' >stdout
	says '^culprit plot mine $' stdout
	zsh_offers 'culprit topo ne' >stdout
	says '^culprit topo net.graphml $' stdout
	zsh_offers 'culprit run --se' >stdout
	says '^culprit run --set=$' stdout
	zsh_offers 'culprit latency --timers=w' >stdout
	says '^culprit latency --timers=windows $' stdout
}

run_tests it_knows_verbs_options_and_values it_knows_what_there_is_to_name \
    values_that_it_offers_are_taken bash_completes fish_completes zsh_completes
