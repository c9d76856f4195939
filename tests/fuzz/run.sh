#!/bin/bash
# tests/fuzz/run.sh -- fuzz, tell how much was tried, and keep the sum.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/fuzz/run.sh BUILD SECONDS NAME...
# Targets run one after the other, each with its dictionary (dict.sh) and seeds
# (seeds.sh), FUZZ_OPTIONS going to libFuzzer. What is new stays in
# BUILD/corpus/NAME, logs in BUILD/log; an input that breaks something in
# BUILD/found. A line each goes to the screen and, added up, to executions.tsv.
set -euo pipefail
build=$1 seconds=$2
shift 2
here=tests/fuzz
kept=$here/executions.tsv
code=0

version() {
	sed -n 's/^#define CULPRIT_VERSION "\(.*\)"/\1/p' results/provenance.c
}

# stat LOG NAME: a number that libFuzzer gives in the end.
stat() {
	sed -n "s/^stat::$2: *//p" "$1" | tail -n 1 | grep . || echo 0
}

# add NAME EXECUTIONS: to the sum. Two runs may end at once, and one may be killed
# while it writes.
add() {
	(
		flock 9
		{
			printf 'target\texecutions\tversion\tdate\n'
			awk -F'\t' -v OFS='\t' -v name="$1" -v more="$2" \
			    -v version="$(version)" -v date="$(date -u +%F)" '
			    FNR > 1 && $1 != name { print }
			    FNR > 1 && $1 == name { had = $2 }
			    END { printf "%s\t%.0f\t%s\t%s\n", name, had + more,
				version, date }' "$kept" | LC_ALL=C sort
		} >"$build/executions.new"
		mv "$build/executions.new" "$kept"
	) 9>"$build/executions.lock"
}

fuzz() { # NAME
	local name=$1 log=$build/log/$1.log runs
	mkdir -p "$build"/{corpus,found,dict,log} "$build/corpus/$name"
	local words=$build/dict/$name.dict
	$here/dict.sh "$name" >"$words"
	[[ -s $words ]] || words=
	local more=()
	[[ ! -d $here/$name ]] || more+=("$here/$name")
	local seeds
	seeds=$($here/seeds.sh "$name" | paste -s -d ,)
	# shellcheck disable=SC2086 # options are words
	"$build/$here/${name}_fuzz" -max_total_time="$seconds" -timeout=120 \
	    -rss_limit_mb=3000 -print_final_stats=1 ${seeds:+-seed_inputs=$seeds} \
	    ${words:+-dict="$words"} -artifact_prefix="$build/found/$name-" \
	    ${FUZZ_OPTIONS-} "$build/corpus/$name" "${more[@]}" \
	    >"$log" 2>&1 || {
		code=1
		grep -E -m 3 'SUMMARY|Test unit written' "$log" || tail -n 3 "$log"
		echo "$name FAILED: see $log; once mended, the input goes to" \
		    "$here/$name/"
	}
	runs=$(stat "$log" number_of_executed_units)
	printf '%-12s %12d runs %9d/s %6d new\n' "$name" "$runs" \
	    "$(stat "$log" average_exec_per_sec)" "$(stat "$log" new_units_added)"
	[[ $runs = 0 ]] || add "$name" "$runs"
}

[[ -s $kept ]] || printf 'target\texecutions\tversion\tdate\n' >"$kept"
for name in "$@"; do
	fuzz "$name"
done
exit "$code"
