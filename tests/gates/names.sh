#!/bin/bash
# tests/gates/names.sh -- a file-scope function is told by its name alone.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/gates/names.sh ROOT LAYER...
# No two .c files have a static function of one name, so that a search and a
# line of a backtrace find one place. Looked at is how clang-format leaves a
# definition: its type and name begin a line.
. "$(dirname "$0")/lib.sh"

# NAME FILE:LINE of each file-scope function; a forward declaration and its
# definition stand in one file.
functions() {
	local layer
	for layer; do sources "$layer"; done | lines '\.c$' |
		xargs -d '\n' awk 'match($0, /^static [^=;(]*\(/) {
			name = substr($0, 1, RLENGTH - 1)
			sub(/.*[ *]/, "", name)
			if (name != "") print name, FILENAME ":" FNR
		}' | some "a file-scope function"
}

faults() {
	functions "$@" | awk '
		{ split($2, at, ":") }
		$1 in file && file[$1] != at[1] {
			print $2 ": " $1 "() is in " where[$1] " too"
		}
		!($1 in file) { file[$1] = at[1]; where[$1] = $2 }'
}

judge "$@"
