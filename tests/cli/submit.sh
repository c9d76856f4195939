#!/bin/bash
# tests/cli/submit.sh -- a sweep as shards: scripts, engines of this machine.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# The undisturbed results in $top/whole.h5; those of tests that kill something,
# whose cells take about 4 ms, in $top/long.h5.
sweep=(--set plane=exact --runs 100)
longer=(--set traffic.conns=600 --set topology.n_hosts=40)
prepare() {
	cd "$top" || exit
	write_spec
	"$CULPRIT" run spec.yaml "${sweep[@]}" -q -o whole.h5 >/dev/null || exit
	"$CULPRIT" run spec.yaml "${sweep[@]}" "${longer[@]}" -q -o long.h5 \
	    >/dev/null || exit
	cd "$tree" || exit
}

# Who is to be found at work takes a while.
take_longer() {
	sweep+=("${longer[@]}")
}

submit() { # OUT OPTION...
	local out=$1
	shift
	$exec "$CULPRIT" submit ../spec.yaml "${sweep[@]}" -o "$out" \
	    --poll 0.1 --wait 0.1 "$@"
}
exec=

start() { # OUT OPTION...
	exec=exec submit "$@" >stdout 2>stderr &
	pid=$!
}

# Processes that run a shard of the folder $1.
at_work() { pgrep -f -- "--shard [0-9]*/[0-9]* -o $PWD/$1.cluster/"; }
somebody_works() { at_work "$1" >/dev/null; }
nobody_works() { ! at_work "$1" >/dev/null; }

shards_of_this_machine_are_the_whole() {
	run_for 0 submit x.h5 -n 3 --at-once 2 -j 1 -q
	same x.h5 ../whole.h5
	says "^small: 400 of 400 cells done -> $PWD/x.h5$" stdout
	run_for 0 "$CULPRIT" status --cluster x.h5
	says "^small: local, 3 shards: 3 done; 400 of 400 cells done -> $PWD/x" \
	    stdout
	# There is nothing to do, and nothing is done.
	cp -p x.h5 before.h5
	run_for 0 submit x.h5 -n 3 --json
	[[ $(json stdout '(d["rounds"], d["merged"], d["done"])') = \
	    "(0, True, 400)" ]]
	[[ ! x.h5 -nt before.h5 ]] || fail "written again"
	# Shards are merged again without being run again.
	rm x.h5
	run_for 0 submit x.h5 -n 3 --json
	[[ $(json stdout 'd["rounds"]') = 0 ]]
	same x.h5 ../whole.h5
}

paths_may_have_blanks_and_quotes() {
	mkdir "it's a \"% {}"
	run_for 0 submit "it's a \"% {}/x.h5" -n 2 -q
	same "it's a \"% {}/x.h5" ../whole.h5
	if command -v parallel >/dev/null; then
		mkdir "it's b"
		run_for 0 submit "it's b/x.h5" -n 2 -q --engine parallel
		same "it's b/x.h5" ../whole.h5
	fi
}

gnu_parallel_does_it_too() {
	command -v parallel >/dev/null || skip "no GNU parallel here"
	run_for 0 submit x.h5 -n 3 --at-once 2 -j 1 -q --engine parallel
	same x.h5 ../whole.h5
	[[ $(grep -c shard.sh x.cluster/parallel.log) = 3 ]]
}

# By hand, and as the scripts that Slurm would get.
the_scripts_do_it_alone() {
	run_for 0 submit x.h5 -n 3 --dry-run
	says "^$PWD/x.cluster/submit.sh$" stdout
	[[ ! -e x.h5 && ! -e x.cluster/small.1-of-3.h5 ]]
	run_for 3 "$CULPRIT" status x.h5
	says "^small: local, 3 shards: 3 missing \(1-3\); 0 of 0 cells" stdout
	run_for 3 sh x.cluster/submit.sh 1 3
	[[ ! -e x.h5 ]] || fail "a part was taken for the whole"
	run_for 3 "$CULPRIT" status x
	says "3 shards: 2 done, 1 missing \(2\); 267 of 400 cells" stdout
	run_for 3 "$CULPRIT" status --json x.cluster
	[[ $(json stdout '(d["missing"], d["done"], d["merged"])') = \
	    "([2], [1, 3], False)" ]]
	sh x.cluster/submit.sh 2
	same x.h5 ../whole.h5

	run_for 0 submit y.h5 -n 100 --dry-run --engine slurm -j 64 -O \
	    --time=1:00:00 --at-once 7
	for script in shard merge submit; do
		sh -n y.cluster/$script.sh
	done
	says '^#SBATCH --cpus-per-task=64$' y.cluster/shard.sh
	says '^#SBATCH --time=1:00:00$' y.cluster/shard.sh
	says "^#SBATCH --output=\"$PWD/y.cluster/%a.log\"$" y.cluster/shard.sh
	says '^#SBATCH --time=1:00:00$' y.cluster/merge.sh
	says '--array="\$\{tasks:-1-100\}"%7 ' y.cluster/submit.sh
	says '--dependency=afterany:' y.cluster/submit.sh
	SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=1 sh y.cluster/shard.sh \
	    >stdout
	says "4 of 4 cells done, shard 7/100" stdout
	run_for 2 sh y.cluster/shard.sh --smoke
}

