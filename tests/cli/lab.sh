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

# The verbs that build a network for themselves.
what_is_to_be_built_is_looked_at_first() {
	local all='--set sweep={} --set claims=[] --set plane=everflow'
	write_spec
	run_for 2 "$CULPRIT" trace probe
	says 'say SPEC and two switches'
	run_for 2 "$CULPRIT" trace probe spec.yaml tor0
	says 'say SPEC and two switches, as in .culprit trace probe SPEC tor0 '
	run_for 2 "$CULPRIT" trace probe spec.yaml tor0 t1.0 tor1
	says '"tor1" is one word too many'
	run_for 2 "$CULPRIT" trace probe spec.yaml tor0 t1.0 --count 0
	says 'count "0" is not a whole number in \[1,'
	run_for 2 "$CULPRIT" trace probe vigil_fig5b tor0 t1.0
	says_once 'did you mean "vigil_fig05b"'
	run_for 2 "$CULPRIT" trace probe spec.yaml tor0 t1.0
	says_once 'plane auto mirrors no packets; plane everflow does'
	probe() {
		# shellcheck disable=SC2086 # words are meant
		run_for 2 "$CULPRIT" trace probe spec.yaml "$1" "$2" $all \
		    "${@:3}"
	}
	probe host0 tor0
	says_once 'host0 is a host, no switch'
	probe tor0 host0
	says_once 'host0 is a host, no switch'
	probe tor0 tor9999
	says_once 'tor9999'
	probe tor0 t2.0
	says_once 'No link leads from tor0 to t2.0'
	for kind in storm bgp_flap; do
		probe tor0 t1.0 --set "faults={kind: $kind}"
		says_once 'a real network has connections and load balancers alone'
	done
	run_for 2 "$CULPRIT" trace lab
	says 'no spec'
	run_for 2 "$CULPRIT" trace lab spec.yaml --carrier dove
	says 'there is no carrier "dove"; there are ring and gre'
	run_for 2 "$CULPRIT" trace lab spec.yaml --carrier gre
	says_once 'plane auto mirrors no packets; plane everflow does'
	# shellcheck disable=SC2086
	run_for 2 "$CULPRIT" trace lab spec.yaml $all --point 1
	says_once 'point 1, run 0: the sweep has points 0 to 0 and runs 0 to 2'
	# shellcheck disable=SC2086
	run_for 2 "$CULPRIT" trace lab spec.yaml $all --analyzers 0
	says 'analyzers "0" is not a whole number in \[1,'
	for loss in 3 x@3 -0.1@3 1.1@3 nan@3 0.1@ 0.1@x; do
		run_for 2 "$CULPRIT" samples lab --loss "$loss"
		says '[-]-loss '
	done
	says '[-]-loss "x" is not a whole number'
	run_for 2 "$CULPRIT" samples lab --loss 0.1:3
	says '[-]-loss 0.1:3: it is a probability and a host, as 0.001@3'
	run_for 2 "$CULPRIT" samples lab --loss 1@16
	says_once 'Of 16 hosts 15 cannot send to .* or host 16 is none of them'
	run_for 2 "$CULPRIT" samples lab --hosts 15
	says_once 'Of 15 hosts 15 cannot send to another one'
	only_files spec.yaml
}

# Whoever asks for a network of the kernel is told what it takes, and nothing is
# written.
without_rights_each_verb_says_which() {
	local as=() why='eBPF is refused here: .* CAP_BPF|built without|this kernel'
	local net='--set plane=agents --set fabric=netns'
	[[ $(id -u) != 0 ]] || as=(setpriv --reuid 65534 --regid 65534
	    --clear-groups)
	chmod 755 .. .
	chmod 777 .
	write_spec
	sed -i '/^sweep/,/^  zip/d; /^claims/,/^  - /d' spec.yaml
	denied() { # PATTERN WORD...
		run_for 2 "${as[@]}" "$CULPRIT" "${@:2}"
		says "$1"
		only_files spec.yaml
	}
	# shellcheck disable=SC2086 # words are meant
	denied "^culprit: fabric netns: ($why)" run spec.yaml -j 2 $net -o x.h5
	says '^culprit: on fabric netns one worker, not 2\.$'
	# shellcheck disable=SC2086
	denied "^culprit: fabric netns: ($why)" run spec.yaml -j 1 $net -o x.h5
	not grep -q 'one worker' stderr
	denied "^culprit: fabric netns: ($why)" lab run spec.yaml -o x.h5
	denied '^culprit: fabric tun takes ' lab run spec.yaml -j 3 -o x.h5 \
	    --set fabric=tun
	says '^culprit: on fabric tun one worker, not 3\.$'
	denied '[-]-set: fabric netns is for planes agents and pingmesh and ' \
	    lab run spec.yaml --set plane=auto -o x.h5
	# shellcheck disable=SC2086
	denied "^culprit: fabric netns: ($why)" explain spec.yaml $net -o x.svg
	# shellcheck disable=SC2086
	denied "^culprit: fabric netns: ($why)" dump spec.yaml $net -o x.h5
	denied "^culprit: fabric netns: ($why)" lab selftest
	denied "^culprit: fabric netns: ($why)" trace probe spec.yaml tor0 \
	    t1.0 --set plane=everflow
	denied "^culprit: fabric netns: ($why)" trace lab spec.yaml -o x.h5 \
	    --set plane=everflow
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
    faults_that_are_not_done_are_refused_by_name \
    what_is_to_be_built_is_looked_at_first \
    without_rights_each_verb_says_which check_gives_a_reason_for_each_answer
