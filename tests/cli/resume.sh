#!/bin/bash
# tests/cli/resume.sh -- stopped, killed, sharded and crowded runs.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# 800 cells of about 3 ms, which an algorithm waits, so that a sweep lasts as long
# on any machine and takes little of its time; the undisturbed results in
# $top/whole.h5, and how long they took.
sweep=(--runs 200)
prepare() {
	cd "$top" || exit
	${CC:-cc} -shared -fPIC -I"$tree" -o wait.so \
	    "$tree/tests/cli/lib/wait_plugin.c" || exit
	write_spec
	sed -i 's/, cover]$/, cover, { plugin: .\/wait.so }]/' spec.yaml
	grep -q wait.so spec.yaml || exit
	mkdir first
	cd first || exit
	local start
	start=$(now_ms)
	run ../whole.h5 -q >/dev/null || exit
	took_ms=$(($(now_ms) - start))
	rm -f ../whole.run.json
	cd "$tree" || exit
}

run() { # OUT OPTION...
	local out=$1
	shift
	"$CULPRIT" run ../spec.yaml "${sweep[@]}" -o "$out" "$@"
}

# In a process group of its own, $pid, with signals as a terminal gives them.
start() { # OUT OPTION...
	local out=$1
	shift
	setsid env --default-signal "$CULPRIT" run ../spec.yaml "${sweep[@]}" \
	    -o "$out" "$@" >stdout 2>stderr &
	pid=$!
}

# A moment when a good part, but not all, of an undisturbed sweep is done.
wait_for_cells() { # OUT N
	within 60 has_cells "$1" "$2" || fail "no $2 cells in $1"
}
has_cells() {
	"$CULPRIT" status --json "$1" >cells 2>/dev/null || true
	local n
	n=$(number_in cells 'done')
	rm -f cells
	[[ ${n:-0} -ge $2 ]]
}

# With --fresh the results of before are there: only the journal tells.
wait_for_journal() {
	within 60 has_records "$1" || fail "no cells in $1"
}
has_records() { [[ $(stat -c %s "$1" 2>/dev/null || echo 0) -gt 8000 ]]; }

# By another program than the one that wrote it.
readable() {
	command -v h5dump >/dev/null || return 0
	h5dump -H "$1" >/dev/null || fail "h5dump cannot read $1"
	h5dump -a /figure "$1" | grep -q '"small"' ||
		fail "h5dump finds no figure in $1"
}

the_bytes_are_the_same_for_any_number_of_jobs() {
	for j in 1 2 4; do
		run_for 0 run "$j.h5" -j "$j"
		same "$j.h5" ../whole.h5
		readable "$j.h5"
	done
	only_files {1,2,4}.{h5,run.json}
}

shards_merged_in_any_order_are_the_whole() {
	for i in 1 2 3; do
		run_for 0 run "$i.h5" --shard "$i/3"
	done
	for order in "1 2 3" "3 1 2" "2 3 1"; do
		# shellcheck disable=SC2046,SC2086 # words are meant
		run_for 0 "$CULPRIT" merge -f -o m.h5 $(printf '%s.h5 ' $order)
		same m.h5 ../whole.h5
	done
	run_for 3 "$CULPRIT" merge -o part.h5 1.h5 3.h5
	says_once "part.h5 would be partial \(missing: 2/3\), so nothing was"
	[[ ! -e part.h5 ]] || fail "a part was written"
	run_for 3 "$CULPRIT" merge --partial -o part.h5 1.h5 3.h5
	says "533 of 800 cells done, partial \(missing: 2/3\) -> part.h5" stdout
	run_for 3 "$CULPRIT" status part.h5
	says "533 of 800 cells done, partial \(missing: 2/3\)" stdout
	run_for 0 "$CULPRIT" table part.h5
	says_once "part.h5 is partial: missing: 2/3"
	# What is missing can be run into it.
	run_for 0 run part.h5
	same part.h5 ../whole.h5
	run_for 2 "$CULPRIT" merge -o part.h5 1.h5
	says_once "part.h5 exists"
	run_for 2 run 1.h5 --shard 2/3
	says_once "1.h5 holds results of another spec, shard"
}

