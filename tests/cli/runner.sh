#!/bin/bash
# tests/cli/runner.sh -- who ends a run of tests ends all that it began.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# A tree of one script that begins others, and would go on for minutes. Programs of
# tests stand in folders, of which one has its name.
begin_run() {
	mkdir -p tests/cli tests/real build/tests/real build/tests/one
	cp "$tree/tests/until.sh" tests
	cat >"$2" <<-'END'
		sleep 300 &
		echo $! >first
		(sleep 300 & echo $! >second; wait)
	END
	bash "$tree/$1" build 2>&1 &
	run=$!
	within 20 test -s second || fail "$1 began nothing"
}

is_over() { ! kill -0 "$1" 2>/dev/null; }

nothing_outlives() {
	begin_run "$1" "$2"
	kill -TERM $run
	code=0
	wait $run || code=$?
	[[ $code = 143 ]] || fail "$1 ended with $code"
	for pid in $(cat first second); do
		within 20 is_over "$pid" || fail "$1 left process $pid"
	done
}

nothing_outlives_a_run_of_all() { nothing_outlives tests/run.sh tests/cli/one.sh; }
nothing_outlives_a_run_on_real_networks() {
	nothing_outlives tests/real/run.sh tests/real/one.sh
}

# As what it began may be in a shell that it alone has ended.
a_test_that_passes_leaves_nothing() {
	. "$tree/tests/until.sh"
	cat >one.sh <<-'END'
		(sleep 300 & echo $! >left; wait) &
		until [ -s left ]; do sleep 0.01; done
		kill -KILL $!
	END
	run_until log bash one.sh || fail "it ended with $?"
	within 20 is_over "$(<left)" || fail "process $(<left) is left"
}

run_tests nothing_outlives_a_run_of_all nothing_outlives_a_run_on_real_networks \
    a_test_that_passes_leaves_nothing
