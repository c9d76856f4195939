#!/bin/bash
# tests/gates/heads.sh -- each file says first what it is, then its licence.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/gates/heads.sh ROOT
# A file's first line, or its second after "#!", is its path and a caption; the
# next one names the licence. What programs write or only read is left out, and
# what stands at the top beside the Makefile: people keep their own specs there.
. "$(dirname "$0")/lib.sh"

files() {
	find . \( -path './.*' -o -path './build*' -o -path './*/out' \
	    -o -path './tests/fuzz/*/*' \) -prune -o -type f \
	    \( -name Makefile -o -name '*.[ch]' -o -name '*.sh' \
	    -o -name '*.py' -o -name '*.yaml' -o -name '*.gp' \
	    -o -name '*.service' \) -printf '%P\n' |
		lines -e / -e '^Makefile$' | sort | some .
}

faults() {
	local file one two three licence='SPDX-License-Identifier: GPL-3.0-or-later'
	files | while read -r file; do
		one='' two='' three=''
		{ read -r one && read -r two && read -r three; } <"$file" || true
		[[ $file = Makefile || $one$two = *"$file -- "* ]] ||
			echo "$file: no caption"
		[[ $two$three = *"$licence"* ]] || echo "$file: no licence"
	done
}

judge "$@"
