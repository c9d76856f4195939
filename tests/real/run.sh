#!/bin/bash
# tests/real/run.sh -- runs what needs networks of this machine, and counts.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/real/run.sh BUILD
# A test that can't be run here is told, with the reason; it is no failure.
set -u
. tests/until.sh
build=$1
export CULPRIT=$PWD/$build/culprit BUILD=$PWD/$build
log=$build/tests/real/log
passed=0 failed=0 skipped=0

count() {
	sort -u | grep -cE "$1" || true
}

for f in tests/real/*_test.c tests/real/*.sh; do
	[[ $f != tests/real/run.sh ]] || continue
	if [[ $f != *.sh && ! -x $build/${f%.c} ]]; then
		echo "SKIP  $f: not built: see DEPS in the Makefile"
		skipped=$((skipped + 1))
		continue
	fi
	if [[ $f = *.sh ]]; then
		run_until "$log" bash "$f"
	else
		run_until "$log" "$build/${f%.c}"
	fi
	rc=$?
	ok=$(count '^\[ +OK \]|^ok ' <"$log")
	bad=$(count '^\[  FAILED  \] [a-z]|^FAIL ' <"$log")
	skip=$(count '^\[  SKIPPED \] [a-z]|^SKIP ' <"$log")
	[[ $rc = 0 || $bad != 0 ]] || bad=1
	passed=$((passed + ok)) failed=$((failed + bad))
	skipped=$((skipped + skip))
	if [[ $bad != 0 ]]; then
		echo "FAIL  $f (exit $rc)"
		tail -n 60 "$log" | sed 's/^/        /'
		continue
	fi
	[[ $ok = 0 ]] && word=SKIP || word="ok  "
	echo "$word  $f: $ok passed, $skip SKIPPED"
	grep -E '^SKIP |^time: ' "$log" | sed 's/^/        /'
	grep -E '^reason: ' "$log" | sort -u | sed 's/^/        SKIPPED, /'
done
echo "$passed passed, $failed failed, $skipped SKIPPED"
[[ $failed = 0 ]]
