#!/bin/bash
# tests/real/lab_run.sh -- culprit lab run and selftest: 007 on real TCP.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# SOAK=1 (make soak-real) tries the weaker loss too, which takes minutes.
. tests/cli/lib/common.sh

# What a run takes is tried by the program itself, before anything is built.
why=
"$CULPRIT" lab run tests/real/top.yaml --point 0 --run 0 --set traffic.conns=1 \
    >"$top/try" 2>&1 || why=$(tail -n 1 "$top/try")

begin() {
	[[ -z $why ]] || skip "${why#culprit: }"
	cp "$tree/tests/real/top.yaml" spec.yaml
}

# first RATE CONNS PACKETS: in how many of 20 seeded runs the injected link has
# the most votes, and none has as many.
first() {
	"$CULPRIT" lab run spec.yaml -q --fresh -o out.h5 --set faults.rate="$1" \
	    --set traffic.conns="$2" --set traffic.packets="$3" >stdout
	"$CULPRIT" table --runs out.h5 | awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ n++; k += $at["vote:worst_first"]; alone += $at["vote:lead"] > 0 }
		END { print k + 0, alone + 0, n }' >counts
	read -r k alone n <counts
	echo "time: loss $1, $((12 * $2)) flows x $3 packets: first in $k of" \
	    "$n runs, alone in $alone" >>"$top/times"
	[[ $n = 20 ]]
}

the_failed_link_is_first_at_one_percent() {
	begin
	first 1e-2 25 100
	((alone >= 19)) || fail "$alone of 20"
}

the_failed_link_is_first_at_a_tenth_of_a_percent() {
	begin
	[[ ${SOAK-} ]] || skip "it takes minutes: make soak-real"
	first 1e-3 84 200
	((k >= 19)) || fail "$k of 20"
}

the_selftest_passes() {
	begin
	"$CULPRIT" lab selftest >stdout || { cat stdout; fail "exit $?"; }
	sed 's/^/time: /' stdout >>"$top/times"
	not grep -q ^FAIL stdout
	[[ $(grep -c '^ok ' stdout) -ge 5 ]]
}

# A switch that may send 20 answers a second keeps some back; the agent learns
# less, and all that is learned is true.
a_limit_of_icmp_makes_traces_partial() {
	begin
	run_for 0 "$CULPRIT" lab run spec.yaml --point 0 --run 0 \
	    --set faults.rate=0.05 --set 'agents.icmp={t_max: 20, burst: 5}'
	read -r n full kept <<<"$(sed -n 's/^agents traced \([0-9]*\) flows, \([0-9]*\) in full; [0-9]* ICMP messages, \([0-9]*\) kept back$/\1 \2 \3/p' stdout)"
	echo "time: T_max 20: $full of $n traces in full, $kept messages kept" \
	    "back" >>"$top/times"
	((kept > 0 && full < n))
}

# Switches and links of the simulator, hosts of the kernel.
a_simulated_network_has_the_failed_link_first_too() {
	begin
	sed -i 's/^fabric: .*/fabric: tun/' spec.yaml
	first 1e-2 25 100
	((alone >= 19)) || fail "$alone of 20"
	json out.run.json "d['fabric'], d['workers']" >said
	says "^\\('tun', 1\\)$" said
}

# A spec that is on a real network is run as it stands.
black_holes_are_found_by_nft() {
	begin
	cat >holes.yaml <<-'END'
		figure: holes
		plane: pingmesh
		fabric: { netns: { faults: nft } }
		topology: { n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 6 }
		noise: { rate: 0 }
		faults: { kind: black_hole_1, at: [tor1], entries: 0.4 }
		pingmesh:
		  duration: 30
		  window: 30
		  lag: 3
		  pinglist: { tor_interval_s: 10, dc_interval_s: 10 }
		  agent: { probe_timeout: 2, upload_interval: 0.5, fetch_retry: 1 }
		  connect: { timers: linux }
		algorithms: [blackhole]
		sweep: { grid: { fabric: [{ netns: { faults: nft } }, tun] } }
	END
	run_for 0 "$CULPRIT" lab run holes.yaml -q --fresh -o holes.h5
	"$CULPRIT" table --runs holes.h5 | awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["blackhole:n_flagged"], $at["blackhole:n_flagged_true"] }' >found
	printf '1 1\n1 1\n' | diff - found
	json holes.run.json "d['fabric']" >said
	says '^netns, tun$' said
}

