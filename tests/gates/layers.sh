#!/bin/bash
# tests/gates/layers.sh -- no file includes what lies above its layer.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/gates/layers.sh ROOT LAYER...     the lowest layer first
# Run-time data flows down the list of layers and never up. What an operator
# runs (algos/) knows of models/ only what a host sees: agent.h and obs*.h. So
# these headers must not bring in more than that either.
. "$(dirname "$0")/lib.sh"

# Our own headers are included in quotes, by their whole path from the root.
upward() {
	local layer below='' ours
	ours=$(tr ' ' '|' <<<"$*|tests")
	for layer; do
		below=${below:+$below|}$layer
		sources "$layer" | includes |
			awk -F: -v below="^\"($below)/" -v ours="^<($ours)/" '
				$3 ~ below && $3 !~ /\/\.\.\// { next }
				$3 ~ /^</ && $3 !~ ours { next }
				{ print $0 }'
	done
}

beyond_sight() {
	local seen='models/(agent|obs[a-z_]*)\.h'
	{
		sources algos
		sources models | lines -xE "$seen"
	} | includes | lines -E ':"(models/|sim/evq)' | lines -vE ":\"$seen\""
}

faults() {
	upward "$@"
	beyond_sight
}

judge "$@"
