# tests/until.sh -- sourced by what runs tests: runs one, and ends it with itself.
# SPDX-License-Identifier: GPL-3.0-or-later

# run_until LOG COMMAND...: its output goes to LOG; after ten minutes it is ended,
# and so it is when this shell is told to end, which no test outlives then.
# timeout(1) hands on what it is sent to all that the command began, which is a
# group of its own: what is left of that when the command ends is ended, too.
run_until() {
	local log=$1 rc
	shift
	timeout -k 20 600 "$@" >"$log" 2>&1 &
	trap "trap - TERM INT HUP; kill -TERM $!; wait $!; exit 143" TERM INT HUP
	wait $!
	rc=$?
	kill -KILL -- -$! 2>/dev/null || :
	trap - TERM INT HUP
	return $rc
}
