#!/bin/bash
# tests/real/ipv6.sh -- a fleet with IPv6: controller, collector and agents by it alone.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Four hosts under two ToRs, as the plan has it, each in a network namespace; one
# router between them, which is the namespace that the test itself is in. All have
# IPv6, the last two IPv4 as well, with an agent for each. Controller and collector
# are on the first host, have certificates, and are asked by IPv6 alone. The name
# spaces are gone when this ends, however it does.
if [[ -z ${ALONE-} ]]; then
	[[ $(id -u) = 0 ]] && ALONE=yes exec unshare -nm bash "$0" "$@"
	echo "SKIP namespaces with routes take root"
	exit 0
fi
. tests/cli/lib/common.sh

export PYTHONDONTWRITEBYTECODE=1
lib=$tree/tests/cli/lib
shape=(-s n_pods=1 -s n_tors=2 -s n_t1=2 -s n_t2=1 -s n_hosts=2 --net6 fd00:c::/64)
bare=("${shape[@]:0:10}")
at='https://[fd00:c::1]'
memory=()
[[ $BUILD != *-san ]] || memory=(--memory-mib 0) # sanitizers take memory

in_host() { # HOST COMMAND...
	ip netns exec "h$1" "${@:2}"
}

wire_host() { # HOST: with IPv6
	local a=fd00:c::$(($1 + 1))
	ip netns add "h$1"
	ip link add "r$1" type veth peer name eth0 netns "h$1"
	ip link set "r$1" up
	ip -6 addr add fe80::1/64 dev "r$1" nodad
	in_host "$1" ip link set lo up
	in_host "$1" ip link set eth0 up
	in_host "$1" ip -6 addr add $a/128 dev eth0 nodad
	in_host "$1" ip -6 route add default via fe80::1 dev eth0
	ip -6 route add $a/128 dev "r$1"
}

wire_host_4() { # HOST
	local a=10.0.0.$(($1 + 1))
	ip addr add 169.254.0.1/32 dev "r$1"
	in_host "$1" ip addr add $a/32 dev eth0
	in_host "$1" ip route add 169.254.0.1 dev eth0
	in_host "$1" ip route add default via 169.254.0.1 src $a
	ip route add $a/32 dev "r$1"
}

make_net() {
	[[ -e /proc/net/if_inet6 ]] || skip "no IPv6 here"
	"$CULPRIT" ca "$top/x" 2>&1 | grep -q 'built without' &&
		skip "no GnuTLS"
	mkdir -p /run/netns
	mount -t tmpfs none /run/netns
	echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6
	echo 0 >/proc/sys/net/ipv6/conf/default/disable_ipv6
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
	echo 1 >/proc/sys/net/ipv4/ip_forward
	local i
	for i in 0 1 2 3; do wire_host $i; done
	for i in 2 3; do wire_host_4 $i; done
}

