#!/bin/bash
# tests/real/run.sh -- runs what needs networks of this machine, and counts.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/real/run.sh BUILD [PATTERN]
# Nearly all of these wait nearly all the time, so programs and scripts run beside
# each other, one of each at a time: no two programs may be pinned to one CPU, and
# some scripts count what a lab left on this machine, which only they begin.
# What fails is run once more, by itself when all else is over, and told as
# unsteady if it passes then: a kernel that others share with us takes its time now
# and then, and no bound on what it does in a time holds always. What is broken
# fails twice. A test that can't be run here is told, with the reason; it is no
# failure.
set -u
. tests/until.sh
build=$1 pattern=${2:-}
export CULPRIT=$PWD/$build/culprit BUILD=$PWD/$build
logs=$build/tests/real

# log_of FILE: where its output goes. What became of it is beside that, as
# "PASSED FAILED SKIPPED".
log_of() {
	echo "$logs/${1##*/}.log"
}

count() {
	sort -u | grep -cE "$1" || true
}

# What failed comes first: the rest of the log says what went before.
tell_failure() {
	grep -hE -A1 '^\[  ERROR   \]|^FAIL ' "$1" | sed 's/^/        /'
	echo "        the log ends with:"
	tail -n 60 "$1" | sed 's/^/        /'
}

# run_it FILE: one program or script. Leaves its counts, and how it ended, and
# returns that.
run_it() {
	local log begun=$SECONDS run=$build/${1%.c} rc ok bad skip
	log=$(log_of "$1")
	[[ $1 != *.sh ]] || run="bash $1"
	run_until "$log" $run
	rc=$?
	ok=$(count '^\[ +OK \]|^ok ' <"$log")
	bad=$(count '^\[  FAILED  \] [a-z]|^FAIL ' <"$log")
	skip=$(count '^\[  SKIPPED \] [a-z]|^SKIP ' <"$log")
	[[ $rc = 0 || $bad != 0 ]] || bad=1
	echo "$ok $bad $skip" >"$log.count"
	echo "$((SECONDS - begun)) s, exit $rc" >"$log.end"
	return $rc
}

# text_of FILE: its line, and what its log says that is worth a look.
text_of() {
	local log ok bad skip word=ok
	log=$(log_of "$1")
	read -r ok bad skip <"$log.count"
	if [[ $bad != 0 ]]; then
		echo "FAIL  $1 ($(<"$log.end"))"
		tell_failure "$log"
		return
	fi
	[[ $ok != 0 ]] || word=SKIP
	printf '%-4s  %s: %d passed, %d SKIPPED, %s\n' $word "$1" "$ok" "$skip" \
	    "$(sed 's/,.*//' "$log.end")"
	grep -E '^SKIP |^time: ' "$log" | sed 's/^/        /'
	grep -E '^reason: ' "$log" | sort -u | sed 's/^/        SKIPPED, /'
}

# tell FILE: that, in one piece, as another may be telling.
tell() {
	printf '%s\n' "$(text_of "$1")"
}

# lane FILE...: one after another. Each is told at once, unless it is to be tried
# again.
lane() {
	local f log
	for f; do
		log=$(log_of "$f")
		if [[ $f != *.sh && ! -x $build/${f%.c} ]]; then
			echo "0 0 1" >"$log.count"
			echo "SKIP  $f: not built: see DEPS in the Makefile"
			continue
		fi
		if run_it "$f"; then
			tell "$f"
		else
			touch "$log.again"
		fi
	done
}

mapfile -t programs < <(printf '%s\n' tests/real/*_test.c | grep -E "$pattern")
mapfile -t scripts < <(printf '%s\n' tests/real/*.sh | grep -v /run.sh |
    grep -E "$pattern")
[[ ${#programs[@]} != 0 || ${#scripts[@]} != 0 ]] || {
	echo "no test is called like \"$pattern\"."
	exit 2
}
mkdir -p "$logs"
rm -f "$logs"/*.log.{count,end,again}

lane "${programs[@]}" &
one=$!
lane "${scripts[@]}" &
other=$!
trap "kill -TERM $one $other; wait; exit 143" TERM INT HUP
wait
trap - TERM INT HUP

unsteady=0
for f in "${programs[@]}" "${scripts[@]}"; do
	log=$(log_of "$f")
	if [[ ! -e $log.count ]]; then
		echo "FAIL  $f: it was not run: its lane ended before"
		echo "0 1 0" >"$log.count"
	fi
	[[ -e $log.again ]] || continue
	echo "UNSTEADY $f ($(<"$log.end")), once more:"
	tell_failure "$log"
	unsteady=$((unsteady + 1))
	run_it "$f"
	tell "$f"
done
cat "$logs"/*.log.count | awk -v u="$unsteady" '{ p += $1; f += $2; s += $3 }
	END { printf "%d passed, %d failed, %d SKIPPED, %d UNSTEADY\n", p, f, s, u
	      exit f > 0 }'
