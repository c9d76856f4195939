#!/bin/bash
# tests/real/tls.sh -- a fleet that knows its own: certificates, in a lab.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Twelve hosts under four ToRs, each with an agent; controller and collector are on
# the first one. Nine agents are honest; of the others each lacks one thing. Pairs
# are probed each 10 s, and lists are asked for as often.
. tests/cli/lib/common.sh

shape="n_pods=1 n_tors=4 n_t1=2 n_t2=1 n_hosts=3"
. tests/cli/lib/live.sh

controller=https://10.0.0.1:8080
collector=https://10.0.0.1:8081
honest="0 1 2 3 4 5 6 7 8"
of_controller=(--ca ca/ca.pem --cert ca/10.0.0.1.pem --key ca/10.0.0.1.key)
of_collector=("${of_controller[@]}")
of_agents=()

# Agents of root become nobody, who is to read its key also when that is new.
hand_out() { # DIR...
	chmod 755 . .. "$@"
	[[ $(id -u) != 0 ]] || for d; do
		chgrp nogroup "$d"/*.key
		chmod 640 "$d"/*.key
	done
}

# The first host serves, and has an agent: two certificates of one address.
issue() { # of the honest
	"$CULPRIT" ca ca --server 10.0.0.1 --agent agent0,10.0.0.1 \
	    --agent 10.0.0.2-10.0.0.9
}

begin_fleet() {
	begin
	"$CULPRIT" ca "$top/x" 2>&1 | grep -q 'built without' &&
		skip "no GnuTLS"
	issue
	cp -r ca late
	"$CULPRIT" ca late --agent 10.0.0.10 --from 2020-01-01 --days 30
	"$CULPRIT" ca foreign --agent 10.0.0.11
	hand_out ca late foreign
	pids=()
	start_controller
	start_collector
	start_agent 0 "${ca[@]}" --cert ca/agent0.pem --key ca/agent0.key
	for i in 1 2 3 4 5 6 7 8; do
		start_agent $i "${ca[@]}" --cert ca/10.0.0.$((i + 1)).pem \
		    --key ca/10.0.0.$((i + 1)).key
	done
}
ca=(--ca ca/ca.pem)

start_others() {
	start_agent 9 "${ca[@]}" --cert late/10.0.0.10.pem \
	    --key late/10.0.0.10.key
	start_agent 10 "${ca[@]}" --cert foreign/10.0.0.11.pem \
	    --key foreign/10.0.0.11.key
	start_agent 11 "${ca[@]}" --cert ca/10.0.0.2.pem --key ca/10.0.0.2.key
}

honest_have() { # EXPRESSION
	for i in $honest; do
		[[ $(status "$i" "$1") = True ]] || return 1
	done
}

senders() {
	python3 "$lib/batches.py" records batches | awk '{ print $1 }' |
		sort -u -t . -k 4n | xargs
}
all_honest=$(seq -f 10.0.0.%g -s ' ' 9)
all_have_sent() { [[ $(senders) = "$all_honest" ]]; }

said_by_both() { # PATTERN FILE, PATTERN FILE
	within 10 grep -qE "$1" "$2" || { cat "$2"; fail "not said: $1"; }
	within 10 grep -qE "$3" "$4" || { cat "$4"; fail "not said: $3"; }
}

others_got_nothing() {
	local i
	for i in 9 10 11; do
		[[ $(status $i '(d["probing"]["n_lists"],
		    d["contacts"]["n_taken"], d["probing"]["n_probes"])') = \
		    "(0, 0, 0)" ]] || fail "agent $i got something"
	done
}

# Each is told why, and so is who serves.
none_but_the_fleet_s_own_get_anything() {
	begin_fleet
	start_others
	within 20 honest_have 'd["entries"] > 0' || fail "no lists"
	within 60 all_have_sent || { senders; fail "others have sent"; }
	said_by_both '^culprit: 10.0.0.10: its certificate has expired$' \
	    controller.err 'pinglist/10.0.0.10: .*certificate.expired' log9
	said_by_both \
	    '^culprit: 10.0.0.11: .* of an authority that is not ours$' \
	    controller.err 'pinglist/10.0.0.11: .*unknown ca' log10
	said_by_both \
	    '^culprit: 10.0.0.12: it speaks for 10.0.0.12, which is not in' \
	    controller.err 'pinglist/10.0.0.12: it answers 403' log11
	others_got_nothing
	honest_have 'd["probing"]["n_contact_failed"] == 0'
	all_have_sent
}

renewed() { # TIMES: by both servers, and by each honest agent
	[[ $(grep -c 'new certificates are in use$' controller.err) -ge $1 &&
	    $(grep -c 'new certificates are in use$' collector.err) -ge $1 ]] &&
		honest_have "d['contacts']['n_renewed'] >= $1"
}

lists_of() { # sum over the honest: lists, and those that were the same
	local sum=0
	for i in $honest; do
		sum=$((sum + $(status "$i" \
		    'd["contacts"]["n_lists"] + d["contacts"]["n_same"]')))
	done
	echo $sum
}
go_on() { [[ $(lists_of) -ge $(($1 + 9)) ]]; }

# First each certificate, then the authority itself, by way of a time when both
# are believed. No contact fails, and what is sent is taken.
rotation_costs_no_contact() {
	begin_fleet
	within 20 honest_have 'd["entries"] > 0' || fail "no lists"
	sleep 1.1 # and not in the second in which they were first read
	issue
	hand_out ca
	within 20 renewed 1 || { cat controller.err; fail "not renewed"; }
	within 20 go_on "$(lists_of)" || fail "no contacts after that"
	cp -rp ca old
	"$CULPRIT" ca new --server 10.0.0.1 --agent agent0,10.0.0.1 \
	    --agent 10.0.0.2-10.0.0.9
	hand_out new
	cat old/ca.pem new/ca.pem >both && mv both ca/ca.pem
	within 20 renewed 2 || fail "the new authority is not believed"
	for f in new/*.key; do mv "$f" "ca/${f##*/}"; done
	for f in new/1*.pem new/agent0.pem; do mv "$f" "ca/${f##*/}"; done
	within 20 renewed 3 || fail "its certificates are not taken"
	cp new/ca.pem both && mv both ca/ca.pem
	within 20 renewed 4 || fail "the old one is believed"
	within 20 go_on "$(lists_of)" || fail "no contacts after all"
	honest_have 'd["probing"]["n_contact_failed"] == 0'
	honest_have 'd["contacts"]["n_untaken"] == 0'
	# Who still shows a certificate of the old authority gets nothing.
	start_agent 9 --ca new/ca.pem --cert old/10.0.0.2.pem \
	    --key old/10.0.0.2.key
	said_by_both '^culprit: 10.0.0.10: .* authority that is not ours$' \
	    controller.err 'unknown ca' log9
	! grep -v 'new certificates\|not ours\|is not the key of' controller.err collector.err ||
		fail "the servers had more to say"
}

# Signed lists go to all; then a controller without the key takes its place, and
# after three contacts nobody is probed.
an_unsigned_list_gets_nobody_probed() {
	of_agents=(--signed-by ca/list.pub)
	of_controller+=(--sign ca/list.key)
	begin_fleet
	within 20 honest_have 'd["entries"] > 0' || fail "no lists"
	honest_have 'd["contacts"]["n_refused"] == 0'
	kill "$pid_controller"
	wait "$pid_controller"
	# Of another plan: the one that was had need not be sent again.
	of_controller=("${of_controller[@]:0:6}" -p payload_probes=true)
	start_controller
	within 30 honest_have 'd["entries"] == 0' || fail "not closed"
	honest_have 'd["contacts"]["n_refused"] >= 3'
	says 'pinglist/10.0.0.3: list refused: it is not signed$' log2
	kill "$pid_controller"
	wait "$pid_controller"
	of_controller+=(--sign ca/list.key)
	start_controller
	within 20 honest_have 'd["entries"] > 0' || fail "not resumed"
}

tests=${TESTS:-none_but_the_fleet_s_own_get_anything \
    rotation_costs_no_contact an_unsigned_list_gets_nobody_probed}
# shellcheck disable=SC2086
run_tests $tests
