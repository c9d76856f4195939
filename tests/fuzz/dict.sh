#!/bin/bash
# tests/fuzz/dict.sh -- the words that a reader knows, as libFuzzer takes them.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/fuzz/dict.sh NAME >NAME.dict
# They are the texts without blanks and the long numbers that stand in the
# sources which the table of readers, tests/fuzz/README.md, has for target NAME:
# nothing is to be written twice, or forgotten when a key is added.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=$1

sources() {
	tests/fuzz/readers.sh "$name"
}

texts() {
	sources | xargs grep -hv '^#include' |
		grep -oP '"[^"\\%[:cntrl:]\s]{1,32}"' || true
}

# Bytes of a number in both orders: of 0xa1b2, "\xa1\xb2" and "\xb2\xa1".
numbers() {
	local digits bytes
	{ sources | xargs grep -hoP '\b0x\K([0-9a-fA-F]{2}){2,8}\b' || true; } |
		while read -r digits; do
			bytes=$(fold -w 2 <<<"$digits" | sed 's/^/\\x/')
			printf '"%s"\n"%s"\n' "$(tr -d '\n' <<<"$bytes")" \
			    "$(tac <<<"$bytes" | tr -d '\n')"
		done
}

{ texts; numbers; } | LC_ALL=C sort -u