# Shards take a second or so; they are killed as soon as one has its journal.
a_killed_shard_goes_on() {
	take_longer
	start x.h5 -n 2 -j 1 --json
	within 60 somebody_works x || fail "nobody works"
	within 60 compgen -G "x.cluster/*.journal" >/dev/null ||
	    fail "no journal"
	# Its workers have the same words; they end with their parent.
	# shellcheck disable=SC2046 # a list of words is meant
	kill -KILL $(at_work x)
	wait "$pid" || { cat stderr; fail "it was not finished"; }
	same x.h5 ../long.h5
	says "again, as they are not done: shards 1" stderr
	[[ $(json stdout 'd["rounds"]') = 2 ]]
}

# What it started goes on for a while, and keeps others away.
a_killed_submit_is_taken_up() {
	take_longer
	start x.h5 -n 4 -j 1
	within 60 somebody_works x || fail "nobody works"
	run_for 3 submit x.h5 -n 4
	says_once "another \`culprit submit\`, or what one started, is at work"
	kill -KILL "$pid"
	wait "$pid" || true
	run_for 3 submit x.h5 -n 4
	says_once "another \`culprit submit\`, or what one started, is at work"
	within 60 nobody_works x
	within 60 submit x.h5 -n 4 -q 2>/dev/null >stdout
	same x.h5 ../long.h5
}

# Signals end what runs here in good order; the same command goes on.
a_stopped_submit_goes_on() {
	take_longer
	start x.h5 -n 4 -j 1
	within 60 somebody_works x || fail "nobody works"
	kill -TERM "$pid"
	local code=0
	wait "$pid" || code=$?
	[[ $code = 3 ]] || fail "exit code $code"
	says "stopped; the same command goes on from here"
	nobody_works x || fail "somebody is at work still"
	run_for 0 submit x.h5 -n 4 -q
	same x.h5 ../long.h5
}

# Something stands where the results of one should go.
a_shard_that_cannot_be_done_is_told() {
	mkdir -p x.cluster/small.2-of-3.h5
	run_for 3 submit x.h5 -n 3 --retry 1 -q
	says "again, as they are not done: shards 2$"
	says "2.log: culprit: .*small.2-of-3.h5.* not a file"
	says "1 of 3 shards could not be finished; their logs in .* say why"
	says "^small: 267 of 400 cells done -> $PWD/x.cluster$" stdout
	[[ ! -e x.h5 ]]
	[[ $(wc -l <x.cluster/1.log) = 1 ]] # was not run again
	rmdir x.cluster/small.2-of-3.h5
	run_for 0 submit x.h5 -n 3 -q
	same x.h5 ../whole.h5
}

results_of_others_are_left_alone() {
	"$CULPRIT" run ../spec.yaml --runs 1 -q -o x.h5 >stdout
	cp x.h5 other.h5
	run_for 2 submit x.h5 -n 2
	says_once "x.h5 holds no results of this sweep: .* which keeps it as"
	[[ ! -e x.cluster ]]
	run_for 0 submit x.h5 -n 2 -q --force
	same x.h5 ../whole.h5
	same x.h5~ other.h5
	# Shards of another sweep lie where ours should go.
	rm x.h5
	sweep=(--runs 1)
	run_for 2 submit x.h5 -n 2
	says_once "small.1-of-2.h5 is of another sweep or build: .*Remove"
}

