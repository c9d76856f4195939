#!/bin/bash
# tests/real/tun.sh -- culprit lab up --tun: real hosts, the spec's faults.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

"$CULPRIT" lab check >"$top/check" || true
why=$(grep -E '^(namespaces|TUN) +no ' "$top/check" | head -n 1)

# start FAULTS [OPTION...]: the lab in the background, what it says in `out`.
start() {
	[[ -z $why ]] || skip "$why"
	cat >spec.yaml <<-END
		figure: small
		title: "t"
		paper: "none"
		seed: 7
		runs: 1
		topology: { n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, n_hosts: 4 }
		noise: { rate: 0 }
		$1
		algorithms: [vote]
	END
	shift
	: >out # not to be taken for up by what an earlier one wrote
	"$CULPRIT" lab up --tun spec.yaml "$@" >out 2>stderr &
	pid=$!
	# shellcheck disable=SC2064 # that of now; a failed test leaves none
	trap "kill -KILL $pid 2>/dev/null || true" EXIT
	within 20 grep -q '^\^C' out || { cat stderr; fail "not up"; }
}

stop() {
	kill -INT "$pid"
	wait "$pid" || fail "exit $? after ^C"
}

# in_host NAME COMMAND...: as the printed line for the host says.
in_host() {
	local enter
	enter=$(awk -v n="$1" '$1 == n { $1 = $2 = ""; print }' out)
	shift
	# shellcheck disable=SC2086 # words are meant
	$enter "$@"
}

# A reset is an answer, too.
is_refused_by() {
	in_host host0 timeout 3 bash -c "echo >/dev/tcp/$1/9" 2>&1 |
		grep -q 'Connection refused'
}

hosts_reach_each_other_and_are_counted() {
	start "" --list
	says '^32 hosts; 16 switches and 68 cables' out
	says '^0 faults$' out
	[[ $(grep -c nsenter out) = 32 ]]
	is_refused_by 10.0.0.2
	is_refused_by 10.0.0.32
	stop
	says '^4 packets sent, 4 received, 0 answers' out
}

the_faults_of_the_spec_are_met() {
	start 'faults: { links: ["tor0->host0"], rate: 1 }'
	says '^1 faults$' out
	says 'tor0->host0 +loses 100 %$' out
	if is_refused_by 10.0.0.32; then fail 'an answer has come'; fi
	stop
	says 'tor0->host0 +lost ([0-9]+) of \1$' out
}

runs_of_a_spec_fail_other_links() {
	start 'faults: { count: 9, rate: 1e-2 }'
	grep ' loses' out >run0
	stop
	start 'faults: { count: 9, rate: 1e-2 }' --seed 1
	grep ' loses' out >run1
	stop
	[[ $(wc -l <run0) = 9 ]]
	if cmp -s run0 run1; then fail 'both runs fail the same links'; fi
}

run_tests hosts_reach_each_other_and_are_counted the_faults_of_the_spec_are_met \
    runs_of_a_spec_fail_other_links
