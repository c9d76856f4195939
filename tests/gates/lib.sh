#!/bin/bash
# tests/gates/lib.sh -- what the gates share; sourced.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A gate looks at the tree whose root is its first argument: its `faults` prints
# a line for each fault. A gate that breaks down is red, and so is one that finds
# nothing to look at: a wrong path must not turn it green.
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C
gate=$(basename "$0" .sh)
trap '[[ $? = 0 ]] || { echo "FAIL  $gate" && exit 1; }' EXIT
cd "$1"
shift

judge() {
	local found
	found=$(faults "$@")
	[[ -z $found ]] || { echo "$found" && exit 1; }
	echo "ok    $gate"
}

# grep, to which no line is no failure.
lines() {
	grep "$@" || [[ $? = 1 ]]
}

# Names pass, of which there must be one.
some() {
	grep . || { echo "$1: no file to look at" >&2 && return 1; }
}

# C files under folder $1, at any depth.
sources() {
	find "$1" -type f -name '*.[ch]' | sort | some "$1"
}

# What the files on standard input include, as FILE:LINE:"PATH" or <PATH>; an
# include of any other form (of a macro) is shown as it stands.
includes() {
	xargs -d '\n' awk '/^[ \t]*#[ \t]*include/ {
		print FILENAME ":" FNR ":" $0
	}' | sed -E 's/(:[0-9]+:)[^"<]*(["<][^">]*[">]).*/\1\2/'
}
