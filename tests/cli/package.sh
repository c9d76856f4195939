#!/bin/bash
# tests/cli/package.sh -- what packages are made of says what the tree says.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `make check-deb` builds and tries the package itself, which takes minutes.
. tests/cli/lib/common.sh

packaging=$tree/.packaging

field() { # FIELD of the control file, folded lines and all, a package a line
	awk -v f="$1:" '$1 == f { on = 1; sub(f, "") } on && /^[^ ]/ && $1 ~ /:$/ &&
		$1 != f { on = 0 } on' "$packaging/deb/control" |
		tr ',|' '\n\n' | awk 'NF { print $1 }'
}

packages_to_build_by_are_those_of_the_makefile() {
	field Build-Depends | grep -v '^debhelper-compat$' | sort >want
	[[ $(wc -l <want) -gt 8 ]]
	sed -n '/^DEPS  *:=/,/[^\\]$/p' "$tree/Makefile" | tr -d '\\' |
		tr ' \t' '\n\n' | sort -u >deps
	[[ $(comm -23 want deps) = "" ]] || fail "$(comm -23 want deps)"
	# What the program is built with there, it is built with here.
	for package in libmnl-dev libbpf-dev libmicrohttpd-dev \
	    libcurl4-openssl-dev clang llvm; do
		grep -qx $package want || fail "no $package"
	done
}

a_changelog_has_this_version() {
	local version
	version=$("$CULPRIT" --version | sed -n 's/^culprit \([0-9.]*\) .*/\1/p')
	says "^## $version(,|\$)" "$tree/.github/CHANGELOG.md"
	# And each that numbers were kept of.
	for version in $(cut -f 1 "$tree/tests/golden/history.tsv" | grep '^[0-9]'); do
		says "^## $version(,|\$)" "$tree/.github/CHANGELOG.md"
	done
}

the_containerfile_is_one() {
	local file=$packaging/Containerfile
	sed ':a; /\\$/ { N; s/\\\n//; ba }' "$file" | grep -v '^#' |
		grep . >lines
	[[ $(head -n 1 lines) = FROM* ]]
	while read -r what rest; do
		case $what in
		FROM | ENV | RUN | WORKDIR | ENTRYPOINT | CMD) ;;
		COPY)
			[[ $rest = --from=* ]] && continue
			for from in ${rest% *}; do
				[[ -e $tree/$from ]] || fail "COPY $from"
			done
			;;
		*) fail "$what is no instruction of ours" ;;
		esac
		[[ $what != RUN ]] || bash -n -c "$rest"
	done <lines
	# What is installed comes before the sources, so that it stays cached.
	awk '/make deps/ { deps = NR } /COPY \. / { src = NR }
		END { exit !(deps && deps < src) }' lines
}

scripts_say_why_they_skip() {
	mkdir bin
	for tool in bash id env sh; do
		ln -s "$(command -v $tool)" bin
	done
	run_for 0 env PATH="$PWD/bin" bash "$packaging/check_deb.sh"
	says '^check-deb SKIPPED: (it takes root|no debootstrap here)$' stdout
	run_for 1 env PATH="$PWD/bin" bash "$packaging/deb.sh"
	says 'make deb needs build-essential and debhelper; no dpkg-buildpackage here'
}

# An archive of git's has no .git to ask, and is of a commit all the same.
an_archive_knows_its_commit() {
	git -C "$tree" rev-parse HEAD >commit 2>/dev/null || skip "no git here"
	git -C "$tree" archive HEAD Makefile .packaging results/provenance.c |
		tar -x
	[[ $(cut -d ' ' -f 1 .packaging/commit) = "$(cat commit)" ]] ||
		skip "HEAD has no .packaging/commit to be filled in"
	touch sources
	# What this suite was made with is not the archive's.
	run_for 0 make SAN= build/commit.txt build/date.txt
	[[ $(cat build/commit.txt) = "$(cut -c 1-12 commit)" ]]
	[[ $(cat build/date.txt) = $(git -C "$tree" log -1 --format=%ct) ]]
	SOURCE_DATE_EPOCH=86400 run_for 0 make SAN= build/date.txt
	[[ $(cat build/date.txt) = 86400 ]]
}

run_tests packages_to_build_by_are_those_of_the_makefile \
    a_changelog_has_this_version the_containerfile_is_one \
    scripts_say_why_they_skip an_archive_knows_its_commit
