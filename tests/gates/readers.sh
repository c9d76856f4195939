#!/bin/bash
# tests/gates/readers.sh -- what reads outside input stands in the table of readers.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/gates/readers.sh ROOT LAYER...
# The table is that of tests/fuzz/README.md. A source that opens or receives
# anything, or hands a file's text to a reader of YAML, stands there in a row with
# a fuzz target, or in the list behind it that says why it needs none. Targets
# stand in rows, and what rows and list name is there.
. "$(dirname "$0")/lib.sh"

table=tests/fuzz/README.md
calls='sim_input_open|sim_input_fd|sim_yaml_parse|sim_yaml_load|res_file_read'
calls+='|res_seal_open|res_seal_open_any|res_segments_read|pcap_open_[a-z_]+'
calls+='|fopen|fdopen|gzdopen|getline|getdelim|fgets|fscanf|fread'
calls+='|recv|recvfrom|recvmsg|recvmmsg|read|pread|readv|readlink'

readers() {
	find "$@" -name '*.c' ! -path 'models/bpf/*' | sort | some "$*" |
		xargs grep -lE "(^|[^a-z_.>])($calls)\("
}

# What the table names: sources by patterns, each with its line.
named() {
	grep -n '^| .*`' "$table" | grep -oE '^[0-9]+|`[^`]*\.[ch]`' |
		tr -d '`' | sort -u | lines -v '^[0-9]*$'
}

# expand PATTERN...
expand() {
	local pattern
	while read -r pattern; do
		compgen -G "$pattern" ||
			echo "$table: there is no $pattern" >&2
	done
}

faults() {
	local known target
	known=$(mktemp)
	named | expand 2>&1 >"$known"
	sort -u -o "$known" "$known"
	readers "$@" | comm -23 - "$known" |
		sed 's/$/: reads, and stands in no row of '"${table//\//\\/}/"
	grep -o '`[a-z0-9_]*` |$' "$table" | tr -d '`| ' | sort -u |
		while read -r target; do
			[[ -f tests/fuzz/${target}_fuzz.c ]] ||
				echo "$table: there is no target $target"
		done
	find tests/fuzz -maxdepth 1 -name '*_fuzz.c' | some tests/fuzz |
		sed 's/.*\///; s/_fuzz.c$//' | while read -r target; do
			grep -q "\`$target\` |$" "$table" ||
				echo "tests/fuzz/${target}_fuzz.c: in no row of $table"
		done
	rm -f "$known"
}

judge "$@"
