#!/bin/sh
# tests/cpu.sh -- what a whole `make check` took of a CPU, step by step, as a table.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/cpu.sh BUILD
# Of BUILD/tests/NAME.times, which hold what `times` says in a shell that waited
# for one step: its own time, then that of all that it waited for. The most costly
# comes first. The line above says of which program it is.
set -eu
cd "$1"
printf '# commit %s, build %s, %s tests\n' "$(cat commit.txt)" "$(cat build.txt)" \
    "$(find tests -name '*.count' -exec cat {} + |
    awk '{ n += $1 } END { print n + 0 }')"
printf 'what\tuser_s\tsys_s\n'
cd tests
find . -name '*.times' -exec awk 'FNR == 2 {
	split($1, user, /[ms]/)
	split($2, sys, /[ms]/)
	sub(/[.]times$/, "", FILENAME)
	printf "%s\t%.2f\t%.2f\n", FILENAME, 60 * user[1] + user[2],
	    60 * sys[1] + sys[2]
}' {} + | sed 's,^\./,,' | awk '{ print $2 + $3 "\t" $0 }' |
    sort -rg | cut -f 2-
