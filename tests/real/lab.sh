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

# A reset is an answer, too.
is_refused_by() {
	in_node host0 timeout 3 bash -c "echo >/dev/tcp/$1/9" 2>&1 |
		grep -q 'Connection refused'
}

# A link that loses all from 2 s on: the same host answers before and not after,
# and what it lost is told.
faults_of_the_spec_begin_when_they_should_and_are_counted() {
	begin
	grep -qE '^(BTF|nft) +yes' "$top/check" || skip "neither eBPF nor nft"
	cat >>spec.yaml <<-'END'
		netns: { mtu: 4000 }
	END
	start out --set noise.rate=0 --set sweep={} \
	    --set 'faults={links: ["tor0->host0"], rate: 1, from: 2}'
	says '^1 faults$' out
	says 'tor0->host0 +loses 100 %, from 2 s$' out
	says '^left out of the spec: traffic, algorithms$' out
	[[ $(in_node host0 ip -o link) = *'mtu 4000'* ]]
	within 20 not is_refused_by 10.0.0.32
	kill -INT $pid
	wait $pid || fail "exit $? after ^C"
	says 'tor0->host0 +lost [1-9][0-9]* of [0-9]+$' out
}

without_faults_is_without_and_says_so() {
	begin
	start out --no-faults --set sweep={} \
	    --set 'faults={links: ["tor0->host0"], rate: 1}'
	if grep -q ' loses ' out; then fail "it has faults"; fi
	says '^left out of the spec: traffic, noise, faults, algorithms$' out
	is_refused_by 10.0.0.32
	kill -INT $pid
	wait $pid || fail "exit $? after ^C"
	if grep -q ' lost ' out; then fail "it lost something"; fi
}

# What a network that is up has without faults would pass for what was asked.
where_faults_cannot_be_had_it_says_so() {
	begin
	unshare -Ur true 2>/dev/null || skip "no user namespaces"
	mkdir -p empty
	cat >bare.sh <<-'END'
		mount -t tmpfs none /usr/sbin
		exec "$@"
	END
	unshare -Urm bash bare.sh true 2>/dev/null || skip "nothing to mount"
	run_for 2 unshare -Urm bash bare.sh "$CULPRIT" lab up spec.yaml
	says_once '[-]-no-faults has the network alone; .* cannot be done'
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
			"$CULPRIT" lab up spec.yaml --no-faults \
			    --set topology.n_tors=3 \
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

run_tests nodes_are_listed_and_entered \
    faults_of_the_spec_begin_when_they_should_and_are_counted \
    without_faults_is_without_and_says_so \
    where_faults_cannot_be_had_it_says_so nothing_is_left_after_sigkill \
    the_kernel_gets_all_namespaces_back too_large_is_told_before \
    without_any_right_it_says_so
