#!/bin/bash
# tests/cli/corpora.sh -- what fuzzing found once is taken without a crash.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Fuzzers themselves run by `make fuzz`. Here each is a plain program, so that it
# compiles and links whatever compiler there is.
. tests/cli/lib/common.sh

each_corpus_is_taken() {
	local target name n=0
	for target in "${tree:?}"/tests/fuzz/*_fuzz.c; do
		name=$(basename "$target" _fuzz.c)
		(cd "$tree" && find tests/fuzz/"$name" -type f &&
			tests/fuzz/seeds.sh "$name") >inputs
		[[ -s inputs ]] || fail "$name has nothing to begin with"
		(cd "$tree" && xargs -d '\n' "$BUILD/tests/fuzz/${name}_replay") \
		    <inputs >said 2>&1 || fail "$name: $(tail -n 3 said)"
		n=$((n + 1))
	done
	((n > 20))
}

# What is kept is what found something, and is small: the rest grows elsewhere.
corpora_are_small() {
	local bytes
	bytes=$(find "${tree:?}/tests/fuzz" -type f -printf '%s\n' |
		awk '{ n += $1 } END { print n }')
	((bytes < 2000000)) || fail "tests/fuzz has $bytes bytes"
}

# A file that cannot be read is no file that was taken.
what_cannot_be_read_is_told() {
	run_for 1 "$BUILD/tests/fuzz/yaml_replay" nowhere
	says 'nowhere: cannot be read'
}

run_tests each_corpus_is_taken corpora_are_small what_cannot_be_read_is_told
