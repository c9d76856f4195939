#!/bin/bash
# tests/cli/pinglist.sh -- culprit pinglist: counts, lists, schema, mistakes.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

pinglist() { "$CULPRIT" pinglist "$@"; }

# 2 pods of 20 ToRs of 40 servers: 39 peers under the ToR, 39 under others.
the_summary_counts() {
	run_for 0 pinglist
	says '^servers +1600 in 1 data centre$' stdout
	says '^peers +124800 in all, 78 a server at most$' stdout
	says '^  tor +62400, 1 entry each, every 10 s$' stdout
	says '^  dc +62400, ' stdout
	says '^dropped +0 ' stdout
	run_for 0 pinglist -p max_peers=48 -p ports=1,2 -p payload_probes=true
	says '^peers +76800 in all, 48 a server at most$' stdout
	says '^  dc +14400, 4 entries each, every 40 s$' stdout
	says '^entries +307200$' stdout
	says '^dropped +48000 ' stdout
	# 1600 servers, and 3 x 2 x 1: 4 of each of 2 and of 3 podsets.
	run_for 0 pinglist --dc -s n_pods=3 -s n_tors=2 -s n_hosts=1
	says '^servers +1606 in 2 data centres$' stdout
	says '^  inter_dc +96, ' stdout
}

each_list_is_valid() {
	command -v xmllint >/dev/null || skip "no xmllint"
	pinglist --schema >schema.xsd
	same schema.xsd "$tree/algos/pingmesh/pinglist.xsd"
	for server in 0 799 1600 1605; do
		pinglist --dc -s n_pods=3 -s n_tors=2 -s n_hosts=1 \
		    -p ports=8765,8766 -p payload_probes=true \
		    -p http_probes=true \
		    -p vips=198.18.0.1,198.18.0.2 --server $server >list.xml
		run_for 0 xmllint --nonet --noout --schema schema.xsd list.xml
	done
	pinglist -s n_tors=3 -s n_hosts=4 --all >all.xml
	run_for 0 xmllint --nonet --noout --schema schema.xsd all.xml
	[[ $(grep -c '<pinglist ' all.xml) = 24 ]]
	[[ $(grep -c '<peer ' all.xml) = $((24 * (3 + 5))) ]]
	# The schema does say no.
	pinglist -s n_tors=3 --server 0 | sed 's/interval_s="10"/interval_s="9"/' \
	    >fast.xml
	run_for 3 xmllint --nonet --noout --schema schema.xsd fast.xml
	# Nor to one ping twice, be its kind told or not; two kinds are two.
	pinglist -s n_tors=3 --server 0 -p http_probes=true >both.xml
	for ping in ' ping="tcp"' ''; do
		sed "s/ ping=\"http\"/$ping/" both.xml >twice.xml
		run_for 3 xmllint --nonet --noout --schema schema.xsd twice.xml
	done
	sed 's/="http"/="udp"/' both.xml >udp.xml
	run_for 3 xmllint --nonet --noout --schema schema.xsd udp.xml
}

# Who asks for no HTTP pings has lists as before there were any.
pings_by_http_are_asked_for() {
	pinglist -s n_tors=3 --server 0 >before
	pinglist -s n_tors=3 --server 0 -p http_probes=false >off
	same before off
	! grep -q ping= before || fail "a kind where there is one alone"
	pinglist -s n_tors=3 --server 0 -p http_probes=true >both
	(($(grep -c 'payload="0" ping="http"/>' both) == $(grep -c '<peer' before)))
	(($(grep -c 'payload="0"/>' both) == $(grep -c '<peer' before)))
}

# Either both list each other or neither does.
all_lists_together_are_symmetric() {
	for cap in 5000 9 4; do
		pinglist -s n_tors=5 -s n_hosts=4 --dc -s n_tors=3 \
		    -p max_peers=$cap --all |
			awk -F'"' '/<pinglist / { s = $2 }
			    /<peer / { print s, $2 }' >pairs
		[[ -s pairs ]]
		sort pairs >there
		awk '{ print $2, $1 }' pairs | sort >back
		same there back
		sort -u pairs >once
		same there once
	done
}

the_same_input_gives_the_same_bytes() {
	pinglist --server 5 >one
	pinglist --server 5 -o two
	same one two
	pinglist --server 5 -o - >three
	same one three
	only_files one two three
	# The list of one is that list among all.
	pinglist -s n_tors=3 -s n_hosts=4 --all -o all
	pinglist -s n_tors=3 -s n_hosts=4 --server 7 | tail -n +2 >list
	awk '/<pinglist server="10.0.0.8"/ { on = 1 } on { print }
	    /<\/pinglist>/ { on = 0 }' all >among
	same list among
	# What is no file of its own is written to, not replaced.
	: >target
	ln -s target link
	pinglist --server 5 -o link
	[[ -L link ]]
	# Nothing is left of a longer one that it leads to.
	cp target want
	head -c 100000 /dev/zero >>target
	pinglist --server 5 -o link
	[[ -L link ]]
	same target want
	same one target
}

memory_does_not_grow_with_the_lists() {
	[[ $BUILD != *-san ]] || skip "sanitizers take memory"
	(
		ulimit -v 400000
		pinglist -s n_pods=40 --all -o /dev/stdout | wc -c >bytes
	)
	(($(cat bytes) > 2000000000)) || fail "$(cat bytes) bytes"
}

refuses() { # CODE PATTERN OPTION...
	local code=$1 pattern=$2
	shift 2
	run_for "$code" pinglist "$@"
	says "$pattern"
	[[ $(grep -c "^culprit" stderr) = 1 ]] || { cat stderr; fail "lines"; }
	[[ ! -s stdout ]] || { cat stdout; fail "half an answer"; }
}

mistakes_are_named() {
	refuses 2 'did you mean "n_pods"' --set n_pod=3
	refuses 2 'did you mean "max_peers"' --param max_peer=3
	refuses 2 'is not KEY=VALUE' --param max_peers
	refuses 2 'min_interval_s 9 is not in \[10, ' -p min_interval_s=9
	refuses 2 'payload_bytes 65537 is not in' -p payload_bytes=65537
	refuses 2 'ports' -p ports=http
	refuses 2 'address of a server' -p vips=10.0.0.1
	refuses 2 '\[0, 1599\]' --server 1600
	refuses 2 'is no server' --server x
	refuses 2 'one of --server' --server 1 --all
	refuses 2 'for --server or --all' --output x
	refuses 2 'n_t2' -s n_t2=0
	refuses 3 '/proc/nowhere' --server 0 -o /proc/nowhere
	ln -s /dev/full full
	refuses 3 'No space left' --all -o full
	[[ -L full ]]
	only_files full
}

too_many_are_refused() {
	many() { yes -- "$2" | head -n "$1"; }
	# shellcheck disable=SC2046 # words are meant
	run_for 0 pinglist -s n_tors=1 -s n_hosts=1 $(many 15 --dc)
	says '^servers +32 in 16 data centres$' stdout
	# shellcheck disable=SC2046
	run_for 2 pinglist $(many 16 --dc)
	says 'more than 16 data centres'
	# shellcheck disable=SC2046
	run_for 0 pinglist $(many 32 '-p max_peers=48')
	# shellcheck disable=SC2046
	run_for 2 pinglist $(many 33 '-p max_peers=48')
	says 'more than 32 times --param'
}

run_tests the_summary_counts each_list_is_valid pings_by_http_are_asked_for \
    all_lists_together_are_symmetric the_same_input_gives_the_same_bytes \
    memory_does_not_grow_with_the_lists mistakes_are_named \
    too_many_are_refused
