#!/bin/bash
# tests/gates/standing.sh -- the README shows the arena as it stands.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/gates/standing.sh ROOT [--write]
# What results/expected/arena.tsv has as answer stands in README.md, between the
# marks, and its figure, plots/arena.svg, is of the same sweeps. With --write the
# README is made so; `make arena` does all of it.
. "$(dirname "$0")/lib.sh"

table=results/expected/arena.tsv
readme=README.md
figure=plots/arena.svg
from='<!-- the arena: written by `make arena` -->'
to='<!-- so far -->'

answer() {
	local text
	text=$(sed -n '1s/.*; answer: \(.*\); made of [0-9a-f]*$/\1/p' "$table")
	echo "$text" | some "$table, its answer"
}

made_of() {
	sed -n '1s/.*; \(made of [0-9a-f]\{16\}\)$/\1/p' "$table" |
		some "$table, what it is made of"
}

# What stands between the marks, in one line.
told() {
	awk -v from="$from" -v to="$to" '$0 == to { on = 0 } on { print }
	    $0 == from { on = 1 }' "$readme" | tr -s '\n ' '  ' |
		sed 's/^ //; s/ $//'
}

faults() {
	local want
	want=$(answer)
	[[ $(told) = "$want" ]] ||
		echo "$readme: the arena's answer is not that of $table; \`make arena\` writes it"
	want=$(made_of)
	grep -qF "$want" "$figure" ||
		echo "$figure: not the figure of $table; \`make arena\` draws it"
}

write() {
	local want rest
	want=$(answer | fmt -w 80)
	rest=$(WANT=$want awk -v from="$from" -v to="$to" '
	    $0 == to { on = 0 } !on { print }
	    $0 == from { print ENVIRON["WANT"]; on = 1 }' "$readme")
	echo "$rest" >"$readme"
}

[[ ${1:-} != --write ]] || write
judge
