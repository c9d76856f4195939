#!/bin/bash
# tests/cli/golden.sh -- the kept numbers are those of other machines too.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# glibc picks exp() and its kin by what the CPU can do, and they differ in the
# last place with and without fused multiplication. No number may hang on that,
# or shards of one sweep from two kinds of machines would not fit together.
a_cpu_without_fused_multiplication_gives_the_same_numbers() {
	cd "${tree:?}"
	GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F \
	    "$BUILD/tests/golden_test" >"$OLDPWD/stdout" 2>&1 ||
		{ cat "$OLDPWD/stdout" && return 1; }
}

run_tests a_cpu_without_fused_multiplication_gives_the_same_numbers
