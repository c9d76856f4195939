#!/bin/bash
# tests/cli/tls.sh -- servers that speak with their own alone, over loopback.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# curl is the client, by another TLS library than the servers have. In
# tests/real/tls.sh there is a whole fleet.
. tests/cli/lib/common.sh

lib=$tree/tests/cli/lib
export PYTHONDONTWRITEBYTECODE=1
own_servers() { trap 'kill -9 $(jobs -p) 2>/dev/null || :' EXIT; }

of() { # DIR NAME: options of who has that certificate
	echo "--cert $1/$2.pem --key $1/$2.key"
}

# serve NAME VERB OPTION...: with the server's certificate; sets url and pid.
serve() {
	: >"$1.out"
	# shellcheck disable=SC2046 # words are meant
	"$CULPRIT" "${@:2}" "${as_user[@]}" --listen 127.0.0.1:0 --ca ca/ca.pem \
	    $(of ca 127.0.0.1) >"$1.out" 2>"$1.err" &
	pid=$!
	within 10 grep -q '^https' "$1.out" || { cat "$1.err"; fail "no $1"; }
	url=$(sed 's,/: .*,,' "$1.out")
}

# ask STATUS PATH OPTION...: 000 is no answer at all.
ask() {
	local got
	got=$(curl -sS --max-time 10 -o page -w '%{http_code}' \
	    --cacert ca/ca.pem "${@:3}" "$url$2" 2>said) || :
	[[ $got = "$1" ]] || { cat said; fail "$2 ${*:3}: $got, not $1"; }
}

makes() {
	own_servers
	"$CULPRIT" ca ca --server 127.0.0.1 --agent 10.0.0.1-10.0.0.3
	cp -r ca late
	"$CULPRIT" ca late --agent 10.0.0.1 --from 2020-01-01 --days 30
	cp -r ca early
	"$CULPRIT" ca early --agent 10.0.0.1 --from 2200-01-01
	"$CULPRIT" ca foreign --server 127.0.0.1 --agent 10.0.0.1
}

told() { within 5 grep -qE "^culprit: 127.0.0.1: $1$" c.err || fail "$1"; }

# shellcheck disable=SC2046 # words are meant
# hears WORDS OPTIONS...: why nothing is to be had. A request that was sent before
# the server judged has the kernel reset the connection, which may overtake what
# the server says: then once more.
hears() {
	local words=$1
	shift
	for _ in {1..20}; do
		ask 000 /health "$@"
		! grep -q "$words" said || return 0
	done
	fail "nobody says: $words"
}

