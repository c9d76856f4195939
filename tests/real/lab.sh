#!/bin/bash
# tests/real/lab.sh -- culprit lab: what it builds, and what is left of it.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

"$CULPRIT" lab check >"$top/check" && works=1 || works=
why=$(grep -E '^(libmnl|namespaces) +no ' "$top/check" | head -n 1)

begin() {
	[[ $works ]] || skip "$why"
	write_spec
}

# start NAME [OPTION...]: culprit lab up in the background; NAME is its stdout.
start() {
	local out=$1
	shift
	: >"$out" # not to be taken for up by what an earlier one wrote
	"$CULPRIT" lab up spec.yaml "$@" >"$out" 2>stderr &
	pid=$!
	# shellcheck disable=SC2064 # that of now; a failed test leaves none
	trap "kill -KILL $pid 2>/dev/null || true" EXIT
	within 20 grep -q '^\^C' "$out" || { cat stderr; fail "not up"; }
}

# in_node NAME COMMAND...: as the printed line for the node says.
in_node() {
	local enter
	enter=$(awk -v n="$1" '$1 == n { $1 = $2 = ""; print }' out)
	shift
	# shellcheck disable=SC2086 # words are meant
	$enter "$@"
}

nodes_are_listed_and_entered() {
	begin
	start out --list --set topology.n_tors=3
	says '^24 hosts, 14 switches, 54 cables: built in [0-9.]+ s' out
	[[ $(grep -c nsenter out) = 38 ]]
	[[ $(in_node host23 ip -4 -o addr show dev lo) = *10.0.0.24/32* ]]
	[[ $(in_node t2.1 ip -4 -o addr show dev lo) = *172.16.0.13/32* ]]
	[[ $(in_node tor0 ip -o link) = *'alias host0->tor0'* ]]
	[[ $(in_node host0 ip route get 10.0.0.24) = *'src 10.0.0.1 '* ]]
	[[ -z $(in_node tor5 ip route show default) ]]
	kill -INT $pid
	wait $pid || fail "exit $? after ^C"
	start out
	[[ $(grep -c nsenter out) = 4 ]]
	kill -TERM $pid
	wait $pid || fail "exit $? after SIGTERM"
}

# What a machine has of networks, by every list of them; the kernel takes a
# dead process's down by and by.
inventory() {
	ip netns 2>/dev/null | wc -l
	ip -o link | wc -l
	ls -l /proc/[0-9]*/ns/net 2>/dev/null |
		sed -n 's/.*net:\[\(.*\)\]$/\1/p' | sort -u | wc -l
	pgrep -c -f "^$CULPRIT lab up" || true
}

is_as_before() {
	[[ $(inventory) = "$(cat before)" ]]
}

nothing_is_left_after_sigkill() {
	begin
	inventory >before
	for i in {1..25}; do
		"$CULPRIT" lab up spec.yaml >out 2>stderr &
		pid=$!
		sleep_ms $((RANDOM % 120))
		kill -KILL $pid
		wait $pid || true
	done
	within 10 is_as_before ||
		{ inventory | diff before - || fail "something is left"; }
	grep -q built out || echo "none of the last was built"
}

# The lists above don't show a namespace that nobody holds and the kernel still
# has. Where no more than two networks' worth of namespaces are allowed, 25
# networks can only be built if each is given back.
the_kernel_gets_all_namespaces_back() {
	begin
	unshare -Ur true 2>/dev/null || skip "no user namespaces"
	cat >loop.sh <<-'END'
		echo 60 >/proc/sys/user/max_net_namespaces
		up() {
			"$CULPRIT" lab up spec.yaml --set topology.n_tors=3 \
			    --set topology.n_t1=2 --set topology.n_hosts=2 \
			    >out 2>err &
		}
		for i in {1..25}; do
			up
			sleep 0.0$((RANDOM % 9 + 1))
			kill -KILL $!
			wait $!
		done 2>/dev/null
		for i in {1..100}; do
			up
			for k in {1..50}; do
				grep -q '^^C' out && break 2
				kill -0 $! 2>/dev/null || break
				sleep 0.02
			done
			sleep 0.1
		done
		kill $!
		wait $!
		grep '^12 hosts, 12 switches' out || cat err
	END
	unshare -Ur bash loop.sh >said 2>&1
	says '^12 hosts, 12 switches, 32 cables: built' said
}

too_large_is_told_before() {
	begin
	run_for 2 "$CULPRIT" lab up spec.yaml --set topology.n_hosts=100000
	says_once 'MiB of kernel memory; this machine has'
	unshare -Ur true 2>/dev/null || skip "no user namespaces"
	run_for 2 unshare -Ur bash -c 'echo 10 >"$0"; exec "$@"' \
	    /proc/sys/user/max_net_namespaces "$CULPRIT" lab up spec.yaml
	says_once 'more network namespaces than the 10'
	run_for 2 bash -c 'ulimit -n 80; exec "$@"' - "$CULPRIT" lab up \
	    spec.yaml
	says_once 'take 1[0-9][0-9] file descriptors; .ulimit -Hn. allows 80'
}

without_any_right_it_says_so() {
	begin
	unshare -Ur true 2>/dev/null || skip "no user namespaces"
	command -v setpriv >/dev/null || skip "no setpriv"
	cat >as_nobody.sh <<-'END'
		echo 0 >/proc/sys/user/max_user_namespaces
		exec setpriv --inh-caps=-all --bounding-set=-all "$@"
	END
	run_for 2 unshare -Ur bash as_nobody.sh "$CULPRIT" lab up spec.yaml
	says_once 'CAP_SYS_ADMIN and CAP_NET_ADMIN, or else a user namespace'
	run_for 1 unshare -Ur bash as_nobody.sh "$CULPRIT" lab check
	says "lab up SPEC can't work here" stdout
}

run_tests nodes_are_listed_and_entered nothing_is_left_after_sigkill \
    the_kernel_gets_all_namespaces_back too_large_is_told_before \
    without_any_right_it_says_so
