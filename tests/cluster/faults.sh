#!/bin/bash
# tests/cluster/faults.sh -- what may befall a sweep on a cluster; sourced.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Each ends with the bytes of the plain run in $top/whole.h5, and says how many
# rounds it took.

# Shards of a second or two.
sweep=(--set traffic.conns=600 --set topology.n_hosts=40 --set plane=exact
	--runs 300)
prepare() {
	cd "$top" || exit
	write_spec
	"$CULPRIT" run spec.yaml "${sweep[@]}" -q -o whole.h5 >/dev/null || exit
	cd "$tree" || exit
}

submit() { # OUT OPTION...
	local out=$1
	shift
	$exec "$CULPRIT" submit ../spec.yaml "${sweep[@]}" -o "$PWD/$out" \
	    --poll 0.3 --wait 0.5 --json "$@"
}
exec=

start() { # OUT OPTION...
	exec=exec submit "$@" >stdout 2>stderr &
	pid=$!
}

# It ends well, with the right bytes; $rounds is how many it took.
finished() { # OUT
	local code=0
	wait "$pid" || code=$?
	[[ $code = 0 ]] || {
		cat stdout stderr
		tail -n 3 "${1%.h5}".cluster/*.log "$site"/*.out
		fail "exit code $code"
	}
	same "$1" ../whole.h5
	rounds=$(json stdout 'd["rounds"]')
	echo "${FUNCNAME[1]}: rounds $rounds" >>"$top/notes"
	cat stderr
}

has_cells() { # OUT SHARD: its journal has a few
	[[ $(stat -c %s "${1%.h5}.cluster/small.$2-of-8.journal" 2>/dev/null ||
	    echo 0) -gt 4000 ]]
}
wait_for_cells() { within 60 has_cells "$@" || fail "no cells of shard $2"; }

running() { # OUT: numbers of shards
	"$CULPRIT" status --cluster --json "$1" >state 2>/dev/null || true
	json state '" ".join(map(str, d["running"]))'
}

# Processes that were told NAME=VALUE. A task of an array says --shard auto, so it
# is known by that.
told() {
	local p
	for p in $(pgrep -x culprit); do
		{ tr '\0' '\n' <"/proc/$p/environ"; } 2>/dev/null |
			grep -qx "$1" && echo "$p"
	done
	return 0
}

an_array_of_8_is_a_plain_run() {
	start x.h5 -e slurm -n 8
	finished x.h5
	[[ $rounds = 1 ]]
	for i in 1 2 3 4 5 6 7 8; do
		says "shard $i/8" x.cluster/$i.log
	done
	# The merge behind the array has done it, and not we.
	says "1200 of 1200 cells done -> $PWD/x.h5" x.cluster/merge.log
	[[ $(wc -l <x.cluster/merge.log) = 1 ]]
	run_for 0 "$CULPRIT" status --cluster x.h5
	says "^small: slurm, 8 shards: 8 done; 1200 of 1200 cells done" stdout
}

ranks_of_mpi_are_a_plain_run() {
	run_for 0 "$CULPRIT" submit ../spec.yaml "${sweep[@]}" -o x.h5 -n 4 \
	    --dry-run -j 1
	mpirun --allow-run-as-root --oversubscribe -n 4 sh x.cluster/shard.sh
	run_for 0 sh x.cluster/merge.sh
	same x.h5 ../whole.h5
}

parallel_is_a_plain_run() {
	start x.h5 -e parallel -n 8 --at-once 2 -j 1
	finished x.h5
	[[ $rounds = 1 ]]
}

a_killed_task_is_run_again() {
	start x.h5 -e slurm -n 8
	wait_for_cells x.h5 3
	# shellcheck disable=SC2046 # a list of words is meant
	kill -KILL $(told SLURM_ARRAY_TASK_ID=3)
	finished x.h5
	[[ $rounds = 2 ]]
	says "again, as they are not done: shards 3$" stderr
}

# What it started goes on meanwhile; the node is down, then up again, and what
# ran there is run again. Never two at a time: the lock would have told.
a_killed_slurmd_costs_no_cell() {
	start x.h5 -e slurm -n 8
	wait_for_cells x.h5 1
	node_kill n1
	within 90 nodes_are down 1 || fail "n1 was not missed"
	node_up n1
	within 60 nodes_are down 0 || fail "n1 did not come back"
	finished x.h5
	! grep -h "another process" x.cluster/*.log || fail "two at a time"
}

# With all that it ran, and with those that would have told.
a_crashed_node_is_done_without() {
	start x.h5 -e slurm -n 8
	wait_for_cells x.h5 1
	local p parent lost=
	for p in $(told SLURMD_NODENAME=n1); do
		parent=$(ps -o ppid= -p "$p") || continue
		lost+=" $p $parent"
	done
	[[ -n $lost ]] || fail "nothing runs on n1"
	node_kill n1
	# Workers have one parent, which may be gone by now.
	# shellcheck disable=SC2086 # a list of words is meant
	kill -KILL $lost 2>/dev/null || true
	finished x.h5
	[[ $rounds -ge 2 ]]
	node_up n1
	within 60 nodes_are idle 2
}

a_drained_node_is_gone_without() {
	start x.h5 -e slurm -n 8
	wait_for_cells x.h5 1
	scontrol update NodeName=n2 State=DRAIN Reason=test
	finished x.h5
	scontrol update NodeName=n2 State=RESUME
	[[ $rounds = 1 ]]
	within 30 nodes_are idle 2
}

# Where the journal of one shard is, a third of it fits. It is run again and
# again, and gets further as soon as there is room.
a_full_disk_on_one_shard_is_waited_out() {
	mkdir small x.cluster
	mount -t tmpfs -o size=96k none small
	trap 'umount -l small' EXIT
	ln -s "$PWD/small/journal" x.cluster/small.5-of-8.journal
	start x.h5 -e slurm -n 8 --retry 100
	within 90 grep -q "No space left" x.cluster/5.log ||
		fail "the disk was not full"
	mount -o remount,size=4m small
	finished x.h5
	[[ $rounds -ge 2 ]]
}

a_killed_submit_is_taken_up_while_jobs_run() {
	start x.h5 -e slurm -n 8
	wait_for_cells x.h5 1
	kill -KILL "$pid"
	wait "$pid" || true
	[[ -n $(running x.h5) ]] || fail "nothing runs"
	start x.h5 -e slurm -n 8
	finished x.h5
	# Nothing was handed in twice.
	[[ $rounds = 0 ]]
}

a_stopped_slurmctld_is_waited_for() {
	start x.h5 -e slurm -n 8
	wait_for_cells x.h5 1
	kill -STOP "$ctld_pid"
	sleep 3
	kill -CONT "$ctld_pid"
	finished x.h5
	[[ $rounds = 1 ]]
}

a_job_that_is_cancelled_is_run_again() {
	start x.h5 -e slurm -n 8
	wait_for_cells x.h5 1
	scancel --name="$(sed -n 's/^#SBATCH --job-name=//p' \
	    x.cluster/shard.sh)"
	finished x.h5
	[[ $rounds = 2 ]]
}
