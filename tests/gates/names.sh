#!/bin/bash
# tests/gates/names.sh -- a function or a type is told by its name alone.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/gates/names.sh ROOT LAYER...
# No two .c files have a static function of one name, so that a search and a
# line of a backtrace find one place. Looked at is how clang-format leaves a
# definition: its type and name begin a line. Likewise what a header defines as
# struct, enum or union of a name is defined nowhere else.
. "$(dirname "$0")/lib.sh"

# Files of all layers whose names end in .$1.
files() { # c|h LAYER...
	local layer
	for layer in "${@:2}"; do sources "$layer"; done | lines "\.$1\$"
}

# NAME FILE:LINE of each file-scope function; a forward declaration and its
# definition stand in one file.
functions() {
	files c "$@" |
		xargs -d '\n' awk 'match($0, /^static [^=;(]*\(/) {
			name = substr($0, 1, RLENGTH - 1)
			sub(/.*[ *]/, "", name)
			if (name != "") print name, FILENAME ":" FNR
		}' | some "a file-scope function"
}

# NAME FILE:LINE of each type, those of headers first. What a program in the kernel
# reads of it has the kernel's own names.
types() {
	{ files h "$@" | lines -v /bpf/kernel.h && files c "$@"; } |
		xargs -d '\n' awk '/^(struct|enum|union) [a-z_0-9]+ \{/ {
			print $2, FILENAME ":" FNR
		}' | some "a type"
}

faults() {
	functions "$@" | awk '
		{ split($2, at, ":") }
		$1 in file && file[$1] != at[1] {
			print $2 ": " $1 "() is in " where[$1] " too"
		}
		!($1 in file) { file[$1] = at[1]; where[$1] = $2 }'
	types "$@" | awk '
		$1 in where { print $2 ": " $1 " is in " where[$1] " too" }
		!($1 in where) && $2 ~ /\.h:/ { where[$1] = $2 }'
}

judge "$@"
