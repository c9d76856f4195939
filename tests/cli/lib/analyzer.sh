#!/bin/bash
# tests/cli/lib/analyzer.sh -- a `culprit trace serve` in a network of its own; sourced.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2034 # others use what is set here

why=
unshare -n true 2>/dev/null || why="no namespaces of networks"
export SEND=$tree/tests/cli/lib/erspan_send.py

# in_net COMMAND...: in a network of its own that has lo alone.
in_net() {
	export more=${more-}
	unshare -n bash -c "trap 'kill \$(jobs -p) 2>/dev/null || :' EXIT
ip link set lo up || exit
$1"
}

export -f within fail
start='"$CULPRIT" trace serve spec.yaml -i lo -p store_all=true'

# start_asked: one that takes requests, at $url. Rows of counters each second.
start_asked='
	touch said
	"$CULPRIT" trace serve spec.yaml -i lo -p store_all=true \
		-p counters_s=1 --index-is-link --control 127.0.0.1:0 -o out/x.h5 \
		$more >said 2>complaint &
	serve=$!
	within 10 grep -q ^http said || { cat complaint; exit 1; }
	url=$(sed -n "s/ takes requests//p" said)
	t() { local verb=$1; shift; "$CULPRIT" trace "$verb" "$@"; }
	code() { local want=$1 got=0; shift; "$@" >stdout 2>stderr || got=$?
		[[ $got = "$want" ]] ||
			fail "$* -> $got, not $want: $(cat stdout stderr)"; }
	says() { grep -qE -e "$1" "${2-stderr}" ||
		fail "${2-stderr} does not say $1: $(cat "${2-stderr}")"; }
	set -e
'
asked() { # SCRIPT
	[[ -z $why ]] || skip "$why"
	write_spec
	mkdir -m 777 out
	chmod 711 .. .
	in_net "$start_asked$1" || fail "exit $?"
}
