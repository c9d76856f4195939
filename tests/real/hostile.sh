#!/bin/bash
# tests/real/hostile.sh -- what agents of a fleet notice of strangers.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Controller and collector, twelve agents, and 8 or 64 addresses that drip heads of
# requests, sit on idle connections, send noise and flood all at once; in a network
# namespace of its own, where each address of 10/8 is this host's. At least 99 of 100
# contacts are to succeed, within the three tries of 10 s each that an agent makes
# before it stops; no bound is on how long they take, which is printed. A contact can
# only fail if three in a row find no place, or hang for 10 s each: places of agents
# are not the strangers' to take, and what a server does for one connection takes far
# less than a millisecond, on however many processors.
if [[ -z ${ALONE-} ]]; then
	[[ $(id -u) = 0 ]] && alone="unshare -n" || alone="unshare -Urn"
	$alone ip link set lo up 2>/dev/null &&
		ALONE=$alone exec $alone bash "$0" "$@"
	ALONE=no
fi
. tests/cli/lib/common.sh
. tests/cli/lib/serve.sh

lib=$tree/tests/cli/lib
export PYTHONDONTWRITEBYTECODE=1
seconds=${SECONDS_EACH:-8}
bare=(--reserve 0 --per-address 0)

begin() {
	[[ $ALONE != no ]] || skip "no network namespace"
	"$CULPRIT" controller --listen x 2>&1 | grep -q 'built without' &&
		skip "no libmicrohttpd"
	ulimit -n 16384 2>/dev/null || skip "no more than $(ulimit -n) files"
	ip link set lo up
	ip addr add 10.0.0.250/8 dev lo 2>/dev/null || :
	own_servers
}

servers() { # OPTION...: of both
	serve c controller --listen 10.0.0.250:0 -sn_pods=1 -sn_tors=4 \
	    -sn_hosts=3 "$@"
	serve k collector --listen 10.0.0.250:0 --dir batches --no-sync "$@"
}

metric() { # URL NAME
	curl -s "${@:3}" "$1metrics" | awk -v n="culprit_http_$2_total" \
	    '$1 == n { print $2 }'
}

# among WORD STRANGERS OPTION...: says and checks what the agents noticed.
among() {
	local what=$1 n=$2 got
	shift 2
	got=$(python3 "$lib/mob.py" "$n" "$seconds" "$port_c" "$port_k" "$@")
	read -r contacts good first p50 p99 <<<"$got"
	echo "time: $what, $n strangers: $contacts contacts, $good % good," \
	    "$first % at once, p50 $p50 ms, p99 $p99 ms" | tee -a "$top/said"
}

enough() {
	python3 -c "import sys; sys.exit(not $good >= 99)" ||
		fail "$good % of contacts succeeded"
}

# What is said goes to the log of the run, whose lines "time:" are shown.
agents_get_through_in_the_clear() {
	begin
	servers --insecure
	among "in the clear" 0
	enough
	for n in 8 64; do
		among "in the clear" $n
		enough
	done
	[[ $(metric "$url_c" evicted) -gt 0 ]] || fail "nobody was evicted"
	servers_end
	servers --insecure "${bare[@]}"
	among "no place reserved, none per address" 64
	servers_end
}

agents_get_through_behind_tls() {
	begin
	"$CULPRIT" ca "$top/x" 2>&1 | grep -q 'built without' && skip "no GnuTLS"
	"$CULPRIT" ca ca --server 10.0.0.250 --agent 10.0.0.1-10.0.0.12
	servers --ca ca/ca.pem --cert ca/10.0.0.250.pem --key ca/10.0.0.250.key
	for n in 0 8 64; do
		among "behind TLS" $n ca
		enough
	done
	servers_end
}

servers_end() {
	for name in c k; do
		local pid=pid_$name
		kill "${!pid}"
		wait "${!pid}" || fail "$name: exit code $?"
	done
	rm -rf batches
}

run_tests agents_get_through_in_the_clear agents_get_through_behind_tls
cat "$top/said" 2>/dev/null || :
