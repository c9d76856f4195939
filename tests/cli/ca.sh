#!/bin/bash
# tests/cli/ca.sh -- culprit ca: certificates that other tools take.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

refuses() { # CODE PATTERN OPTION...
	run_for "$1" timeout 20 "$CULPRIT" ca "${@:3}"
	says "$2"
	[[ ! -s stdout ]]
}

needs_openssl() { command -v openssl >/dev/null || skip "no openssl"; }

checks() { # PURPOSE FILE OPTION...: by another library
	openssl verify -x509_strict -CAfile ca/ca.pem -purpose "$1" "${@:3}" \
	    "$2" >said 2>&1
}

one_command_makes_a_fleet() {
	needs_openssl
	umask 022
	run_for 0 "$CULPRIT" ca ca --server 10.0.0.250,controller.example,fd00::1 \
	    --agent 10.0.0.1-10.0.0.3 --agent 10.0.1.1 --days 30
	says '^ca: a new authority, 5 certificates of 30 days$' stdout
	(cd ca && only_files ca.{pem,key} list.{pub,key} 10.0.0.{250,1,2,3}.{pem,key} \
	    10.0.1.1.{pem,key})
	[[ $(stat -c %a ca) = 700 && $(stat -c %a ca/*.key | sort -u) = 600 ]]
	checks sslserver ca/10.0.0.250.pem -verify_ip 10.0.0.250
	checks sslserver ca/10.0.0.250.pem -verify_ip fd00::1
	checks sslserver ca/10.0.0.250.pem -verify_hostname controller.example
	checks sslclient ca/10.0.0.3.pem -verify_ip 10.0.0.3
	! checks sslclient ca/10.0.0.3.pem -verify_ip 10.0.0.2 || fail "another"
	# Neither passes for the other, or for an authority.
	! checks sslserver ca/10.0.0.3.pem || fail "an agent serves"
	! checks sslclient ca/10.0.0.250.pem || fail "a server asks"
	openssl x509 -in ca/10.0.0.3.pem -noout -text >said
	says 'CA:FALSE' said
	says 'Extended Key Usage: $' said # it is not critical
	openssl x509 -in ca/10.0.0.3.pem -noout -checkend $((29 * 86400)) >said
	! openssl x509 -in ca/10.0.0.3.pem -noout \
	    -checkend $((30 * 86400)) >said || fail "for longer"
	openssl pkey -in ca/list.key -pubout >a
	same a ca/list.pub
	openssl pkey -in ca/list.key -noout -text >said
	says '^ED25519' said
	# Each has a key and a serial of its own, and the key is the certificate's.
	[[ $(for f in ca/*.pem; do
		openssl x509 -in "$f" -noout -serial
	done | sort -u | wc -l) = 6 ]]
	for f in ca/*.pem; do
		openssl x509 -in "$f" -noout -pubkey >a
		openssl pkey -in "${f%.pem}.key" -pubout >b
		same a b
	done
}

it_goes_on_with_the_authority_that_is_there() {
	needs_openssl
	run_for 0 "$CULPRIT" ca ca --agent 10.0.0.1 --agent 10.0.0.2
	cp -r ca old
	run_for 0 "$CULPRIT" ca ca --agent 10.0.0.1
	says '^ca: the same authority, 1 certificate of 365 days$' stdout
	for f in ca.pem ca.key list.pub list.key 10.0.0.2.pem 10.0.0.2.key; do
		same ca/$f old/$f
	done
	for f in 10.0.0.1.pem 10.0.0.1.key; do
		! cmp -s ca/$f old/$f || fail "the same $f"
	done
	checks sslclient ca/10.0.0.1.pem
	# What another one vouched for is none of its own.
	run_for 0 "$CULPRIT" ca other --agent 10.0.0.1
	cp other/10.0.0.1.pem ca
	! checks sslclient ca/10.0.0.1.pem || fail "a foreign one"
}

days_are_as_told() {
	needs_openssl
	run_for 0 "$CULPRIT" ca ca --agent 10.0.0.1 --from 2020-02-29 --days 2
	openssl x509 -in ca/10.0.0.1.pem -noout -dates >said
	says '^notBefore=Feb 29 00:00:00 2020 GMT$' said
	says '^notAfter=Mar  2 00:00:00 2020 GMT$' said
	! checks sslclient ca/10.0.0.1.pem || fail "expired and good"
	says 'expired' said
}

a_key_that_was_left_behind_is_not_written_into() {
	run_for 0 "$CULPRIT" ca ca
	mkdir elsewhere
	ln -s ../elsewhere/key ca/10.0.0.1.key
	: >elsewhere/key
	chmod 644 elsewhere/key
	run_for 0 "$CULPRIT" ca ca --agent 10.0.0.1
	[[ ! -s elsewhere/key && ! -L ca/10.0.0.1.key ]]
	[[ $(stat -c %a ca/10.0.0.1.key) = 600 ]]
}

mistakes_are_named() {
	refuses 2 'DIR\?$'
	refuses 2 'did you mean --server' d --servr x
	refuses 2 'days "0" is not a whole number in \[1, 3650\]' d --days 0
	for day in 2026-13-01 2026-02-31 yesterday 1969-01-01 ''; do
		refuses 2 'is no day: 2026-01-31 is' d --from "$day"
	done
	refuses 2 'range ascends' d --agent 10.0.0.2-10.0.0.1
	refuses 2 'range ascends and has at most' d --agent 10.0.0.1-10.9.0.1
	for name in '' ../x a/b 10.0.0.256 10.0.0.1-10.0.0.300 'a b' .. - a..b \
	    'a,,b' "10.0.0.1,$(printf 'x%.0s' {1..254})"; do
		refuses 2 'neither an address nor the name' d --server "$name"
	done
	refuses 2 'at most 32 names' d --agent "$(seq -f 10.0.0.%g -s , 33)"
	refuses 2 'file of the authority itself' d --agent ca
	refuses 2 'file of the authority itself' d --server list,10.0.0.1
	refuses 3 'cannot make /proc/nowhere' /proc/nowhere
	[[ $(find d -type f | sort) = "d/ca.key
d/ca.pem
d/list.key
d/list.pub" ]]
	rm d/ca.key
	refuses 3 'd has ca.pem without ca.key' d
	echo none >d/ca.key
	refuses 2 'ca.pem or ca.key cannot be read' d
	run_for 0 "$CULPRIT" ca other
	cp other/ca.key d
	refuses 2 'ca.key is not the key of ca.pem' d
	head -c 1048577 /dev/zero >d/ca.key
	refuses 2 'd/ca.key is too large' d
	truncate -s 1048576 d/ca.key
	refuses 2 'ca.pem or ca.key cannot be read' d
	refuses 2 'the name of a folder is too long' "$(printf '%05000d' 0)"
	rm d/ca.key
	mkfifo d/ca.key
	refuses 3 'not a file' d
	rm d/ca.*
	refuses 3 'd has list.key without an authority' d
}

if "$CULPRIT" ca "$top/d" 2>&1 | grep -q 'built without GnuTLS'; then
	echo "ok without_the_library_it_says_so"
	exit
fi

run_tests one_command_makes_a_fleet it_goes_on_with_the_authority_that_is_there \
    days_are_as_told a_key_that_was_left_behind_is_not_written_into \
    mistakes_are_named
