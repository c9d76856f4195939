#!/bin/bash
# tests/gates/circles.sh -- inside a layer no folders include in a circle.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/gates/circles.sh ROOT LAYER...
# Each folder of a layer is a room, and so are the files at the layer's top. An
# arrow leads from room A to room B where a file of A includes one of B. No way
# along arrows may lead back. A registry.c may name what lives in the rooms
# around it: nothing includes it, so no circle of files goes through it.
. "$(dirname "$0")/lib.sh"

# FROM -> TO FILE:LINE, of the includes that leave a room but not its layer.
arrows() {
	local layer
	for layer; do sources "$layer"; done | lines -v '/registry\.c$' |
		includes | sed 's/["<>]//g' | awk -F: '
			function room(p) { sub(/\/[^\/]*$/, "", p); return p }
			function layer(p) { sub(/\/.*/, "", p); return p }
			room($1) != room($3) && layer($1) == layer($3) {
				print room($1), "->", room($3), $1 ":" $2
			}'
}

# An arrow lies on a circle if a way leads from its end to its start.
faults() {
	arrows "$@" | awk '
		{ where[$1 " -> " $3] = $4; way[$1, $3]; rooms[$1]; rooms[$3] }
		END {
			for (k in rooms)
				for (i in rooms)
					for (j in rooms)
						if ((i, k) in way && (k, j) in way)
							way[i, j]
			for (arrow in where) {
				split(arrow, word, " ")
				if ((word[3], word[1]) in way)
					print where[arrow] ": " arrow " closes a circle"
			}
		}' | sort
}

judge "$@"
