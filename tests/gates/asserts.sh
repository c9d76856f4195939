#!/bin/bash
# tests/gates/asserts.sh -- what a script of tests asks is asked, and can fail.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/gates/asserts.sh ROOT LAYER...
# A test ends at its first command that fails, but no command that stands behind a
# `!` ends anything: whoever means that it must fail says `not COMMAND`, or what
# is to be done with `||`. And a test that nobody calls by its name is never run.
. "$(dirname "$0")/lib.sh"

scripts() {
	find tests -name '*.sh' | sort | some tests
}

# A statement may go on in the next line.
negated() {
	xargs -d '\n' awk '
		FNR == 1 { whole = "" }
		whole == "" { at = FNR }
		{ whole = whole $0 }
		/(\\|\|\||&&|[^|]\|)[ \t]*$/ { next }
		whole ~ /^[ \t]*! / && whole !~ /\|\||&&/ &&
		    whole !~ /^[ \t]*! "\$@"$/ {
			print FILENAME ":" at ": whatever comes of it, the test goes on"
		}
		{ whole = "" }'
}

# Functions of which there is no word but their own.
uncalled() {
	xargs -d '\n' awk '
		{
			line = $0
			while (match(line, /[A-Za-z_][A-Za-z_0-9]*/)) {
				n[substr(line, RSTART, RLENGTH)]++
				line = substr(line, RSTART + RLENGTH)
			}
		}
		/^[A-Za-z_][A-Za-z_0-9]*\(\)/ {
			name = substr($0, 1, index($0, "(") - 1)
			at[name] = FILENAME ":" FNR
		}
		END {
			for (name in at)
				if (n[name] == 1)
					print at[name] ": nobody calls " name
		}' | sort
}

faults() {
	scripts | negated
	scripts | uncalled
}

judge "$@"