# A Slurm as far as it is seen here: tasks are done at once, and the queue is empty
# as long as there is a file called up.
make_slurm() {
	mkdir bin
	cat >bin/sbatch <<-'END'
		#!/bin/sh
		[ -e up ] || [ -e ../up ] || exit 1
		for word; do
			case $word in
			--array=*) tasks=${word#--array=1-} ;;
			esac
		done
		for task in $(seq "${tasks:-1}"); do
			SLURM_ARRAY_TASK_ID=$task sh "$word" >&2 || :
		done
		echo 7
	END
	printf '%s\n' '#!/bin/sh' 'echo asked >>asked' '[ -e up ] ||' \
	    '{ echo "slurm_load_jobs error: Unable to contact" >&2; exit 1; }' \
	    >bin/squeue
	chmod +x bin/*
	PATH=$PWD/bin:$PATH
}

# Who waits for ever for a controller that is not there never learns why.
a_slurm_that_does_not_answer_is_given_up() {
	local begun
	make_slurm
	begun=${EPOCHREALTIME/./}
	run_for 3 submit x.h5 -n 2 --engine slurm --give-up 0.5 -q
	# Between questions it waits for --poll, so that many at most.
	(($(wc -l <asked) <= (${EPOCHREALTIME/./} - begun) / 100000 + 1)) ||
	    fail "it asked $(wc -l <asked) times"
	says 'squeue failed: slurm_load_jobs error: Unable to contact\. No answer for [0-9.]+ s'
	says 'engine slurm does not answer. Nothing is lost: .*the same command'
	[[ $(wc -l <asked) -ge 2 && ! -e x.h5 ]]
	run_for 3 submit x.h5 -n 2 --engine slurm --give-up 0.1 -q --json
	[[ $(json stdout '(d["unanswered"], d["stopped"], d["merged"])') = \
	    "(True, False, False)" ]]
	run_for 2 submit x.h5 -n 2 --engine slurm --give-up 0
	says 'give-up "0" is not in'
	touch up
	run_for 0 submit x.h5 -n 2 --engine slurm --give-up 0.5 -q
	same x.h5 ../whole.h5
}

# A queue that is silent for less than that is waited for.
a_slurm_that_answers_again_is_gone_on_with() {
	make_slurm
	start x.h5 -n 2 --engine slurm --give-up 1000
	within 30 grep -q 'Unable to contact.*Asking again' stderr ||
		fail "it is not told"
	touch up
	wait "$pid" || { cat stderr; fail "it ended with $?"; }
	same x.h5 ../whole.h5
}

mistakes_are_told() {
	run_for 2 "$CULPRIT" submit
	says_once "which SPEC"
	run_for 2 submit x.h5 --engine slrum
	says_once "slrum is not slurm, parallel or local"
	run_for 2 submit x.h5 -O --time=1
	says_once "option is for sbatch or parallel"
	run_for 2 submit x.h5 -n 0
	says_once "shards \"0\" is not a whole number"
	run_for 2 submit x.h5 --dry-run --engine slurm -O $'--time=1\nrm'
	says "has a line break"
	run_for 2 submit no/../x.h5 --set traffic.cons=3
	says "did you mean"
	if ! command -v sbatch >/dev/null; then
		run_for 3 submit x.h5 --engine slurm
		says_once "engine slurm: there is no program sbatch here."
	fi
	run_for 3 "$CULPRIT" status --cluster nothing
	says_once "nothing has no .cluster folder"
	run_for 3 "$CULPRIT" status --cluster
	says_once "no .cluster folder in results/out"
	mkdir y.cluster
	echo "engine: slurms" >y.cluster/plan.yaml
	run_for 3 "$CULPRIT" status --cluster y
	says "y.cluster/plan.yaml:1:9: .*did you mean"
}

prepare
# Nothing is started: scripts have the words, and their folders are found.
words_are_handed_on_and_folders_found() {
	write_spec
	run_for 3 "$CULPRIT" status --cluster
	says_once 'there is no .cluster folder in results/out; .culprit submit'
	local all=(--smoke --yes --set seed=9 --runs 2 --dry-run -n 2)
	run_for 0 "$CULPRIT" submit spec.yaml "${all[@]}"
	says ' run spec.yaml --smoke --yes --set seed=9 --set runs=2 ' \
	    results/out/small.cluster/shard.sh
	run_for 0 "$CULPRIT" submit spec.yaml --dry-run -n 2 -j 3
	says ' run spec.yaml .$' results/out/small.cluster/shard.sh
	says '^    --quiet --jobs 3 --shard "..1:-auto./2" ' \
	    results/out/small.cluster/shard.sh
	sed 's/^figure: small/figure: other/' spec.yaml >other.yaml
	run_for 0 "$CULPRIT" submit other.yaml --dry-run -n 3
	run_for 3 "$CULPRIT" status --cluster
	says '^small: local, 2 shards: 2 missing' stdout
	says '^other: local, 3 shards: 3 missing' stdout
	[[ $(wc -l <stdout) = 2 ]]
	run_for 3 "$CULPRIT" status --cluster --json
	[[ $(wc -l <stdout) = 2 ]]
	run_for 3 "$CULPRIT" status --cluster other
	says '^other: ' stdout
	[[ $(wc -l <stdout) = 1 ]]
	# So is that of a sweep of which there are no results yet.
	run_for 3 "$CULPRIT" status small
	says '^small: local, 2 shards: 2 missing' stdout
	run_for 2 "$CULPRIT" submit spec.yaml --runs 2 --runs 3
	says '[-]-runs is given twice'
	# shellcheck disable=SC2046 # words are meant
	run_for 2 "$CULPRIT" submit spec.yaml $(seq -f '-O x%g' 65)
	says 'more than 64 --option'
	run_for 2 "$CULPRIT" submit spec.yaml --set plane=agents \
	    --set fabric=netns
	says_once 'spec.yaml is on a real network, of which a machine has one'
}

run_tests shards_of_this_machine_are_the_whole \
    paths_may_have_blanks_and_quotes gnu_parallel_does_it_too \
    the_scripts_do_it_alone a_killed_shard_goes_on \
    a_killed_submit_is_taken_up a_stopped_submit_goes_on \
    a_shard_that_cannot_be_done_is_told results_of_others_are_left_alone \
    a_slurm_that_does_not_answer_is_given_up \
    a_slurm_that_answers_again_is_gone_on_with mistakes_are_told \
    words_are_handed_on_and_folders_found