strangers_get_nothing_and_hear_why() {
	makes
	serve c controller
	ask 200 /pinglist/10.0.0.1 $(of ca 10.0.0.1)
	says '<pinglist server="10.0.0.1"' page
	ask 200 /health $(of ca 10.0.0.1)
	for v in 1.2 1.3; do
		ask 000 /health --tls-max $v $(of late 10.0.0.1)
		ask 000 /health --tls-max $v $(of early 10.0.0.1)
		ask 000 /health --tls-max $v $(of foreign 10.0.0.1)
		ask 000 /health --tls-max $v $(of ca 127.0.0.1)
		ask 000 /health --tls-max $v
	done
	hears 'certificate expired' $(of late 10.0.0.1)
	hears 'unknown ca' $(of foreign 10.0.0.1)
	hears 'certificate required'
	told 'its certificate has expired'
	told 'its certificate is not good yet'
	told 'its certificate is of an authority that is not ours'
	told 'its certificate is not for a client'
	told 'it shows no certificate'
	# Neither TLS of old nor none at all.
	ask 000 /health --tls-max 1.1 $(of ca 10.0.0.1)
	url=${url/https/http} ask 000 /health
	# Nor does a client take another server for this one.
	ask 000 /health $(of ca 10.0.0.1) --cacert foreign/ca.pem
	local port=${url##*:}
	url=https://127.0.0.2:$port ask 000 /health $(of ca 10.0.0.1) \
	    --connect-to "127.0.0.2:$port:127.0.0.1:$port"
	says 'no alternative certificate subject name' said
	ask 200 /health $(of ca 10.0.0.1)
	[[ $(json page 'd["untrusted"]') -ge 13 ]]
	kill $pid
	wait $pid
}

# shellcheck disable=SC2046
each_has_its_own_list_and_gives_what_it_saw() {
	makes
	serve c controller
	ask 403 /pinglist/10.0.0.2 $(of ca 10.0.0.1)
	says '^10.0.0.2 is not in your certificate' page
	told 'it speaks for 10.0.0.2, which is not in its certificate'
	ask 404 /pinglist/10.9.9.9 $(of ca 10.0.0.1)
	kill $pid
	serve c collector --dir batches
	for agent in 0 1; do
		python3 "$lib/agent.py" batch $agent 1 >batch$agent
	done
	ask 403 /results $(of ca 10.0.0.1) --data-binary @batch1
	told 'it speaks for 10.0.0.2, which is not in its certificate'
	ask 000 /results $(of foreign 10.0.0.1) --data-binary @batch0
	ask 200 /results $(of ca 10.0.0.1) --data-binary @batch0
	[[ $(python3 "$lib/agent.py" files batches) = "0 1" ]]
	kill $pid
	wait $pid
}

in_use() { [[ $(grep -c 'new certificates are in use' c.err) -ge $1 ]]; }

# What does not fit together is told of once and left alone.
# shellcheck disable=SC2046
files_are_replaced_while_it_serves() {
	makes
	serve c controller
	cp -r ca old
	"$CULPRIT" ca new --server 127.0.0.1 --agent 10.0.0.1
	cp new/127.0.0.1.key ca
	within 5 grep -q 'ca/127.0.0.1.key is not the key of ca/127.0.0.1.pem' \
	    c.err || fail "nothing is said"
	ask 200 /health $(of ca 10.0.0.1)
	kill -HUP $pid
	cp new/127.0.0.1.pem ca
	within 5 in_use 1 || fail "not in use"
	# Its own are new, and clients' old authority is still believed.
	ask 000 /health $(of ca 10.0.0.1)
	ask 200 /health $(of ca 10.0.0.1) --cacert new/ca.pem
	cp new/ca.pem ca
	within 5 in_use 2 || fail "not in use"
	ask 000 /health $(of old 10.0.0.1)
	ask 200 /health $(of new 10.0.0.1)
	rm ca/127.0.0.1.key
	within 5 grep -q 'cannot read ca/127.0.0.1.key' c.err ||
		fail "nothing is said"
	ask 200 /health $(of new 10.0.0.1)
	[[ $(grep -c 'is not the key' c.err) = 1 ]]
	kill $pid
	wait $pid
}

refuses() { # CODE PATTERN OPTION...
	run_for "$1" timeout 10 "$CULPRIT" controller --listen 127.0.0.1:0 \
	    "${as_user[@]}" "${@:3}"
	says "$2"
	[[ ! -s stdout ]]
}

# Who root becomes is to read the key, at the start and when it is new; that of
# signatures is read once, by root.
the_key_is_the_new_user_s_to_read() {
	[[ $(id -u) = 0 ]] || skip "not root"
	makes
	chmod 755 . .. ca
	as_user=(--user nobody)
	refuses 3 'as user nobody: .*127.0.0.1.key' --ca ca/ca.pem \
	    --cert ca/127.0.0.1.pem --key ca/127.0.0.1.key
	chgrp nogroup ca/127.0.0.1.key
	chmod 640 ca/127.0.0.1.key
	serve c controller --sign ca/list.key
	[[ $(stat -c %a ca/list.key) = 600 ]]
	ask 200 /pinglist/10.0.0.1 $(of ca 10.0.0.1)
	"$CULPRIT" ca ca --server 127.0.0.1
	within 5 grep -q 'cannot read ca/127.0.0.1.key' c.err ||
		fail "the new key is said to be read"
	ask 200 /health $(of ca 10.0.0.1)
	chgrp nogroup ca/127.0.0.1.key
	chmod 640 ca/127.0.0.1.key
	within 5 in_use 1 || fail "not in use"
	ask 200 /health $(of ca 10.0.0.1)
	kill $pid
	wait $pid
}

mistakes_are_named() {
	makes
	local k=ca/127.0.0.1.key c=ca/127.0.0.1.pem
	refuses 2 'belong together: --cert is missing' --ca ca/ca.pem --key $k
	refuses 2 'belong together: --ca is missing' --key $k --cert $c
	refuses 3 'cannot read nowhere' --ca nowhere --cert $c --key $k
	refuses 2 'has no certificates' --ca $k --cert $c --key $k
	refuses 2 'is not the key of' --ca ca/ca.pem --cert $c --key ca/ca.key
	refuses 2 'cannot be read' --ca ca/ca.pem --cert $k --key $k
	chmod 604 $k
	refuses 2 'may be read by everybody: its mode is 604' --ca ca/ca.pem \
	    --cert $c --key $k
	chmod 600 $k
	head -c 1048577 /dev/zero >large
	refuses 2 'more than certificates take' --ca large --cert $c --key $k
	mkfifo pipe
	refuses 3 'not a file' --ca pipe --cert $c --key $k
}

if "$CULPRIT" controller --listen x --ca a --cert b --key c 2>&1 |
    grep -q 'built without'; then
	echo "ok without_the_libraries_it_says_so"
	exit
fi
command -v curl >/dev/null || { echo "SKIP all (no curl)"; exit; }

its_list_is_for_its_own_address() {
	local other=(-g --cert ca/fd00--2.pem --key ca/fd00--2.key)
	ask 200 /pinglist/fd00::2 "${other[@]}"
	grep -q '<pinglist server="fd00::2" ' page
	grep -q '<peer address="fd00::1" port="8765"' page
	ask 403 /pinglist/fd00::1 "${other[@]}"
	ask 403 /pinglist/10.0.0.2 "${other[@]}"
	ask 404 /pinglist/fd00::0002 "${other[@]}"
}

# Both servers and those who ask them may be of IPv6: a URL's brackets are no part of
# the address that a certificate has.
ipv6_is_spoken_by_all() {
	grep -q ' lo$' /proc/net/if_inet6 || skip "no IPv6 here"
	local s
	own_servers
	"$CULPRIT" ca ca --server six.example,::1 --agent 127.0.0.9 \
	    --agent ::1 --agent fd00::2
	: >six.out
	"$CULPRIT" controller --net6 fd00::/64 --listen '[::1]:0' --ca ca/ca.pem --cert \
	    ca/six.example.pem --key ca/six.example.key "${as_user[@]}" \
	    >six.out 2>six.err &
	s=$!
	within 10 grep -q '^https://\[::1\]:' six.out || { cat six.err; fail "no [::1]"; }
	url=$(sed 's,/: .*,,' six.out)
	# shellcheck disable=SC2046 # words are meant
	ask 200 /health -g $(of ca 127.0.0.9)
	# An agent takes it for who it is, and hears that it has no list.
	[[ $(id -u) = 0 ]] && user=(--user root) || user=()
	[[ $BUILD != *-san ]] || user+=(--memory-mib 0)
	# shellcheck disable=SC2046
	run_for 1 "$CULPRIT" agent --once --controller "$url" --address \
	    127.0.0.9 --port "$(free_port)" "${user[@]}" --ca ca/ca.pem $(of ca 127.0.0.9)
	says '^culprit: no list$'
	# So is an agent with IPv6.
	# shellcheck disable=SC2046
	run_for 1 "$CULPRIT" agent --once --controller "$url" --address \
	    ::1 --port "$(free_port)" "${user[@]}" --ca ca/ca.pem $(of ca --1)
	says '^culprit: no list$'
	its_list_is_for_its_own_address
	kill $s
	wait $s || fail "exit code $?"
	# In the clear on [::1] alone, and told so.
	run_for 2 "$CULPRIT" controller --listen '[::]:0' "${as_user[@]}"
	says_once '.::.:0 can be reached from other hosts, in the clear'
	run_for 2 "$CULPRIT" agent --controller 'http://[fd00::9]:1' \
	    --address 127.0.0.1
	says_once 'fd00::9.:1.* is another host'
	run_for 2 "$CULPRIT" agent --controller 'http://[::1]:1' \
	    --address ::1 --allow-net fd00::/129
	says 'a prefix of IPv6 has 0 to 128 bits; /129 is not'
}

run_tests strangers_get_nothing_and_hear_why \
    each_has_its_own_list_and_gives_what_it_saw \
    files_are_replaced_while_it_serves \
    the_key_is_the_new_user_s_to_read ipv6_is_spoken_by_all \
    mistakes_are_named
