#!/bin/bash
# tests/cli/lab.sh -- culprit lab where nothing is built: words and machines.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

wrong_words_are_told() {
	write_spec
	run_for 2 "$CULPRIT" lab
	says_once 'say up, run, check or selftest'
	run_for 2 "$CULPRIT" lab down
	says_once 'there is no "lab down"'
	run_for 2 "$CULPRIT" lab up
	says_once 'of which SPEC'
	run_for 2 "$CULPRIT" lab up spec.yaml again
	says_once '"again" is one word too many'
	run_for 2 "$CULPRIT" lab check spec.yaml
	says_once '"spec.yaml" is one word too many'
	run_for 2 "$CULPRIT" lab check --list
	says_once 'are for lab up'
	run_for 2 "$CULPRIT" lab check --tun
	says_once 'are for lab up'
	run_for 2 "$CULPRIT" lab selftest spec.yaml
	says_once '"spec.yaml" is one word too many'
	run_for 2 "$CULPRIT" lab run
	says 'culprit lab run: which SPEC'
	run_for 2 "$CULPRIT" lab up spec.yaml --seed=-1
	says_once '[-]-seed: '
}

a_wrong_spec_is_told_before_the_machine_is_asked() {
	write_spec
	run_for 2 "$CULPRIT" lab up vigil_fig5b
	says_once 'did you mean "vigil_fig05b"'
	run_for 2 "$CULPRIT" lab up --tun vigil_fig5b
	says_once 'did you mean "vigil_fig05b"'
	run_for 2 "$CULPRIT" lab up spec.yaml --set topology.n_pods=0
	says_once 'n_pods'
}

# What nobody would do there is refused by name, before the machine is asked;
# without faults there is nothing to refuse.
faults_that_are_not_done_are_refused_by_name() {
	local all
	write_spec
	all='--set sweep={} --set claims=[] --set plane=everflow'
	for kind in ecn storm bgp_flap; do
		# shellcheck disable=SC2086 # words are meant
		run_for 2 "$CULPRIT" lab up spec.yaml $all \
		    --set "faults={kind: $kind}"
		says_once "faults: kind $kind is not done in a network that is"
	done
	for kind in reroute narrow weights hash; do
		# shellcheck disable=SC2086
		run_for 2 "$CULPRIT" lab up --tun spec.yaml $all \
		    --set "faults={kind: $kind}"
		says_once "kind $kind is not done .* up with --tun; --no-faults"
	done
	for kind in controller collector; do
		run_for 2 "$CULPRIT" lab up spec.yaml --set sweep={} \
		    --set claims=[] --set plane=pingmesh \
		    --set pingmesh.trace.on=true \
		    --set "faults={kind: $kind}"
		says "kind $kind is not done"
	done
	run_for 2 "$CULPRIT" lab up spec.yaml --set congestion.racks=1
	says_once 'congestion: no buffer is made full'
}

# Whatever this machine can do, each line says why.
check_gives_a_reason_for_each_answer() {
	local code=0
	"$CULPRIT" lab check >stdout 2>stderr || code=$?
	[[ ! -s stderr ]]
	[[ $(grep -cE '^(libmnl|namespaces|hash seed|ICMP limit|BTF|TUN|nft) +(yes|no ) +[^:]+: .' stdout) = 7 ]] ||
		{ cat stdout; fail "not 7 lines"; }
	case $code in
	0) says '^culprit lab up SPEC works here$' stdout ;;
	1) says "^culprit lab up SPEC can't work here$" stdout ;;
	*) fail "exit code $code" ;;
	esac
	says '^culprit lab run SPEC (works here$|can.t work here: .)' stdout
	says '^  with `fabric: \{ netns: \{ faults: nft \} \}` it (works here$|can.t work here: .)' stdout
	says '^  with `fabric: tun` it (works here$|can.t work here: .)' stdout
}

run_tests wrong_words_are_told a_wrong_spec_is_told_before_the_machine_is_asked \
    faults_that_are_not_done_are_refused_by_name check_gives_a_reason_for_each_answer
