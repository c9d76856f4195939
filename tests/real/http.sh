#!/bin/bash
# tests/real/http.sh -- servers whose TCP is well and whose HTTP is broken are named.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Six hosts under two ToRs, each in a network namespace; one router between them,
# which is the namespace that the test itself is in. The first three have agents. The
# others take every connect at the agents' port, and what is asked there of one is
# answered 500, of one never, and the third one cuts it off.
if [[ -z ${ALONE-} ]]; then
	[[ $(id -u) = 0 ]] && ALONE=yes exec unshare -nm bash "$0" "$@"
	echo "SKIP namespaces with routes take root"
	exit 0
fi
. tests/cli/lib/common.sh

memory=()
[[ $BUILD != *-san ]] || memory=(--memory-mib 0) # sanitizers take memory
at=http://10.0.0.1

in_host() { # HOST COMMAND...
	ip netns exec "h$1" "${@:2}"
}

wire_host() { # HOST
	local a=10.0.0.$(($1 + 1))
	ip netns add "h$1"
	ip link add "r$1" type veth peer name eth0 netns "h$1"
	ip link set "r$1" up
	ip addr add 169.254.0.1/32 dev "r$1"
	in_host "$1" ip link set lo up
	in_host "$1" ip link set eth0 up
	in_host "$1" ip addr add $a/32 dev eth0
	in_host "$1" ip route add 169.254.0.1 dev eth0
	in_host "$1" ip route add default via 169.254.0.1 src $a
	ip route add $a/32 dev "r$1"
}

make_net() {
	mkdir -p /run/netns
	mount -t tmpfs none /run/netns
	echo 1 >/proc/sys/net/ipv4/ip_forward
	local i
	for i in 0 1 2 3 4 5; do wire_host $i; done
}

write_plan() {
	cat >fleet.yaml <<-'END'
		figure: fleet
		plane: pingmesh
		topology: { n_pods: 1, n_tors: 2, n_t1: 2, n_t2: 1, n_hosts: 3 }
		pingmesh:
		  sla: { min_probes: 2 }
		  pinglist: { tor_interval_s: 10, dc_interval_s: 10, http_probes: true }
		runs: 1
	END
}

start_servers() {
	in_host 0 "$CULPRIT" controller "${as_user[@]}" --insecure \
	    --listen 10.0.0.1:8080 fleet.yaml >controller.out 2>controller.err &
	in_host 0 "$CULPRIT" collector "${as_user[@]}" --insecure --no-sync \
	    --listen 10.0.0.1:8081 --known 10.0.0.0/24 --dir batches \
	    >collector.out 2>collector.err &
	within 10 grep -q ^$at:8080 controller.out ||
		{ cat controller.err; fail "no controller"; }
	within 10 grep -q ^$at:8081 collector.out ||
		{ cat collector.err; fail "no collector"; }
}

start_agent() { # HOST
	local a=10.0.0.$(($1 + 1))
	in_host "$1" "$CULPRIT" agent --insecure --controller $at:8080 \
	    --collector $at:8081 --address $a -p fetch_interval=10 \
	    -p fetch_retry=1 -p fetch_timeout=2 -p upload_interval=1 \
	    -p upload_timeout=2 -p upload_backoff=0.5 -p probe_timeout=5 \
	    -p echo=1 "${memory[@]}" >"agent$1.out" 2>"agent$1.err" &
	within 10 grep -q "^$a: listens at port 8765" "agent$1.out" ||
		{ cat "agent$1.err"; fail "no agent $1"; }
}

start_broken() { # HOST HOW
	in_host "$1" python3 - "$2" <<-'END' &
	import socket, sys, threading, time
	def serve(c):
	    try:
	        if not c.recv(4096):
	            return
	        if sys.argv[1] == "status":
	            c.sendall(b"HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n")
	        if sys.argv[1] == "hang":
	            time.sleep(60)
	    except OSError:
	        pass
	    finally:
	        c.close()
	s = socket.create_server(("", 8765), backlog=64)
	while True:
	    threading.Thread(target=serve, args=s.accept()[:1], daemon=True).start()
	END
}

# What jobs say of all that came, as if an hour had passed. Their database is new
# each time, since a window is made once.
ask_jobs() {
	rm -f jobs.db*
	"$CULPRIT" jobs --continuous batches --db jobs.db --spec fleet.yaml \
	    --until "$(date -u -d '+1 hour' +%FT%TZ)" >jobs.out
	"$CULPRIT" alerts jobs.db --show all --job 10min --csv >alerts.csv
	cut -d, -f3-6,13 alerts.csv | sort -u
}
broken='http_failed,server,3,10.0.0.4,another status
http_failed,server,4,10.0.0.5,no answer in time
http_failed,server,5,10.0.0.6,cut off'
named() {
	[[ $(ask_jobs | grep '^http_failed,server,') = "$broken" ]]
}

servers_with_a_broken_http_are_named_and_their_connects_are_well() {
	trap 'kill -KILL $(jobs -p) 2>/dev/null || :' EXIT
	make_net
	write_plan
	start_broken 3 status
	start_broken 4 hang
	start_broken 5 cut
	start_servers
	for i in 0 1 2; do start_agent $i; done
	within 100 named || { cat agent*.err jobs.out alerts.csv; fail "not named"; }
	# By connects nobody is found: none failed, and nothing alerts by them.
	! grep -E ',(drop_rate|p99_us|black_hole),' alerts.csv ||
		fail "connects have alerts"
	"$CULPRIT" alerts jobs.db --show heat_map --csv >heat.csv
	cat heat.csv
	[[ $(tail -n 1 heat.csv | cut -d, -f5) != 0 ]] || fail "nobody connected"
	[[ $(tail -n 1 heat.csv | cut -d, -f6) = 0 ]] || fail "connects failed"
	# All that asked are told of, too, by their ToR.
	"$CULPRIT" alerts jobs.db --show http --job 10min --csv >http.csv
	grep -q ',tor,0,' http.csv || { cat http.csv; fail "no GETs of ToR 0"; }
}

run_tests servers_with_a_broken_http_are_named_and_their_connects_are_well
