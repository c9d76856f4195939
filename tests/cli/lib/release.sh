#!/bin/bash
# tests/cli/lib/release.sh -- files that a release made, and what is asked of them.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sourced by tests/cli/releases.sh. By itself, once a release, as root and beside
# nothing else, in the release's tree:
#
#	make && bash tests/cli/lib/release.sh
#
# makes tests/data/releases/VERSION.tar.gz: small files of each kind that the
# program keeps, and in answers/ what it says of them itself. Later programs must
# say the same, and may say more, or refuse them and say why: tests/data/releases/
# refused.tsv lists which, with the words.

noon=1770120000 # 2026-02-03T12:00:00Z
sets='--set n_pods=1 --set n_tors=2 --set n_t1=1 --set n_t2=0 --set n_hosts=1'
spans='-s n_pods=2 -s n_tors=2 -s n_t1=2 -s n_t2=2 -s n_hosts=2'

# questions: NAME FILE COMMAND, a line each, which are asked where FILE is.
questions() {
	cat <<-'END'
		sweep run.h5 culprit table --tidy run.h5
		status run.h5 culprit status run.h5
		shards shards culprit merge -f -o whole.h5 shards/1.h5 shards/2.h5
		merged shards culprit table --tidy whole.h5
		killed killed.h5 culprit status killed.h5
		kept killed.h5 culprit table --runs killed.h5
		windows rec.h5 culprit jobs rec.h5 --window 60 -q -f -o again.h5
		part tables culprit jobs -q --merge -f -o joined.h5 tables/1.h5 tables/2.h5
		epoch epoch.h5 culprit diagnose epoch.h5 --algorithm vote
		traces traces.h5 culprit trace get traces.h5 drop
		counters traces.h5 culprit trace counter traces.h5 switch:tor0
		bursts samples.h5 culprit samples bursts samples.h5
		cause samples.h5 culprit samples cause samples.h5
		host host culprit samples export host --csv
		store store culprit collector $sets --dir store --export store.h5 -f
		fleet fleet culprit jobs --continuous fleet --db jobs.db $spans --until 2026-02-03T12:41:00Z
		alerts jobs.db culprit alerts jobs.db --show all
		services jobs.db culprit alerts jobs.db --show levels --job 10min
		heat_map jobs.db culprit alerts jobs.db --show heat_map
		agents jobs.db culprit alerts jobs.db --show agents
	END
}

# answer COMMAND FILE: what it says, and its exit code, go to FILE.
answer() {
	local code=0
	culprit() { "$CULPRIT" "$@"; }
	eval "$1" >"$2" 2>"$2.stderr" || code=$?
	cat "$2.stderr" >>"$2"
	echo "exit code $code" >>"$2"
	rm "$2.stderr"
}

# ask FOLDER: each question to what is here.
ask() {
	local name file command
	mkdir -p "$1"
	while read -r name file command; do
		[[ ! -e $file ]] || answer "$command" "$1/$name"
	done < <(questions)
}

# --- what is made once a release --------------------------------------------------

spec_of() { # of cells that take no time
	cat <<-'END2'
		figure: small
		seed: 7
		runs: 3
		topology: { n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2 }
	END2
}

make_sweep() {
	{
		spec_of
		cat <<-'END2'
			traffic: { conns: 20, packets: 50 }
			noise: { rate: { uniform: [0, 1e-6] } }
			faults: { count: 1, rate: 1e-2 }
			algorithms: [vote, alg1, cover]
			sweep: { grid: { faults.count: [1, 3] } }
		END2
	} >spec.yaml
	"$CULPRIT" run spec.yaml -q -o run.h5
	mkdir shards
	for i in 1 2; do
		"$CULPRIT" run spec.yaml -q --shard $i/2 -o shards/$i.h5
	done
	"$CULPRIT" dump spec.yaml -o epoch.h5
}

# One that was killed half way: finished cells stand in its journal.
make_killed() {
	local pid
	"$CULPRIT" run spec.yaml -q -j 1 --set runs=80 -o killed.h5 &
	pid=$!
	until [[ $(stat -c %s killed.journal 2>/dev/null || echo 0) -gt 2000 ]]; do
		kill -0 $pid || return
		sleep 0.01
	done
	kill -KILL $pid
	wait $pid || :
}