one_worker_is_all_there_is() {
	begin
	run_for 0 "$CULPRIT" run spec.yaml -q --runs 1 -j 2 \
	    --set plane=agents --set fabric=netns -o out.h5
	says_once 'on fabric netns one worker, not 2'
	json out.run.json "d['fabric'], d['workers'], d['pinned_to_cpu'] >= '0', \
'fib_multipath_hash_policy=3' in d['sysctls_of_switches']" >said
	says "^\\('netns', 1, True, True\\)$" said
}

mistakes_are_told_before_anything_is_built() {
	begin
	run_for 2 "$CULPRIT" lab run spec.yaml --set 'faults.links=[t1.9->tor0]'
	says 't1.9'
	only_files spec.yaml
	run_for 2 "$CULPRIT" lab run spec.yaml --set agents.slb.share=0.5
	says_once 'has no load balancer'
	only_files spec.yaml
}

without_rights_it_says_so() {
	cp "$tree/tests/real/top.yaml" spec.yaml
	unshare -Ur true 2>/dev/null || skip "no user namespaces"
	# Networks of users can be built, but not eBPF loaded.
	for verb in "run spec.yaml" selftest; do
		# shellcheck disable=SC2086 # words are meant
		run_for 2 unshare -Ur "$CULPRIT" lab $verb
		says_once "^culprit: fabric netns"
		only_files spec.yaml
	done
}

without_kernel_types_it_says_so() {
	begin
	run_for 2 unshare -m bash -c 'mount -t tmpfs none /sys/kernel/btf &&
	    exec "$@"' - "$CULPRIT" lab run spec.yaml
	says_once 'fabric netns takes BTF .*vmlinux: No such file'
	run_for 0 unshare -m bash -c 'mount -t tmpfs none /sys/kernel/btf &&
	    exec "$@"' - "$CULPRIT" lab check
	says '^culprit lab up SPEC works here$' stdout
	says "^culprit lab run SPEC can't work here: .*BTF" stdout
	only_files spec.yaml
}

without_a_capability_it_says_so() {
	begin
	command -v setpriv >/dev/null || skip "no setpriv"
	run_for 2 setpriv --inh-caps=-all --bounding-set=-sys_admin,-bpf \
	    "$CULPRIT" lab run spec.yaml
	says_once "^culprit: fabric netns"
	only_files spec.yaml
}

# What there is of ours: others may build networks meanwhile.
inventory() {
	ip netns 2>/dev/null | wc -l
	ip -o link | wc -l
	find /proc/[0-9]*/exe -lname "$CULPRIT" 2>/dev/null | wc -l
	find /sys/fs/bpf -mindepth 1 2>/dev/null | wc -l
}

is_as_before() {
	[[ $(inventory) = "$(cat before)" ]]
}

nothing_is_left_after_sigkill() {
	begin
	inventory >before
	for i in {1..15}; do
		"$CULPRIT" lab run spec.yaml -q --fresh -o out.h5 >out 2>stderr &
		pid=$!
		sleep_ms $((100 + RANDOM % 1500))
		kill -KILL $pid
		wait $pid || true
	done 2>/dev/null
	within 10 is_as_before ||
		{ inventory | diff before - || fail "something is left"; }
	# And it goes on from where it was.
	"$CULPRIT" lab run spec.yaml -q --runs 1 --fresh -o out.h5
}

run_tests the_selftest_passes the_failed_link_is_first_at_one_percent \
    the_failed_link_is_first_at_a_tenth_of_a_percent \
    a_simulated_network_has_the_failed_link_first_too \
    black_holes_are_found_by_nft \
    a_limit_of_icmp_makes_traces_partial one_worker_is_all_there_is \
    mistakes_are_told_before_anything_is_built \
    without_rights_it_says_so without_kernel_types_it_says_so \
    without_a_capability_it_says_so nothing_is_left_after_sigkill
failed=$?
cat "$top/times" 2>/dev/null
exit $failed