# Each is told in another way which shard it is.
shards_that_are_told_by_their_starter_are_the_whole() {
	mkdir parts
	run_for 0 run parts/ --shard 1/3
	SLURM_ARRAY_TASK_ID=2 run_for 0 run parts/ --shard auto/3
	PMI_RANK=2 PMI_SIZE=3 run_for 0 run parts/ --shard auto
	run_for 0 "$CULPRIT" merge -o m.h5 parts/small.*-of-3.h5
	same m.h5 ../whole.h5
	OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 \
	    run_for 0 run parts/ --shard auto
	same parts/small.h5 ../whole.h5
}

# With a file of each mistake there is a message that names both.
shards_that_do_not_fit_are_refused() {
	sweep=(--set traffic.conns=40 --runs 12)
	for i in 1/2 2/2 1/3; do
		run_for 0 run "${i/\//of}.h5" --shard "$i"
	done
	run_for 0 run all.h5
	sweep=(--set traffic.conns=40 --runs 13)
	run_for 0 run other.h5 --shard 2/2
	cp 1of2.h5 copy.h5
	refused_merge "1of2.h5 and copy.h5 are the same shard, 1/2" copy.h5
	refused_merge "1of2.h5 and 1of2.h5 are the same shard, 1/2" 1of2.h5
	refused_merge "1of2.h5 and 1of3.h5 .* 2 shards, the other of one in 3" \
	    1of3.h5
	refused_merge "1of2.h5 and all.h5 do not belong together" all.h5
	refused_merge "1of2.h5 and other.h5 .*: the overrides" other.h5
	run_for 2 "$CULPRIT" merge -f -o 2of2.h5 1of2.h5 2of2.h5
	says_once "-o 2of2.h5 is one of the files to merge"
	run_for 0 "$CULPRIT" merge -o m.h5 1of2.h5 2of2.h5
	same m.h5 all.h5
	rm ./*.run.json
	only_files {1of2,2of2,1of3,other,all,copy,m}.h5
}
refused_merge() { # MESSAGE FILE
	run_for 2 "$CULPRIT" merge -o no.h5 1of2.h5 "$2"
	says_once "$1"
	[[ ! -e no.h5 ]] || fail "no.h5 was written"
}

# Beside done ones one that was stopped, one that is being killed early, and two
# without a file.
status_names_what_is_missing() {
	for i in 1 2 5; do
		run_for 0 run "x.$i-of-5.h5" --shard "$i/5"
	done
	run_for 0 "$CULPRIT" status x.1-of-5.h5
	says "^small: 160 of 160 cells done, shard 1/5 -> x.1-of-5.h5" stdout
	[[ $(wc -l <stdout) = 1 ]] # who asks after one, asks after that one
	# Where the machine is busy all may be done before the signal comes.
	for _ in {1..20}; do
		rm -f x.2-of-5.h5
		start x.2-of-5.h5 --shard 2/5 -j 1
		wait_for_cells x.2-of-5.h5 10
		kill -INT "$pid" || true
		wait "$pid" || true
		"$CULPRIT" status x.2-of-5.h5 >/dev/null || break
	done
	run_for 3 "$CULPRIT" status --json x.2-of-5.h5
	local n left
	n=$(sed -n '1s/.*"done": \([0-9]*\).*/\1/p' stdout)
	left=$((160 - n))
	((left > 0)) || fail "it was done before it was stopped"
	run_for 3 "$CULPRIT" status x.*-of-5.h5
	[[ $(wc -l <stdout) = 4 ]]
	says "^small: 3 of 5 shards, $((320 + n)) of 800 cells done; missing: \
3/5, 4/5; not done: $left of 160 cells of 2/5$" stdout
	run_for 3 "$CULPRIT" status --json x.*-of-5.h5
	tail -1 stdout >whole
	[[ $(json whole '(d["missing"], d["unfinished"], d["shards"],
	    d["cells"], d["done"])') = \
	    "([3, 4], [2], 5, 800, $((320 + n)))" ]]
	run_for 3 "$CULPRIT" merge -o part.h5 x.*-of-5.h5
	says_once "missing: 3/5, 4/5; not done: $left of 160 cells of 2/5"
	for i in 2 3 4; do
		run_for 0 run "x.$i-of-5.h5" --shard "$i/5"
	done
	run_for 0 "$CULPRIT" status x.*-of-5.h5
	says "^small: 5 of 5 shards, 800 of 800 cells done$" stdout
	# Of as many shards of another sweep a line is of its own.
	local sweep=(--runs 5)
	run_for 0 run y.1-of-5.h5 --shard 1/5
	run_for 3 "$CULPRIT" status x.1-of-5.h5 y.1-of-5.h5
	[[ $(wc -l <stdout) = 4 ]]
	says "^small: 1 of 5 shards, 160 of 800 cells done; missing: " stdout
	says "^small: 1 of 5 shards, 4 of 20 cells done; missing: " stdout
}

# The journal of one shard under the name of another.
a_journal_of_another_shard_is_refused() {
	start x.h5 --shard 1/2 -j 1
	wait_for_cells x.h5 5
	kill -KILL "$pid"
	wait "$pid" || true
	rm x.h5
	run_for 2 run x.h5 --shard 2/2
	says_once "journal x.journal is of another spec, shard, other overrid"
	run_for 0 run x.h5 --shard 1/2
}

a_complete_sweep_is_left_alone() {
	run_for 0 run x.h5
	cp -p x.h5 x.run.json ..
	sleep 0.01
	run_for 0 run x.h5 --json
	[[ $(json stdout 'd["before"]') = 800 ]]
	[[ ! x.h5 -nt ../x.h5 && ! x.run.json -nt ../x.run.json ]] ||
		fail "written again"
	rm ../x.h5 ../x.run.json
}

# False alarms: none. What the seed decides is which moments are tried.
ten_kills_lose_only_what_was_in_flight() {
	RANDOM=${CULPRIT_TEST_SEED:-$$}
	echo "seed (CULPRIT_TEST_SEED): ${CULPRIT_TEST_SEED:-$$}"
	local had=0 n=0 later=1 before
	for kill in 1 2 3 4 5 6 7 8 9 10; do
		start x.h5 -j $((kill % 3 + 1)) -q
		# Where the start takes most of the time kills come later.
		((had > 0)) || later=$((kill < 5 ? 1 : 2 * later))
		sleep_ms $((later * took_ms * (RANDOM % 140) / 1000))
		kill -KILL "$pid" || true
		wait "$pid" || true
		within 5 no_member "$pid" || fail "a worker survived kill $kill"
		[[ ! -e x.h5 ]] || readable x.h5
		if [[ -e x.h5 || -e x.journal ]]; then
			"$CULPRIT" status --json x.h5 >cells || [[ $? = 3 ]]
			n=$(number_in cells 'done')
		fi
		echo "kill $kill: $n cells"
		((n >= had)) || fail "$((had - n)) finished cells are gone"
		had=$n
	done
	rm -f cells
	((had > 0)) || fail "no kill left a cell: nothing was tried"
	run_for 0 run x.h5 --json
	before=$(json stdout 'd["before"]')
	[[ $before = "$had" ]] || fail "$before cells resumed, not $had"
	same x.h5 ../whole.h5
	rm -f x.run.json # the last kill may have come just before it
	only_files x.h5
}
no_member() { [[ -z $(group_members "$1") ]]; }

# Far fewer than a buffer's worth, of some 20 ms each: they must not wait for
# company.
a_finished_cell_is_journaled_at_once() {
	setsid "$CULPRIT" run ../spec.yaml -q -o x.h5 -j 1 --runs 20 \
	    --set algorithms.3.ms=20 >stdout 2>stderr &
	pid=$!
	within 60 has_cells x.h5 5 || fail "no cells"
	kill -KILL "$pid" || fail "it ended before"
	wait "$pid" || true
	run_for 3 "$CULPRIT" status --json x.h5
	n=$(number_in stdout 'done')
	((n < 80))
	# Who reads the file alone is told.
	run_for 0 "$CULPRIT" table x.h5
	says_once "x.h5 has [0-9]+ of $n cells that are done: the others stand in x.jo"
}

each_signal_stops_in_good_order() {
	for sig in INT TERM HUP; do
		start "$sig.h5"
		wait_for_cells "$sig.h5" 20
		kill -s "$sig" "$pid"
		local code=0
		wait "$pid" || code=$?
		[[ $code = 3 ]] || fail "SIG$sig: exit code $code"
		says "stopped; the same command goes on"
		says "small: [0-9]+ of 800 cells done -> $sig.h5" stdout
		no_member "$pid" || fail "a worker survived SIG$sig"
		[[ -e $sig.journal ]] || fail "no journal"
		readable "$sig.h5"
		# Published: the file has what the journal has.
		local n
		n=$(sed -n 's/small: \([0-9]*\) .*/\1/p' stdout)
		mv "$sig.journal" away
		run_for 3 "$CULPRIT" status --json "$sig.h5"
		[[ $(number_in stdout 'done') = "$n" ]] || fail "not published"
		mv away "$sig.journal"
		run_for 0 run "$sig.h5"
		same "$sig.h5" ../whole.h5
		[[ ! -e $sig.journal ]] || fail "a journal is left"
	done
}

# The journal would be the next file opened, and progress be written into it.
a_closed_stderr_is_not_mistaken_for_a_file() {
	setsid env --default-signal "$CULPRIT" run ../spec.yaml "${sweep[@]}" \
	    -o x.h5 >stdout 2>&- &
	pid=$!
	wait_for_journal x.journal
	kill -TERM "$pid"
	wait "$pid" || true
	[[ $(head -c 8 x.journal) = culpritJ ]] || fail "spoiled"
	run_for 0 run x.h5
	same x.h5 ../whole.h5
}

an_ignored_signal_stays_ignored() {
	setsid env --ignore-signal=HUP "$CULPRIT" run ../spec.yaml \
	    "${sweep[@]}" -o x.h5 >stdout 2>stderr &
	pid=$!
	wait_for_cells x.h5 20
	kill -HUP "$pid"
	wait "$pid" || fail "nohup did not help"
	same x.h5 ../whole.h5
}

# Should the worker be between two cells, nothing is lost: then once more.
a_killed_worker_costs_one_cell() {
	for try in 1 2 3 4 5; do
		start x.h5 -j 2 --fresh
		wait_for_journal x.journal
		local worker code=0
		kill -STOP -- "-$pid"
		worker=$(children "$pid" | head -1)
		kill -KILL "$worker" || true # it may just have ended
		kill -CONT -- "-$pid"
		wait "$pid" || code=$?
		[[ $code = 0 ]] || break
	done
	[[ $code = 3 ]] || fail "exit code $code after $try tries"
	says "point [0-9] \(faults.count [13], faults.rate 0.0*1\) run [0-9]+:"
	says "the worker was killed by signal 9 \(Killed\)"
	says "800/800 cells  1 crashed"
	says "799 of 800 cells done, 1 crashed" stdout
	run_for 3 "$CULPRIT" status x.h5
	says "799 of 800 cells done, 1 crashed" stdout
	readable x.h5
	run_for 0 run x.h5 --json
	[[ $(json stdout 'd["before"]') = 799 ]]
	same x.h5 ../whole.h5
}

children() { # PARENT
	local member
	for member in $(group_members "$1"); do
		if grep -q "^PPid:[[:space:]]*$1\$" "/proc/$member/status"; then
			echo "$member"
		fi
	done
}

# The first stands still meanwhile, so that it can't come to its end.
two_processes_never_share_an_output() {
	start x.h5
	wait_for_cells x.h5 5
	kill -STOP -- "-$pid"
	mkdir other
	refused "${sweep[@]}"
	refused "${sweep[@]}" --force
	refused "${sweep[@]}" --fresh
	refused --runs 2 --force
	refused --runs 2 --fresh --force
	refused --runs 2
	kill -CONT -- "-$pid"
	wait "$pid" || fail "the first was disturbed"
	same x.h5 ../whole.h5
	rmdir other
	only_files x.h5 x.run.json
}
refused() {
	local code=0
	(
		cd other
		"$CULPRIT" run ../../spec.yaml -o ../x.h5 "$@" \
		    >/dev/null 2>../second
	) || code=$?
	[[ $code = 3 ]] || fail "run $*: exit code $code, not 3"
	says "another process is running this sweep" second
	rm second
}

what_force_replaces_is_kept() {
	run_for 0 "$CULPRIT" run ../spec.yaml -o x.h5
	cp x.h5 ../former.h5
	run_for 2 run x.h5
	says_once "x.h5 holds results of another spec.*--fresh"
	same x.h5 ../former.h5
	only_files x.h5 x.run.json
	# Stopped half-way: the former is still there, the new goes on.
	start x.h5 --force
	wait_for_cells x.h5 20
	kill -TERM "$pid"
	wait "$pid" || true
	same x.h5~ ../former.h5
	run_for 0 run x.h5 --force --json
	(($(json stdout 'd["before"]') >= 20)) || fail "started over"
	same x.h5 ../whole.h5
	same x.h5~ ../former.h5
	only_files x.h5 x.h5~ x.run.json
	# Nothing to replace: nothing is moved.
	run_for 0 run x.h5 --force
	same x.h5~ ../former.h5
	# A stopped sweep's journal is kept too.
	start x.h5 --fresh
	wait_for_journal x.journal
	kill -TERM "$pid"
	wait "$pid" || true
	says "the same command without --fresh goes on"
	cp x.journal ../former.journal
	run_for 0 "$CULPRIT" run ../spec.yaml -o x.h5 --force
	same x.journal~ ../former.journal
	same x.h5 ../former.h5
	rm ../former.*
}

what_killed_writers_left_is_removed() {
	local dead
	sh -c 'echo $$' >pid
	dead=$(cat pid)
	rm pid
	touch "x.h5.tmp.$dead" "x.h5.tmp.$$" x.h5.tmp. x.h5.tmp.1x "y.h5.tmp.$dead"
	run_for 0 "$CULPRIT" run ../spec.yaml -o x.h5
	only_files x.h5 x.run.json "x.h5.tmp.$$" x.h5.tmp. x.h5.tmp.1x \
	    "y.h5.tmp.$dead"
}

one_cell_is_repeated_alone() {
	run_for 0 "$CULPRIT" run ../spec.yaml --point 3 --run 2
	cp stdout first
	run_for 0 "$CULPRIT" run ../spec.yaml --point 3 --run 2
	same stdout first
	says "FAULTY" stdout
	rm first
	only_files ""
}

prepare
run_tests the_bytes_are_the_same_for_any_number_of_jobs \
    shards_merged_in_any_order_are_the_whole \
    shards_that_are_told_by_their_starter_are_the_whole \
    shards_that_do_not_fit_are_refused status_names_what_is_missing \
    a_journal_of_another_shard_is_refused a_complete_sweep_is_left_alone \
    ten_kills_lose_only_what_was_in_flight \
    a_finished_cell_is_journaled_at_once each_signal_stops_in_good_order \
    a_closed_stderr_is_not_mistaken_for_a_file \
    an_ignored_signal_stays_ignored a_killed_worker_costs_one_cell \
    two_processes_never_share_an_output what_force_replaces_is_kept \
    what_killed_writers_left_is_removed one_cell_is_repeated_alone