make_recording() {
	{
		spec_of
		cat <<-'END2'
			plane: pingmesh
			noise: { rate: 1e-3 }
			pingmesh: { duration: 360, window: 60 }
		END2
	} >rec.yaml
	"$CULPRIT" record rec.yaml -o rec.h5
	mkdir tables
	for i in 1 2; do
		! "$CULPRIT" jobs --help | grep -q -- --shard || "$CULPRIT" jobs \
		    rec.h5 --window 60 -q --shard $i/2 -o tables/$i.h5
	done
}

make_traces() {
	{
		spec_of
		cat <<-'END2'
			plane: everflow
			traffic: { conns: 4, packets: 60 }
			faults: { count: 1, rate: 0.1 }
			everflow: { rules: [control, sample, retx], sample_n: 16, debug: [] }
		END2
	} >traces.yaml
	"$CULPRIT" trace run traces.yaml -o traces.h5
}

# The windows of the first half are in a database; those of the second come later.
make_database() {
	mkdir fleet
	python3 "$lib/fleet_file.py" $noon 30 9000 >fleet/batches-20260203-0001.cpmb
	# shellcheck disable=SC2086 # words are meant
	! "$CULPRIT" jobs --help | grep -q -- --continuous ||
		"$CULPRIT" jobs --continuous fleet --db jobs.db \
		    $spans --until 2026-02-03T12:21:00Z
}

# Agents and a collector, in a network of their own.
make_store() {
	# shellcheck disable=SC2016 # expanded inside
	unshare -n bash -c '
		ip link set lo up
		for i in 1 2; do ip addr add 10.0.0.$i/32 dev lo; done
		"$CULPRIT" controller $sets -p payload_probes=true $who >said 2>&1 &
		"$CULPRIT" collector --dir store $who >said 2>&1 &
		servers=$(jobs -p)
		sleep 1
		for i in 1 2; do
			"$CULPRIT" agent --address 10.0.0.$i $who $open \
			    --controller http://127.0.0.1:8080 \
			    --collector http://127.0.0.1:8081 --for 40 \
			    -p fetch_retry=1 -p upload_interval=5 -p perf_window=10 \
			    >said 2>&1 &
			agents[i]=$!
		done
		wait "${agents[@]}"
		kill $servers
		wait'
	rm -f said
}

# What a host counted of itself; needs root.
make_host() {
	# shellcheck disable=SC2016 # expanded inside
	unshare -n bash -c '
		ip link set lo up
		"$CULPRIT" samples record --if lo --host h --line 1000 --dir host \
		    --widths 1ms --every 1s --for 4 --user root >said 2>&1 &
		while kill -0 $! 2>/dev/null; do
			echo "some bytes" >/dev/udp/127.0.0.1/9
			sleep 0.2
		done'
	rm -f said
}

# release DEST: in an empty folder.
release() {
	make_sweep
	make_killed
	make_recording
	make_database
	export sets who='' open=''
	! "$CULPRIT" collector --help | grep -q -- --user || who='--user root'
	! "$CULPRIT" agent --help | grep -q -- --insecure || open=--insecure
	make_store
	make_host
	make_traces
	"$CULPRIT" samples run ms_bursts.yaml --smoke --set rack.length=0.1 -o samples.h5
	find . \( -name '*.json' -o -name '*.yaml' -o -name '*.lock' \) ! -name spec.yaml \
	    -delete
	rmdir tables 2>/dev/null || :
	mkdir ../kept
	cp -r . ../kept
	ask ../kept/answers
	# To what it could not do yet it has no answer.
	grep -l 'there is no option' ../kept/answers/* | xargs -r rm
	tar --sort=name --owner=0 --group=0 -C ../kept -cz -f "$1" .
}

if [[ ${BASH_SOURCE[0]} = "$0" ]]; then
	set -eu
	lib=$PWD/tests/cli/lib
	export CULPRIT=${CULPRIT:-$PWD/build/culprit}
	dest=$PWD/tests/data/releases/$("$CULPRIT" --version | sed -n '1s/culprit \([0-9.]*\).*/\1/p').tar.gz
	specs=$PWD/experiments
	mkdir -p "${dest%/*}"
	top=$(mktemp -d)
	trap 'rm -rf "$top"' EXIT
	mkdir "$top/made"
	cd "$top/made"
	cp "$specs/ms_bursts.yaml" .
	release "$dest"
	ls -l "$dest"
fi
