#!/bin/bash
# tests/cli/jobs_shards.sh -- culprit jobs: many recordings, shards, and one whole.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

writer=$BUILD/tests/experiments/pingmesh/dsa_test
[[ $writer = /* ]] || writer=$tree/$writer
[[ $CULPRIT = /* ]] || CULPRIT=$tree/$CULPRIT

# Recordings of 1, 1.5, 2, ... hours; see write_scene() there.
record() {
	[[ -x $writer ]] || skip "no $writer"
	local k
	for ((k = 0; k < $1; k++)); do "$writer" write $k.h5 $k; done
}

# shards N ARGUMENT...: all of N, each its own process, into shard/.
shards() {
	local n=$1 i
	shift
	rm -rf shard
	for ((i = 1; i <= n; i++)); do
		run_for 0 "$CULPRIT" jobs "$@" -q --shard $i/$n \
		    -o shard/$i.h5
	done
}

# The files of shard/, in an order by chance.
shuffled() {
	printf '%s\n' shard/*.h5 | shuf --random-source=<(yes $1)
}

# All shards of N, merged in some order, are one process's bytes.
is_the_whole() {
	local n=$1
	shift
	shards $n "$@"
	run_for 0 "$CULPRIT" jobs --merge $(shuffled $n) -q -o merged.h5
	cmp merged.h5 one.h5 || fail "$n shards of $* are not the whole"
	same stdout one.out
}

# one ARGUMENT...: by one process, what it says being as of merged.h5.
one() {
	run_for 0 "$CULPRIT" jobs "$@" -q -o merged.h5
	mv merged.h5 one.h5
	cp stdout one.out
}

# Jobs that look for black holes have whole days as parts, so all but one shard of
# an hour lack windows; the 52 without that job are parted one from another.
shards_of_windows_are_the_whole() {
	record 1
	mv 0.h5 'recording.h5'
	while read -r counts how; do
		one recording.h5 $how
		for n in ${counts//,/ }; do
			is_the_whole $n recording.h5 $how
		done
	done <<-'END'
		5 --window=5m
		2,7,13 --window=70 --job=sla,counters
		2 --window=1h
		2 --window=1d
		3 --window=900 --from=100 --to=2900 --job=blackhole,counters
	END
}

shards_of_recordings_are_the_whole() {
	record 4
	one 0.h5 1.h5 2.h5 3.h5 --window=1h --job=sla,blackhole,counters
	says '^4 recordings: 8 x 3600 s -> merged.h5$' stdout
	for n in 1 2 4 5 9; do
		is_the_whole $n 0.h5 1.h5 2.h5 3.h5 --window=1h \
		    --job=sla,blackhole,counters
	done
	one 0.h5 1.h5 2.h5 3.h5
	for n in 3; do is_the_whole $n 0.h5 1.h5 2.h5 3.h5; done
}

the_order_of_recordings_does_not_count() {
	record 3
	one 0.h5 1.h5 2.h5
	mkdir elsewhere
	mv 1.h5 elsewhere
	run_for 0 "$CULPRIT" jobs 2.h5 0.h5 elsewhere/1.h5 -q -o b.h5
	same b.h5 one.h5
	is_the_whole 4 elsewhere/1.h5 2.h5 0.h5
}

# What a window's rows say does not depend on the company its recording is in.
rows_of_windows_are_those_of_each_recording() {
	record 3
	/usr/bin/python3 -c 'import h5py' || skip "python3 has no h5py"
	one 0.h5 1.h5 2.h5
	for k in 0 1 2; do
		run_for 0 "$CULPRIT" jobs $k.h5 -q -o $k.jobs.h5
	done
	/usr/bin/python3 - <<-'END'
		import h5py, numpy as np
		all = h5py.File("one.h5")
		each = [h5py.File(f"{k}.jobs.h5") for k in range(3)]
		for table in "drop_rate", "sla", "heatmap", "summary":
		    for column in all[table]:
		        if column in ("row", "recording"):
		            continue
		        want = np.concatenate([f[table][column] for f in each])
		        np.testing.assert_array_equal(all[table][column], want)
		n = [len(f["summary/row"]) for f in each]
		assert list(all["summary/recording"]) == \
		    [k for k in range(3) for _ in range(n[k])]
		# Counts of the pool are sums; its quantiles those of all times.
		def pool(f):
		    t = f["pooled"]
		    return {(d, k, i): (int(n), int(m)) for d, k, i, n, m in
		            zip(t["data_centre"], t["kind"], t["id"],
		                t["n_success"], t["n_drop"])}
		whole, parts = pool(all), [pool(f) for f in each]
		for scope in whole:
		    for j in 0, 1:
		        assert whole[scope][j] == sum(
		            p[scope][j] for p in parts if scope in p)
		h = all["histogram"]
		n = {}
		for d, k, i, c in zip(h["data_centre"], h["kind"], h["id"], h["n"]):
		    n[d, k, i] = n.get((d, k, i), 0) + int(c)
		assert n == {s: whole[s][0] for s in whole}, "histogram"
		# Of each data centre 4 ToRs, 2 pods and itself; two services.
		assert len(whole) == 2 * 7 + 2, len(whole)
	END
}

shards_that_do_not_belong_together_are_refused() {
	record 3
	shards 3 0.h5 1.h5
	merge() { run_for "$1" "$CULPRIT" jobs --merge "${@:2}" -q -o m.h5; }
	merge 3 shard/1.h5 shard/3.h5
	says_once 'would be partial \(missing: 2/3\)'
	merge 2 shard/1.h5 shard/2.h5 shard/3.h5 shard/2.h5
	says_once 'shard/2.h5 and shard/2.h5 are both shard 2/3'
	"$CULPRIT" jobs 0.h5 2.h5 -q --shard 2/3 -o other.h5 2>/dev/null
	merge 2 shard/1.h5 other.h5 shard/3.h5
	says_once 'other.h5 does not belong to shard/1.h5: recording 1 is another, 2.h5 and 1.h5'
	"$CULPRIT" jobs 0.h5 1.h5 -q --shard 2/4 -o other.h5 2>/dev/null
	merge 2 shard/1.h5 other.h5 shard/3.h5
	says_once 'other.h5 is one of 4 shards, and shard/1.h5 one of 3'
	for how in --window=5m:window_ns --from=60:from_ns --to=900:to_ns \
	    --job=sla:jobs; do
		"$CULPRIT" jobs 0.h5 1.h5 -q --shard 2/3 ${how%:*} -o other.h5 \
		    2>/dev/null
		merge 2 shard/1.h5 other.h5 shard/3.h5
		says_once "other.h5 does not belong to shard/1.h5: ${how#*:} is another"
	done
	merge 3 shard/1.h5 0.h5 shard/3.h5
	says_once '0.h5: it holds no tables of jobs'
	merge 3 shard/1.h5 none.h5 shard/3.h5
	says_once 'none.h5: No such file'
	[[ ! -e m.h5 ]] || fail "something was written"
	run_for 2 "$CULPRIT" jobs --merge shard/1.h5 shard/2.h5 shard/3.h5 \
	    -q -o shard/2.h5
	says_once 'would replace .*, which is read'
}

# Recordings made anew, with other bytes, are others under the same names.
recordings_are_known_by_what_is_in_them() {
	record 2
	shards 2 0.h5 1.h5
	cp shard/1.h5 old.h5
	"$writer" write 1.h5 3
	run_for 0 "$CULPRIT" jobs 0.h5 1.h5 -q --shard 2/2 -o shard/2.h5
	run_for 2 "$CULPRIT" jobs --merge old.h5 shard/2.h5 -q -o m.h5
	says_once 'recording 1 is another, 1.h5 and 1.h5'
	cp 0.h5 copy.h5
	run_for 2 "$CULPRIT" jobs 0.h5 copy.h5 -q -o m.h5
	says_once 'are the same recording'
	only_files 0.h5 1.h5 copy.h5 old.h5 shard shard/1.h5 shard/2.h5
}

damaged_shards_are_refused() {
	record 1
	shards 2 0.h5
	local size i
	size=$(stat -c %s shard/2.h5)
	cp shard/2.h5 good
	for i in 0 1 2 3 4 5 6 7 8; do
		head -c $((size * i / 9)) good >shard/2.h5
		run_for 3 "$CULPRIT" jobs --merge shard/*.h5 -q -o m.h5
		says_once 'shard/2.h5: it does not end as'
		cp good shard/2.h5
		printf '\xa5\x5a\xa5' | dd of=shard/2.h5 bs=1 conv=notrunc \
		    seek=$((size * i / 9 + 5)) status=none
		run_for 3 "$CULPRIT" jobs --merge shard/*.h5 -q -o m.h5
		says_once 'shard/2.h5: its checksum is wrong'
	done
	[[ ! -e m.h5 ]] || fail "something was written"
}

a_killed_writer_leaves_what_was_there() {
	record 2
	shards 2 0.h5 1.h5 --window=60
	cp shard/1.h5 before
	# Stopped as soon as its temporary file is there, then killed.
	"$CULPRIT" jobs 0.h5 1.h5 -q --shard 1/2 --window=60 \
	    -o shard/1.h5 >/dev/null 2>&1 &
	local pid=$!
	until compgen -G "shard/1.h5.tmp.*" >/dev/null ||
		! kill -0 $pid 2>/dev/null; do :; done
	kill -KILL $pid 2>/dev/null || :
	wait $pid 2>/dev/null || :
	same shard/1.h5 before
	run_for 0 "$CULPRIT" jobs 0.h5 1.h5 -q --shard 1/2 --window=60 \
	    -o shard/1.h5
	same shard/1.h5 before
	run_for 0 "$CULPRIT" jobs --merge shard/1.h5 shard/2.h5 -q -o m.h5
	run_for 0 "$CULPRIT" jobs 0.h5 1.h5 -q --window=60 -o one.h5
	same m.h5 one.h5
}

a_task_finds_its_own_shard() {
	record 1
	SLURM_ARRAY_TASK_ID=2 run_for 0 "$CULPRIT" jobs 0.h5 -q --shard auto/3
	says '^0.h5, shard 2/3: 2 x 600 s -> 0.10min.2-of-3.h5$' stdout
	run_for 0 "$CULPRIT" jobs 0.h5 -q --shard 2/3 -o b.h5
	same b.h5 0.10min.2-of-3.h5
	run_for 2 "$CULPRIT" jobs 0.h5 --shard 4/3
	says '\-\-shard I "4" is not a whole number in \[1, 3\]'
	run_for 2 "$CULPRIT" jobs 0.h5 --shard auto
	says 'this is no task of an array'
	run_for 2 "$CULPRIT" jobs --merge b.h5
	says 'merge needs -o FILE'
	run_for 2 "$CULPRIT" jobs --merge b.h5 --window=1h -o m.h5
	says 'merge takes neither windows'
}

recordings_of_other_networks_are_refused() {
	record 1
	"$writer" write other.h5 2 "web=0-8; db=20,21"
	run_for 2 "$CULPRIT" jobs 0.h5 other.h5 -q -o m.h5
	says_once 'is of another network than'
	[[ ! -e m.h5 ]] || fail "something was written"
}

run_tests shards_of_windows_are_the_whole shards_of_recordings_are_the_whole \
    the_order_of_recordings_does_not_count \
    rows_of_windows_are_those_of_each_recording \
    shards_that_do_not_belong_together_are_refused \
    recordings_are_known_by_what_is_in_them damaged_shards_are_refused \
    a_killed_writer_leaves_what_was_there a_task_finds_its_own_shard \
    recordings_of_other_networks_are_refused
