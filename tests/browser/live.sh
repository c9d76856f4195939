#!/bin/bash
# tests/browser/live.sh -- a collector's page in a headless Chromium.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/browser/live.sh BUILD
# Collectors listen on loopback. Pictures of what was looked at are left in
# BUILD/tests/browser.
set -eu
build=$PWD/$1 tree=$PWD
export PYTHONDONTWRITEBYTECODE=1
if ! python3 -c 'import sys; sys.path.insert(0, "tests/browser")
import browser; sys.exit(browser.find() is None)'; then
	echo "check-page SKIPPED: there is no chromium" \
	    "(on Debian: apt-get install chromium)"
	exit 0
fi
work=$(mktemp -d)
own=()
trap 'kill "${own[@]}" 2>/dev/null || :; wait; rm -rf "$work"' EXIT
mkdir -p "$build/tests/browser"
cd "$work"

# serve NAME OPTION...: adds NAME=URL to `pages`.
pages=()
serve() {
	local name=$1
	shift
	: >"$name.out"
	"$build/culprit" collector --listen 127.0.0.1:0 --dir "$name" "$@" \
	    >"$name.out" 2>"$name.err" &
	own+=($!)
	for _ in $(seq 100); do
		grep -q '^http' "$name.out" && break
		sleep .1
	done
	pages+=("$name=$(sed 's/: .*//' "$name.out")")
}

make_db() { # OUT N_PODS N_WINDOWS END_S [hostile]
	python3 "$tree/tests/browser/live_db.py" "$tree/results/sql/schema.sql" \
	    "$@"
}

# The end of the newest window that is due: ten minutes ago, at a whole one.
end=$(($(date +%s) / 600 * 600 - 600))
make_db four.db 8 8 $end
make_db hostile.db 6 4 $end hostile
make_db large.db 100 6 $end
make_db old.db 6 6 $((end - 86400))
sqlite3 empty.db <"$tree/results/sql/schema.sql"
sqlite3 empty.db "PRAGMA user_version = 1; PRAGMA application_id = 1129663568"
serve FOUR --db four.db
serve HOSTILE --db hostile.db
serve LARGE --db large.db
serve OLD --db old.db
serve EMPTY --db empty.db
serve NONE
python3 "$tree/tests/browser/live.py" "$build/tests/browser" "${pages[@]}"
