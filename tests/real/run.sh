#!/bin/bash
# tests/real/run.sh -- runs what needs networks of this machine, and counts.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/real/run.sh BUILD
# A test that can't be run here is told, with the reason; it is no failure.
# What fails is run once more, and told as unsteady if it passes then: a kernel
# that others share with us takes its time now and then, and no bound on what it
# does in a time holds always. What is broken fails twice.
set -u
. tests/until.sh
build=$1
export CULPRIT=$PWD/$build/culprit BUILD=$PWD/$build
log=$build/tests/real/log
passed=0 failed=0 skipped=0 unsteady=0

count() {
	sort -u | grep -cE "$1" || true
}

# run_it FILE: one program or script; its output is in the log.
run_it() {
	if [[ $1 = *.sh ]]; then
		run_until "$log" bash "$1"
	else
		run_until "$log" "$build/${1%.c}"
	fi
}

# What failed comes first: the rest of the log says what went before.
tell_failure() {
	grep -hE -A1 '^\[  ERROR   \]|^FAIL ' "$log" | sed 's/^/        /'
	echo "        the log ends with:"
	tail -n 60 "$log" | sed 's/^/        /'
}

for f in tests/real/*_test.c tests/real/*.sh; do
	[[ $f != tests/real/run.sh ]] || continue
	if [[ $f != *.sh && ! -x $build/${f%.c} ]]; then
		echo "SKIP  $f: not built: see DEPS in the Makefile"
		skipped=$((skipped + 1))
		continue
	fi
	run_it "$f"
	rc=$?
	if [[ $rc != 0 ]]; then
		echo "UNSTEADY $f (exit $rc), once more:"
		tell_failure
		unsteady=$((unsteady + 1))
		run_it "$f"
		rc=$?
	fi
	ok=$(count '^\[ +OK \]|^ok ' <"$log")
	bad=$(count '^\[  FAILED  \] [a-z]|^FAIL ' <"$log")
	skip=$(count '^\[  SKIPPED \] [a-z]|^SKIP ' <"$log")
	[[ $rc = 0 || $bad != 0 ]] || bad=1
	passed=$((passed + ok)) failed=$((failed + bad))
	skipped=$((skipped + skip))
	if [[ $bad != 0 ]]; then
		echo "FAIL  $f (exit $rc)"
		tell_failure
		continue
	fi
	[[ $ok = 0 ]] && word=SKIP || word="ok  "
	echo "$word  $f: $ok passed, $skip SKIPPED"
	grep -E '^SKIP |^time: ' "$log" | sed 's/^/        /'
	grep -E '^reason: ' "$log" | sort -u | sed 's/^/        SKIPPED, /'
done
echo "$passed passed, $failed failed, $skipped SKIPPED, $unsteady UNSTEADY"
[[ $failed = 0 ]]
