#!/bin/bash
# tests/cli/faults.sh -- a few verbs under a few failing calls; all: `make faults`.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# Another seed, FAULTS_SEED, tries others.
verbs_bear_failing_calls() {
	[[ $BUILD != *-san ]] || skip "an allocator of ASan's own"
	cd "$tree" # plots have their scripts there
	tests/faults/run.py "$BUILD" --sample 2 --pairs 60 --seed "${FAULTS_SEED:-1}" \
	    >"$top/faults" || { cat "$top/faults"; return 1; }
}

run_tests verbs_bear_failing_calls