issue() {
	"$CULPRIT" ca ca --server fd00:c::1 --agent agent0,fd00:c::1 \
	    --agent fd00:c::2 --agent fd00:c::3 --agent fd00:c::4 \
	    --agent 10.0.0.3-10.0.0.4
	chmod 755 . .. ca
	chgrp nogroup ca/*.key
	chmod 640 ca/*.key
}

of() { # NAME: its certificate
	echo "--ca ca/ca.pem --cert ca/$1.pem --key ca/$1.key"
}

start_servers() {
	: >controller.out
	: >collector.out
	# shellcheck disable=SC2046 # words are meant
	in_host 0 "$CULPRIT" controller "${as_user[@]}" --listen '[fd00:c::1]:8080' \
	    $(of fd00-c--1) "${shape[@]}" -p tor_interval_s=10 \
	    -p dc_interval_s=10 >controller.out 2>controller.err &
	# shellcheck disable=SC2046
	in_host 0 "$CULPRIT" collector "${as_user[@]}" --listen '[fd00:c::1]:8081' --no-sync \
	    $(of fd00-c--1) --dir batches >collector.out 2>collector.err &
	within 10 grep -q "^$(quoted "$at"):8080" controller.out ||
		{ cat controller.err; fail "no controller"; }
	within 10 grep -q "^$(quoted "$at"):8081" collector.out ||
		{ cat collector.err; fail "no collector"; }
}
quoted() { printf '%s' "$1" | sed 's/[][]/\\&/g'; }

start_agent() { # HOST ADDRESS CERTIFICATE
	: >"agent$2.out"
	# shellcheck disable=SC2046
	in_host "$1" "$CULPRIT" agent --controller "$at:8080" --collector \
	    "$at:8081" --address "$2" $(of "$3") -p fetch_interval=10 \
	    -p fetch_retry=1 -p fetch_timeout=2 -p upload_interval=1 \
	    -p upload_timeout=2 -p upload_backoff=0.5 -p probe_timeout=3 \
	    "${memory[@]}" >"agent$2.out" 2>"agent$2.err" &
	within 10 grep -q "^$2: listens at port 8765" "agent$2.out" || {
		cat "agent$2.err"
		fail "no agent $2"
	}
}

# FAMILY [OUTCOME]: who probed whom, with that outcome.
pairs() {
	python3 "$lib/batches.py" records batches |
		awk -v f="$1" -v o="${2-connected}" '
		    $3 == o && (f == 6) == ($1 ~ /:/) {
			sub(/.*[.:]/, "", $1); sub(/.*[.:]/, "", $2)
			print $1 ">" $2 }' | sort -u | xargs
}
all="1>2 1>3 2>1 2>4 3>1 3>4 4>2 4>3"
has_pairs() { [[ $(pairs "$@") = "$pairs_are" ]]; }

# From now on: 4 cannot be reached by IPv6, from wherever; by IPv4 it can.
block() {
	ip -6 route del fd00:c::4/128 dev r3
	ip -6 route add blackhole fd00:c::4/128
}

agents_of() { # DATABASE
	python3 - "$1" <<-'END'
	import sqlite3, sys
	print(*[r[0] for r in sqlite3.connect(sys.argv[1]).execute(
	    "SELECT address FROM agent ORDER BY ip")])
	END
}

jobs_of() { # NAME OPTION...: its servers by the files, and counts in windows
	"$CULPRIT" jobs --continuous --once --db "$1.db" "${@:2}" batches >"$1.out"
}

a_fleet_probes_by_ipv6_alone() {
	trap 'kill -KILL $(jobs -p) 2>/dev/null || :' EXIT
	make_net
	issue
	start_servers
	start_agent 0 fd00:c::1 agent0
	for i in 1 2 3; do
		start_agent $i fd00:c::$((i + 1)) fd00-c--$((i + 1))
	done
	for i in 2 3; do
		start_agent $i 10.0.0.$((i + 1)) 10.0.0.$((i + 1))
	done
	pairs_are=$all
	within 60 has_pairs 6 || { cat agent*.err; pairs 6; fail "other pairs by IPv6"; }
	pairs_are="3>4 4>3"
	within 30 has_pairs 4 || { pairs 4; fail "other pairs by IPv4"; }
	block
	pairs_are="2>4 3>4"
	within 60 has_pairs 6 timeout || { pairs 6 timeout; fail "the blocked link is not seen"; }
	# Of IPv4 none was lost but what goes to hosts that have none.
	pairs_are="3>1 4>2"
	within 60 has_pairs 4 timeout || { pairs 4 timeout; fail "IPv4 was lost"; }
	# Two databases, as who analyses has one family at a time.
	jobs_of six "${shape[@]}"
	jobs_of four "${bare[@]}"
	[[ $(agents_of six.db) = "fd00:c::1 fd00:c::2 fd00:c::3 fd00:c::4" ]]
	[[ $(agents_of four.db) = "10.0.0.3 10.0.0.4" ]]
	run_for 2 "$CULPRIT" jobs --continuous --once --db six.db "${bare[@]}" batches
	says 'network'
	python3 "$lib/batches.py" check batches >/dev/null
}

run_tests a_fleet_probes_by_ipv6_alone
