#!/bin/bash
# tests/cli/latency.sh -- culprit latency: the paper's quantiles, repeatably.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# COLUMN of the row PROFILE PATH SOURCE.
cell() {
	awk -F'\t' -v row="$1 $2 $3" -v col="$4" 'NR == 1 {
		for (i = 1; i <= NF; i++) if ($i == col) c = i; next }
	    row == $1 " " $2 " " $3 { print $c }' table
}

# Within 10 % of a value, mostly the paper's as remembered. For samples that is
# 10 standard errors at P99, and the seed is fixed.
near() {
	local got
	got=$(cell "$1" "$2" "$3" "$4")
	awk -v a="$got" -v b="$5" 'BEGIN { exit !(a > 0.9 * b && a < 1.1 * b) }' ||
		fail "$* but got $got"
}

quantiles_are_near_the_papers() {
	run_for 0 "$CULPRIT" latency --tsv
	mv stdout table
	for source in law sample; do
		near dc1 intra-pod $source p50_us 216
		near dc1 intra-pod $source p99_us 1260
		near dc1 inter-pod $source p50_us 268
		near dc1 inter-pod $source p99_us 1340
		near dc1 inter-pod+1kB $source p50_us 326
		near dc1 inter-pod+1kB $source p99_us 2430
	done
	near dc1 inter-pod law p999_us 23350
	near dc2 inter-pod law p999_us 11070
	near dc2 inter-pod law p9999_us 105840
	near calm intra-pod law p99_us 530
	near calm inter-pod law p99_us 530
	[[ $(wc -l <table) = 19 ]]
	[[ $(awk -F'\t' '{ print NF }' table | sort -u) = 10 ]]
}

the_seed_and_the_row_name_the_sample() {
	run_for 0 "$CULPRIT" latency --tsv --runs 1000
	mv stdout all
	run_for 0 "$CULPRIT" latency --tsv --runs 1000 --seed 0
	same stdout all
	grep -v "dc1\|calm" all >one
	run_for 0 "$CULPRIT" latency --tsv --runs 1000 --profile dc2
	same stdout one
	run_for 0 "$CULPRIT" latency --tsv --runs 1000 --seed 1
	same <(grep law stdout) <(grep law all)
	not cmp -s <(grep sample stdout) <(grep sample all)
}

load_and_timers_show() {
	run_for 0 "$CULPRIT" latency --tsv --runs 1000 --load 0.9
	mv stdout table
	near dc1 inter-pod law p50_us 744
	run_for 0 "$CULPRIT" latency --tsv --runs 1000 --timers linux
	mv stdout table
	[[ $(cell dc1 inter-pod law p9999_us) = 1000000 ]]
	run_for 0 "$CULPRIT" latency --runs 1
	says '^dc1: ' stdout
	[[ $(awk 'length > 80' stdout) = "" ]]
}

mistakes_are_named() {
	run_for 2 "$CULPRIT" latency --profile dc3
	says 'no profile "dc3"; there are dc1, dc2 and calm'
	run_for 2 "$CULPRIT" latency --timers bsd
	says 'windows, linux and linux_linear'
	for runs in 0 -1 1.5 10000001 x; do
		run_for 2 "$CULPRIT" latency --runs=$runs
		says 'whole number in \[1, 10000000\]'
	done
	for load in -0.1 1 nan x; do
		run_for 2 "$CULPRIT" latency --load=$load
		says 'is not in \[0, 0.99\]'
	done
	run_for 2 "$CULPRIT" latency --seed x
	run_for 2 "$CULPRIT" latency extra
	says '"extra" is one word too many'
}

run_tests quantiles_are_near_the_papers the_seed_and_the_row_name_the_sample \
    load_and_timers_show mistakes_are_named
