#!/bin/bash
# tests/cli/lib/live.sh -- a lab with a controller, a collector and agents; sourced.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sourced after common.sh, with `shape` set: the lab's network. Both servers are
# on its first host. What they are told beside is in arrays of words, which a test
# may set: of_controller, of_collector and of_agents.

lib=$tree/tests/cli/lib
export PYTHONDONTWRITEBYTECODE=1
of_controller=(--insecure) of_collector=(--insecure) of_agents=(--insecure)
controller=http://10.0.0.1:8080
collector=http://10.0.0.1:8081

"$CULPRIT" lab check >"$top/check" && works=1 || works=
why=$(grep -E '^(libmnl|namespaces) +no ' "$top/check" | head -n 1)

sets() { # OPTION PREFIX: the shape as options
	for key in $shape; do
		echo "$1" "$2$key"
	done
}

begin() {
	[[ $works ]] || skip "$why"
	"$CULPRIT" agent --controller x 2>&1 | grep -q 'built without' &&
		skip "no libcurl"
	"$CULPRIT" controller --listen x 2>&1 | grep -q 'built without' &&
		skip "no libmicrohttpd"
	trap 'kill -KILL $(jobs -p) 2>/dev/null || :' EXIT
	write_spec ""
	: >lab.out
	# shellcheck disable=SC2046 # words are meant
	"$CULPRIT" lab up spec.yaml --no-faults --list $(sets --set topology.) >lab.out \
	    2>lab.err &
	within 20 grep -q '^\^C' lab.out || { cat lab.err; fail "no lab"; }
}

# go_on_in NAME COMMAND...: as the printed line for the node says.
go_on_in() {
	local enter
	enter=$(awk -v n="$1" '$1 == n { $1 = $2 = ""; print }' lab.out)
	shift
	# shellcheck disable=SC2086 # words are meant
	exec $enter "$@"
}
in_node() { (go_on_in "$@"); }

start_controller() {
	: >controller.out
	# shellcheck disable=SC2046
	go_on_in host0 "$CULPRIT" controller --listen 10.0.0.1:8080 \
	    "${of_controller[@]}" "${as_user[@]}" --stop-file stop $(sets -s "") -p tor_interval_s=10 \
	    -p dc_interval_s=10 >controller.out 2>>controller.err &
	pid_controller=$!
	within 10 grep -q '^http' controller.out || fail "no controller"
}

start_collector() {
	: >collector.out
	go_on_in host0 "$CULPRIT" collector --listen 10.0.0.1:8081 --no-sync \
	    "${of_collector[@]}" "${as_user[@]}" --dir batches >collector.out 2>>collector.err &
	pid_collector=$!
	within 10 grep -q '^http' collector.out || fail "no collector"
}

# In a user namespace, which they enter if need be, there is nobody else to become;
# in none servers are told to stay who they are.
as_user=(--user root) user=()
[[ $(id -u) = 0 ]] || user=("${as_user[@]}")
memory=()
[[ $BUILD != *-san ]] || memory=(--memory-mib 0) # sanitizers take memory

start_agent() { # HOST OPTION...
	local i=$1
	shift
	: >"agent$i.out"
	go_on_in "host$i" "$CULPRIT" agent --controller "$controller" \
	    --collector "$collector" --address "10.0.0.$((i + 1))" \
	    -p fetch_interval=10 -p fetch_retry=1 -p fetch_timeout=2 \
	    -p upload_interval=1 -p upload_timeout=2 -p upload_backoff=0.5 \
	    --log "log$i" --status "status$i" "${user[@]}" "${memory[@]}" \
	    "${of_agents[@]}" "$@" >"agent$i.out" 2>"agent$i.err" &
	pids[i]=$!
	within 10 grep -q 'listens' "agent$i.out" || {
		cat "agent$i.err"
		fail "no agent $i"
	}
}

# status HOST EXPRESSION: of the log, which SIGUSR1 brings up to date.
status() {
	local n
	n=$(grep -c '{"agent"' "log$1" || :)
	kill -USR1 "${pids[$1]}"
	within 5 more_than "$n" "log$1" || fail "no status of agent $1"
	grep '{"agent"' "log$1" | tail -n 1 | sed 's/^[^{]*//' >"now$1"
	json "now$1" "$2"
}
more_than() { [[ $(grep -c '{"agent"' "$2") -gt $1 ]]; }
