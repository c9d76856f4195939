#!/bin/bash
# plots/figures.sh -- runs the sweeps of figures and draws them.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: plots/figures.sh BUILD JOBS FIGURE...
#
# Two are on the way at a time, each with JOBS workers: where the last cells of
# one leave cores idle, or it has one cell alone, or is being drawn, the other
# goes on. Those of real networks come after all others and one by one, as what
# they measure is measured by the clock.
set -u
build=$1 jobs=$2
shift 2
export CULPRIT=$build/culprit JOBS=$jobs

is_real() {
	grep -q '^[^#]*fabric: *\(netns\|tun\|[[{]\)' "experiments/$1.yaml"
}

# To xargs 255 says to begin no other.
draw() {
	local start=$SECONDS quiet=$2
	"$CULPRIT" run "$1" --force -j "$JOBS" $quiet && "$CULPRIT" plot "$1" ||
	    exit 255
	echo "$1 took $((SECONDS - start)) s"
}
export -f draw

real=() simulated=()
for f; do
	if is_real "$f"; then real+=("$f"); else simulated+=("$f"); fi
done

# Two that rewrite one line of a terminal say nothing to anybody.
if ((${#simulated[@]} > 1)); then
	printf '%s\n' "${simulated[@]}" |
	    xargs -P "$((jobs > 1 ? 2 : 1))" -I{} bash -c 'draw {} --quiet' ||
	    exit 1
elif ((${#simulated[@]} == 1)); then
	(draw "${simulated[0]}" '') || exit 1
fi
for f in ${real[@]+"${real[@]}"}; do
	if why=$("$CULPRIT" lab check | grep "lab run.*can't"); then
		echo "$f SKIPPED, $why"
		continue
	fi
	(draw "$f" '') || exit 1
done
