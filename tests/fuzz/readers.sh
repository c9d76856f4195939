#!/bin/bash
# tests/fuzz/readers.sh -- which sources a fuzz target is about, a line each.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/fuzz/readers.sh NAME
# By the table of readers in tests/fuzz/README.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
awk -F'|' -v name="\`$1\`" 'index($4, name) { print $3 }' tests/fuzz/README.md |
	grep -o '`[^`]*`' | tr -d '`' | while read -r pattern; do
		compgen -G "$pattern" || echo "no source: $pattern" >&2
	done | LC_ALL=C sort -u
