#!/bin/bash
# tests/cli/corpora.sh -- what fuzzing found once is taken without a crash.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Fuzzers themselves run by `make fuzz`. Here each is a plain program, so that it
# compiles and links whatever compiler there is.
. tests/cli/lib/common.sh

each_corpus_is_taken() {
	local corpus name
	for corpus in "${tree:?}"/tests/fuzz/*/; do
		name=$(basename "$corpus")
		run_for 0 "$BUILD/tests/fuzz/${name}_replay" "$corpus"*
	done
	[[ $name ]]
}

# A file that cannot be read is no file that was taken.
what_cannot_be_read_is_told() {
	run_for 1 "$BUILD/tests/fuzz/yaml_replay" nowhere
	says 'nowhere: cannot be read'
}

run_tests each_corpus_is_taken what_cannot_be_read_is_told
