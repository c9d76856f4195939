#!/bin/bash
# tests/run.sh -- runs every test program and script, and counts.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/run.sh BUILD [JOBS [PATTERN]]
# Output of each goes to BUILD/tests/NAME.log and is shown when it fails. A
# script prints one line a test: "ok ...", "FAIL ..." or "SKIP ... (reason)".
# The CPU time that each took, with all that it began and waited for, goes to
# BUILD/tests/NAME.times, as the shell tells it.
set -u
build=$1 jobs=${2:-1} pattern=${3:-}
export CULPRIT=$PWD/$build/culprit BUILD=$PWD/$build
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1}

# A seed that nobody chose, the same for all programs of a run.
if [[ ${TEST_SEED-} = fresh ]]; then
	TEST_SEED=$(date +%s)
	export TEST_SEED
	echo "TEST_SEED=$TEST_SEED"
fi

. tests/until.sh

# A python3 that is a script of some manager of versions starts shells and looks
# for the right one each time, at ten times the cost of Python: it is asked once.
python=$(type -P python3 || true)
if [[ $python && $(head -c 2 "$python" | tr -d '\0') = '#!' ]]; then
	python=$(python3 -c 'import sys; print(sys.executable)')
	[[ $python != */* || ! -x ${python%/*}/python3 ]] ||
		PATH=${python%/*}:$PATH
fi

run_one() {
	local name=$1 build=$2 log=$2/tests/$1.log start=$SECONDS rc
	if [[ -f $build/tests/$name ]]; then
		run_until "$log" "$build/tests/$name"
	else
		run_until "$log" bash "tests/cli/$name.sh"
	fi
	rc=$?
	times >"$build/tests/$name.times"
	# cmocka names what failed or was skipped twice: when it happens and, in
	# a list, at the end.
	local passed skipped failed
	passed=$(grep -cE '^\[ +OK \]|^ok ' "$log")
	skipped=$(grep -E '^\[  SKIPPED \] [a-z]|^SKIP ' "$log" | sort -u | wc -l)
	failed=$(grep -E '^\[  FAILED  \] [a-z]|^FAIL ' "$log" | sort -u | wc -l)
	if [[ $rc != 0 && $failed = 0 ]]; then failed=1; fi
	echo "$passed $failed $skipped $name" >"$build/tests/$name.count"
	if [[ $failed = 0 && $rc = 0 ]]; then
		printf 'ok    %-40s %4d tests %4d s%s\n' "$name" "$passed" \
		    $((SECONDS - start)) \
		    "$([[ $skipped = 0 ]] || echo "  $skipped skipped")"
		grep -E '^SKIP ' "$log" | sed 's/^/        /'
	else
		printf 'FAIL  %-40s exit %d\n' "$name" "$rc"
		grep -E -A1 '^\[  ERROR   \]|^FAIL ' "$log" | sed 's/^/        /'
		echo "        the log ends with:"
		tail -n 60 "$log" | sed 's/^/        /'
	fi
}
export -f run_one run_until

# Scripts take longer and wait more, so they come first: what is short fills the end.
names=$({
	for f in tests/cli/*.sh; do basename "$f" .sh; done
	for f in tests/*_test.c \
	    $(find tests/{sim,topo,models,algos,results,experiments} \
	    -name '*_test.c' | sort); do
		f=${f#tests/}
		echo "${f%.c}"
	done
} | grep -v '^\*' | grep -E "$pattern")
[[ -n $names ]] || {
	echo "no test is called like \"$pattern\"."
	exit 2
}
mkdir -p "$build/tests"
find "$build/tests" -name '*.count' -delete
# In a group of its own, which is told as a whole when this is.
setsid xargs -P "$jobs" -I{} bash -c 'run_one {} '"$build" <<<"$names" &
trap "kill -TERM -- -$!; wait $!; exit 143" TERM INT HUP
wait $!
sum=$(find "$build/tests" -name '*.count' -exec cat {} + |
    awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
read -r passed failed skipped <<<"$sum"
# Another run there takes the counts of this one away, and what failed with them.
told=$(find "$build/tests" -name '*.count' | wc -l)
ran=$(wc -l <<<"$names")
[[ $told = "$ran" ]] || {
	echo "$ran tests ran and $told counted: is another run in $build?"
	exit 1
}
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[[ $failed = 0 && $passed != 0 ]]
