#!/bin/bash
# tests/cli/man.sh -- manual pages: whole, clean, and what --help says.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

write_pages() {
	mkdir -p pages
	for page in $("$CULPRIT" man --list); do
		run_for 0 "$CULPRIT" man "$page"
		[[ ! -s stderr ]]
		cp stdout "pages/$page"
	done
}

there_is_one_for_each_verb() {
	write_pages
	local verbs
	verbs=$("$CULPRIT" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' |
		grep -vx culprit)
	for verb in $verbs; do
		[[ -s pages/culprit-$verb.1 ]] || fail "none of $verb"
		grep -q "^\\.Nm culprit-$verb$" "pages/culprit-$verb.1"
		for section in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" \
		    EXAMPLES "SEE ALSO"; do
			says "^\\.Sh $section$" "pages/culprit-$verb.1"
		done
	done
	[[ -s pages/culprit.1 && -s pages/culprit-spec.5 ]]
	# What each names besides is there too.
	for page in $(sed -nE 's/^\.Xr (culprit[a-z-]*) ([15]).*/\1.\2/p' \
	    pages/* | sort -u); do
		[[ -s pages/$page ]] || fail "no $page"
	done
}

options_are_those_of_help() {
	write_pages
	for page in pages/culprit-*.1; do
		verb=${page#pages/culprit-}
		verb=${verb%.1}
		# shellcheck disable=SC2086 # "trace-get" is two words
		"$CULPRIT" ${verb//-/ } --help |
			grep -oE '^ {2,6}(-., )?--[a-z0-9-]+' |
			grep -oE -e '--[a-z0-9-]+' | sort >want
		sed -nE 's/^\.It .*Fl \\-([a-z0-9\\-]+).*/--\1/p' "$page" |
			sed 's/\\//g' | sort >got
		diff want got || fail "$verb"
	done
	says '^\.It Fl s Ar PATH=VALUE , Fl \\-set Ns = Ns Ar PATH=VALUE$' \
	    pages/culprit-run.1
}

# Its own page is asked for in many ways, and a wrong one is told.
pages_are_found_by_name() {
	run_for 0 "$CULPRIT" man run
	cp stdout want
	for name in culprit-run culprit-run.1 run.1; do
		run_for 0 "$CULPRIT" man $name
		same stdout want
	done
	run_for 0 "$CULPRIT" man
	says '^\.Dt CULPRIT 1$' stdout
	run_for 0 "$CULPRIT" man culprit-spec.5
	says '^\.Dt CULPRIT-SPEC 5$' stdout
	run_for 2 "$CULPRIT" man rnu
	says_once 'there is no page "rnu"; did you mean "run"\?'
}

spec_has_every_key() {
	run_for 0 "$CULPRIT" man spec.5
	cp stdout page
	# Those that `culprit spec --all` lists, too.
	"$CULPRIT" spec --all | sed -nE 's/^ {2,4}([a-z_0-9]+):( .*)?$/\1/p' |
		sort -u >keys
	[[ $(wc -l <keys) -gt 60 ]]
	sed -nE 's/^\.It Ic ([a-z_]+\.)?([a-z_0-9]+)$/\2/p' page | sort -u >got
	[[ $(comm -13 keys got) = "" ]] || fail "$(comm -13 keys got)"
	for key in figure seed n_pods conns rate count classes grid; do
		grep -qx $key got || fail "no $key"
	done
	says '^whole number \[1, 1048576\] pods; default 2$' page
}

mandoc_is_content() {
	command -v mandoc >/dev/null || skip "no mandoc"
	write_pages
	# Whether other pages are installed here is no matter of the page.
	mandoc -T lint -W style pages/* |
		grep -v 'referenced manual not found: Xr culprit' >found || true
	[[ ! -s found ]] || { cat found; fail "mandoc has words"; }
}

man_is_content() {
	command -v man >/dev/null || skip "no man"
	write_pages
	for page in pages/*; do
		LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings \
		    -E UTF-8 -l -Tutf8 "$PWD/$page" >shown 2>found ||
			skip "man shows nothing here"
		[[ ! -s found ]] || { cat found; fail "$page"; }
		[[ $(wc -l <shown) -gt 20 ]]
	done
	LC_ALL=C.UTF-8 MANWIDTH=80 man -E UTF-8 -l -Tutf8 \
	    "$PWD/pages/culprit-run.1" | sed 's/.\x08//g' >shown
	says '^ +-s PATH=VALUE, --set=PATH=VALUE$' shown
	says 'culprit run my_sweep.yaml --shard 3/16' shown
}

run_tests there_is_one_for_each_verb options_are_those_of_help \
    pages_are_found_by_name spec_has_every_key mandoc_is_content man_is_content
