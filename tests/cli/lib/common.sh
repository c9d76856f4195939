#!/bin/bash
# tests/cli/lib/common.sh -- what the scripts of tests/cli/ share; sourced.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A test is a function that runs under `set -eu` in an empty folder of its own
# and fails with its first command that does. It may run as root, so it names no
# device or file outside that folder as an output: a defect would replace it.
# At the end of a script:
#
#	run_tests NAME...      one line each: ok, FAIL or SKIP

# As the Makefile has it, which says why.
export LC_ALL=C.UTF-8

# By hand, from the tree's root: bash tests/cli/NAME.sh
export BUILD=${BUILD:-$PWD/build}
export CULPRIT=${CULPRIT:-$BUILD/culprit}
tree=$PWD
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT

# Root has to say whom a controller or a collector becomes.
as_user=()
[[ $(id -u) != 0 ]] || as_user=(--user root)

# A sweep of 2 x 2 points; $1 more lines of the spec.
write_spec() {
	cat >spec.yaml <<-END
		figure: small
		title: "it's a \"test\""
		paper: "none"
		seed: 7
		runs: 3
		topology: { n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, n_hosts: 4 }
		traffic: { conns: 20, packets: 50 }
		noise: { rate: { uniform: [0, 1e-6] } }
		faults: { count: 1, rate: 1e-2 }
		algorithms: [vote, { name: alg1, label: "it's one" }, cover]
		sweep:
		  grid: { faults.count: [1, 3] }
		  zip: { faults.rate: [1e-3, 1e-2], traffic.packets: [40, 80] }
		claims:
		  - { metric: accuracy_fault, value: 0.9, text: "it's said" }
		smoke: { runs: 1 }
		${1-}
	END
}

fail() {
	echo "failed: $*"
	exit 1
}

# not COMMAND...: it must fail. `! COMMAND` would not ask that, as the shell goes on
# whatever comes of what stands behind a `!`.
not() {
	! "$@"
}

skip() {
	echo "$*" >"$top/skip"
	exit 77
}

# run_for CODE COMMAND...: its exit code must be CODE; leaves files `stdout` and
# `stderr`.
run_for() {
	local want=$1 code=0
	shift
	"$@" >stdout 2>stderr || code=$?
	[[ $code = "$want" ]] && return
	cat stdout stderr
	fail "$* -> exit code $code, not $want"
}

# says PATTERN [FILE]: a line of stderr matches.
says() {
	grep -qE -e "$1" "${2-stderr}" && return
	cat "${2-stderr}"
	fail "${2-stderr} does not say: $1"
}

# One message, without what argp adds on usage.
says_once() {
	local n
	says "$1"
	n=$(grep -vc "^Try .culprit" stderr)
	[[ $n = 1 ]] || { cat stderr; fail "$n lines, not 1"; }
}

# Nothing but the files named is here; `stdout` and `stderr` don't count.
only_files() {
	local want got
	want=$(printf '%s\n' "$@" | sort)
	got=$(find . -mindepth 1 ! -name stdout ! -name stderr -printf '%P\n' |
		sort)
	[[ $got = "$want" ]] && return
	diff <(echo "$want") <(echo "$got") || fail "other files than expected"
}

same() {
	cmp "$1" "$2" || fail "$1 and $2 differ"
}

# json FILE EXPRESSION: python's EXPRESSION of the JSON value `d`.
json() {
	python3 -c 'import json, sys
with open(sys.argv[1]) as f: d = json.load(f)
print(eval(sys.argv[2]))' "$@"
}

number_in() { # FILE KEY: of one line of JSON
	sed -n "s/.*\"$2\": \\([0-9]*\\).*/\\1/p" "$1"
}

# A port that nobody listens on, below those that connects take.
free_port() {
	local port
	while
		port=$((20000 + RANDOM % 12000))
		awk -v at="$(printf ':%04X$' $port)" '
		    $4 == "0A" && $2 ~ at { found = 1 }
		    END { exit !found }' /proc/net/tcp*
	do :; done
	echo $port
}

# Processes of group $1 that are no zombies.
group_members() {
	local stat rest
	for stat in /proc/[0-9]*/stat; do
		rest=$(cat "$stat" 2>/dev/null) || continue
		rest=${rest##*) }
		# shellcheck disable=SC2086 # words are meant
		set -- "$1" $rest
		[[ $4 = "$1" && $2 != Z ]] && echo "${stat//[!0-9]/}"
	done
	return 0
}

# within SECONDS COMMAND...: until it succeeds.
within() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.02
	done
}

now_ms() {
	local t=${EPOCHREALTIME/[.,]/}
	echo $((t / 1000))
}

sleep_ms() {
	sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
}

run_tests() {
	local name rc failed=0
	for name; do
		mkdir "$top/$name"
		(
			set -eu
			cd "$top/$name"
			"$name"
		) >"$top/log" 2>&1
		rc=$?
		case $rc in
		0) echo "ok $name" ;;
		77) echo "SKIP $name ($(cat "$top/skip"))" ;;
		*)
			echo "FAIL $name (exit $rc)"
			tail -n 30 "$top/log" | sed 's/^/    /'
			failed=1
			;;
		esac
		rm -rf "${top:?}/$name"
	done
	return $failed
}
