#!/bin/bash
# tests/gates/asserts.sh -- what a script of tests asks can fail.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/gates/asserts.sh ROOT LAYER...
# A test ends at its first command that fails, but no command that stands behind a
# `!` ends anything: whoever means that it must fail says `not COMMAND`, or what
# is to be done with `||`.
. "$(dirname "$0")/lib.sh"

# A statement may go on in the next line.
faults() {
	find tests -name '*.sh' | sort | some tests | xargs -d '\n' awk '
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

judge "$@"
