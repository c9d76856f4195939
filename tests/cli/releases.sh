#!/bin/bash
# tests/cli/releases.sh -- what earlier releases kept is read, or refused by name.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh
. tests/cli/lib/release.sh

lib=$tree/tests/cli/lib
kept=$tree/tests/data/releases
export PYTHONDONTWRITEBYTECODE=1

unpack() { # VERSION: here
	tar xzf "$kept/$1.tar.gz"
}

versions() {
	local file
	for file in "$kept"/*.tar.gz; do
		basename "$file" .tar.gz
	done
}

# refused VERSION NAME: is it listed, and is it told by what is listed?
refused() {
	local version name why
	while IFS=$'\t' read -r version name why; do
		[[ $version = "$1" && $name = "$2" ]] || continue
		grep -qE "$why" "now/$2" && grep -q 'exit code [23]' "now/$2"
		return
	done <"$kept/refused.tsv"
	return 1
}

still_says() { # VERSION, in whose folder we are
	local name said=0
	ask now
	for name in answers/*; do
		name=${name#*/}
		if grep -q 'built without' "now/$name" || refused "$1" "$name"; then
			continue
		fi
		python3 "$lib/still_said.py" "answers/$name" "now/$name" ||
			fail "$1: $name is answered otherwise"
		said=$((said + 1))
	done
	[[ $said -ge 10 ]] || fail "$1: of $said answers nothing can be said"
}

each_release_is_read_as_it_read_itself() {
	local version
	for version in $(versions); do
		mkdir "$version"
		cd "$version"
		unpack "$version"
		still_says "$version"
		cd ..
	done
}

# Its cells are never mixed with ours, whatever they would have been.
no_sweep_of_an_earlier_release_is_gone_on_with() {
	local version build
	build=$("$CULPRIT" --version | sed -n 's/^build //p')
	for version in $(versions); do
		mkdir "$version"
		cd "$version"
		unpack "$version"
		# A release that is new has its own program, which goes on.
		if grep -qaF "$build" run.h5; then
			cd ..
			continue
		fi
		cp run.h5 before.h5
		cp killed.journal before.journal
		run_for 2 "$CULPRIT" run spec.yaml -q -o run.h5
		says "one was made by culprit $version "
		same run.h5 before.h5
		run_for 2 "$CULPRIT" run spec.yaml -q --set runs=80 -o killed.h5
		same killed.journal before.journal
		"$CULPRIT" run spec.yaml -q --shard 2/2 -o shards/ours.h5
		run_for 2 "$CULPRIT" merge -o x.h5 shards/1.h5 shards/ours.h5
		says "one was made by culprit $version "
		cd ..
	done
}

# `bash tests/cli/lib/release.sh` makes what is missing here.
no_release_is_forgotten() {
	local version
	[[ -e $tree/.github/CHANGELOG.md ]] || skip "no CHANGELOG"
	while read -r version; do
		[[ -s $kept/$version.tar.gz ]] || fail "nothing is kept of $version"
	done < <(sed -n 's/^## \([0-9.]*\)$/\1/p; /^0.7.0$/q' \
	    "$tree/.github/CHANGELOG.md")
}

run_tests each_release_is_read_as_it_read_itself \
    no_sweep_of_an_earlier_release_is_gone_on_with no_release_is_forgotten
