#!/bin/bash
# tests/real/trace_lab.sh -- culprit trace lab: carriers, and load balancers.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# write FAULTS: half of the connections go through a load balancer.
write() {
	cat >spec.yaml <<-END
		figure: f
		plane: everflow
		topology: {n_pods: 2, n_tors: 3, n_t1: 2, n_t2: 2, n_hosts: 2}
		noise: {rate: 0}
		algorithms: [vote]
		traffic: {conns: 20, packets: {uniform: [1, 20]}, epoch: 1}
		everflow: {rules: [control, debug], debug: [loop],
		  debug_every: 0.1, settle: 1, analyzer: {t_ms: 50},
		  conn: {vip_share: 0.5}, slb: {vips: 1}}
		faults: $1
	END
}

why=$(
	cd "$(mktemp -d "$top/try.XXXXXX")"
	write '[]'
	"$CULPRIT" trace lab spec.yaml --set traffic.conns=1 -o try.h5 \
	    >try 2>&1 || tail -n 1 try
)

begin() {
	[[ -z $why ]] || skip "${why#culprit: }"
	write "$1"
}

# Of the last line: copies mirrored, read, and findings.
numbers() {
	sed -nE 's/.* ([0-9]+) copies mirrored, ([0-9]+) read.* ([0-9]+) findings.*/\1 \2 \3/p' \
	    "$1"
}

both_carriers_bring_all_copies() {
	begin '[]'
	"$CULPRIT" trace lab spec.yaml -o ring.h5 >ring
	"$CULPRIT" trace lab spec.yaml -o gre.h5 --carrier gre --analyzers 3 >gre
	grep -q ' read over the network, ' gre
	for carrier in ring gre; do
		read -r mirrored read found < <(numbers $carrier)
		[[ $mirrored = "$read" && $found = 0 ]] || fail "$(cat $carrier)"
	done
	h5dump -a /spec gre.h5 | grep -q 'analyzers: 3' ||
		fail "the spec in the file has another number of analyzers"
}

# Connections that loop time out after a minute, which nobody waits for.
the_loop_of_a_mux_is_named() {
	begin '{kind: mux_loop, at: [host5]}'
	for carrier in ring gre; do
		timeout -s INT 30 "$CULPRIT" trace lab spec.yaml -o x.h5 --force \
		    --carrier $carrier --set traffic.conns=50 >said 2>&1 &
		for ((i = 0; i < 100; i++)); do
			grep -q 'loop through a mux' said && break
			sleep 0.2
		done
		kill -INT $! 2>/dev/null || true
		wait $! || true
		grep -qE 'loop through a mux, link tor2->host5, node host5, .*; right, [0-9.]+ s after' \
		    said || fail "$(cat said)"
	done
}

mistakes_are_met() {
	begin '[]'
	run_for 2 "$CULPRIT" trace lab spec.yaml --carrier pigeon
	says 'there is no carrier "pigeon"; there are ring and gre'
	run_for 2 "$CULPRIT" trace lab spec.yaml --analyzers 65
	run_for 2 "$CULPRIT" trace lab spec.yaml --analyzers 2 \
	    --set everflow.analyzers=3
	says 'everflow.analyzers is given twice'
}

run_tests both_carriers_bring_all_copies the_loop_of_a_mux_is_named \
	mistakes_are_met
