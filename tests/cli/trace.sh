#!/bin/bash
# tests/cli/trace.sh -- culprit trace: its verbs, and files of traces.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

wrong_words_are_told() {
	run_for 2 "$CULPRIT" trace
	says 'trace what\?'
	run_for 2 "$CULPRIT" trace bless
	says_once 'there is no "trace bless"'
}

run_tests wrong_words_are_told
