#!/bin/bash
# tests/browser/live.sh -- a collector's page in a headless Chromium.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/browser/live.sh BUILD
# Collectors listen on loopback. Pictures of what was looked at are left in
# BUILD/tests/browser.
set -eu
build=$PWD/$1 tree=$PWD
# Debian's Python has Debian's h5py.
export PYTHONDONTWRITEBYTECODE=1 PATH=/usr/bin:$PATH
if ! python3 -c 'import sys; sys.path.insert(0, "tests/browser")
import browser; sys.exit(browser.find() is None)'; then
	echo "check-page SKIPPED: there is no chromium" \
	    "(on Debian: apt-get install chromium)"
	exit 0
fi
work=$(mktemp -d)
own=()
trap 'for p in "${own[@]}"; do kill "$p" || :; done; wait; rm -rf "$work"' EXIT
mkdir -p "$build/tests/browser"
cd "$work"

# Root has to say whom its servers become.
as_user=()
[[ $(id -u) != 0 ]] || as_user=(--user root)

# serve NAME OPTION...: adds NAME=URL to `pages`.
pages=()
serve() {
	local name=$1
	shift
	: >"$name.out"
	"$build/culprit" collector --listen 127.0.0.1:0 --dir "$name" \
	    "${as_user[@]}" "$@" >"$name.out" 2>"$name.err" &
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

# An hour of 48 servers, each minute of which is somebody's: a pod is down, another
# has failed, the spine has. What its agents posted is what jobs make windows of.
record_hour() {
	cat >hour.yaml <<-'END'
		figure: hour
		title: "an hour with the four patterns"
		paper: "Pingmesh (SIGCOMM'15), Figure 8"
		seed: 20150817
		plane: pingmesh
		topology: { n_pods: 6, n_tors: 2, n_t1: 2, n_t2: 4, n_hosts: 4 }
		noise: { rate: 0 }
		faults:
		  - { kind: pod_off, pods: [4], from: 590, to: 1210 }
		  - { kind: drop, at: [t1.4, t1.5], rate: 1e-2, from: 1800, to: 2400 }
		  - { kind: drop, at: [t2.0, t2.1, t2.2, t2.3], rate: 1e-2, from: 3000 }
		pingmesh:
		  duration: 3600
		  pinglist: { tor_interval_s: 10, dc_interval_s: 10 }
		algorithms: [blackhole]
	END
	"$build/culprit" record hour.yaml -o hour.h5
}

run_jobs() { # DB END_S
	"$build/culprit" jobs --continuous FOUR --db "$1" \
	    --until "$(date -u -d "@$(($2 + 601))" +%FT%TZ)" -s n_pods=6 \
	    -s n_tors=2 -s n_t1=2 -s n_t2=4 -s n_hosts=4 \
	    --service 'web=0-15;search=16-31,40'
}

# The end of the newest window: five to fifteen minutes ago, so that the next one
# is not overdue as long as this runs.
end=$((($(date +%s) + 300) / 600 * 600 - 600))
make_db hostile.db 6 4 $end hostile
cp hostile.db strict.db
sqlite3 strict.db "UPDATE meta SET value = CASE key WHEN 'yellow_us' THEN '300'
    ELSE '400' END WHERE key IN ('yellow_us', 'red_us')"
make_db large.db 100 6 $end
make_db old.db 6 6 $((end - 86400))
cat "$tree/results/sql/"schema{,_2,_3}.sql | sqlite3 empty.db
sqlite3 empty.db "PRAGMA user_version = 3; PRAGMA application_id = 1129663568"
serve FOUR --db four.db
record_hour
python3 "$tree/tests/browser/live_post.py" hour.h5 "${pages[0]#FOUR=}" \
    $((end - 3600))
run_jobs four.db $end
serve HOSTILE --db hostile.db
serve STRICT --db strict.db
serve LARGE --db large.db
serve OLD --db old.db
serve EMPTY --db empty.db
serve NONE
code=0
python3 "$tree/tests/browser/live.py" "$build/tests/browser" "${pages[@]}" ||
	code=1

# They end well, and have said nothing.
for pid in "${own[@]}"; do
	kill "$pid"
	wait "$pid" || { echo "FAIL a collector ended with $?"; code=1; }
done
own=()
cat ./*.err
[[ ! $(cat ./*.err) ]] || { echo "FAIL a collector complained"; code=1; }
exit $code
