#!/bin/bash
# tests/cli/jobs_live.sh -- culprit jobs --continuous, and what shows its database.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

lib=$tree/tests/cli/lib
export PYTHONDONTWRITEBYTECODE=1
shape=(-s n_pods=2 -s n_tors=2 -s n_t1=2 -s n_t2=2 -s n_hosts=2)
noon=1770120000 # 2026-02-03T12:00:00Z

store() { # MINUTES SLOW_US
	if "$CULPRIT" alerts nothing.db 2>&1 | grep -q 'without SQLite'; then
		skip "built without SQLite"
	fi
	mkdir -p batches
	python3 "$lib/fleet_file.py" $noon "$1" "$2" \
	    >"batches/batches-$(date -u -d @$noon +%Y%m%d)-0001.cpmb"
}

jobs() { "$CULPRIT" jobs --continuous batches --db jobs.db "${shape[@]}" "$@"; }

sql() { # STATEMENT: what it answers
	python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
for row in c.execute(sys.argv[2]):
    print(*row)
c.commit()' jobs.db "$1"
}

what_is_slow_is_an_alert_since_it_began() {
	store 65 9000
	cat >live.yaml <<-'END'
		figure: live
		plane: pingmesh
		topology: { n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2 }
		pingmesh: { sla: { min_probes: 100 } }
		runs: 1
	END
	shape=(--spec live.yaml)
	run_for 0 jobs --service 'web=4-7;db=0-3' --until 2026-02-03T14:30:00Z
	says '^104 batches, [0-9]+ windows made ' stdout
	run_for 0 "$CULPRIT" alerts jobs.db --job 1hour
	head -n 1 stdout | grep -q '^job	dc	kind	scope	scope_id	name	since	'
	says '^1hour	0	p99_us	pod	1		2026-02-03T12:00:00Z	1	' stdout
	says '^1hour	0	p99_us	service	0	web	2026-02-03T12:00' stdout
	! grep -q 'service	1' stdout || fail "db is quick"
	run_for 0 "$CULPRIT" alerts jobs.db --show all --job 10min --json
	[[ $(json stdout '[x["n_windows"] for x in d
	    if (x["scope"], x["scope_id"]) == ("pod", 1)]') = '[7]' ]]
	run_for 0 "$CULPRIT" alerts jobs.db --show services --job 10min --csv
	[[ $(grep -c ',web,' stdout) = 7 && $(grep -c ',db,' stdout) = 7 ]]
	run_for 0 "$CULPRIT" alerts jobs.db --show heat_map
	[[ $(wc -l <stdout) = 5 ]]
	for what in levels black_holes random_drops windows watchdogs http agents; do
		run_for 0 "$CULPRIT" alerts jobs.db --show $what --last 1h
	done
	run_for 0 "$CULPRIT" alerts jobs.db --show agents
	says '^10.0.0.8	0	7	2026-02-03T12:00:00Z	2026-02-03T13:04:50Z	1	13	390	0			$' stdout
	run_for 2 "$CULPRIT" alerts jobs.db --show wndows
	says 'did you mean "windows"' stderr
}

# Of a file that gets no more. What is at the end of the newest one may still come.
what_is_damaged_is_told() {
	store 10 250
	printf 'no batch of any version' >>batches/*-0001.cpmb
	run_for 0 jobs --until 2026-02-03T12:31:00Z
	[[ ! -s stderr ]]
	python3 "$lib/fleet_file.py" $((noon + 600)) 10 250 \
	    >"batches/batches-$(date -u -d @$noon +%Y%m%d)-0002.cpmb"
	for _ in 1 2; do
		run_for 0 jobs --until 2026-02-03T12:41:00Z
		says_once '^culprit: batches: 23 bytes are damaged, of a later version, or'
	done
	says '^0 batches' stdout
}

# Again and again, and not at all: nothing is made twice.
what_is_made_is_made_once() {
	store 30 250
	run_for 0 jobs --until 2026-02-03T12:31:00Z
	run_for 0 jobs --until 2026-02-03T12:31:00Z
	says '^0 batches, 0 windows made' stdout
	run_for 0 jobs --until 2026-02-03T12:41:00Z
	[[ $(sql "SELECT count(*), sum(n_records) FROM window WHERE job = '10min'
	    AND state = 'made'") = '3 1440' ]]
	run_for 2 "$CULPRIT" jobs --continuous batches --db jobs.db --once
	says 'is of another network: "n_pods=2 ' stderr
}

a_second_writer_is_refused_and_sigterm_ends_the_first() {
	store 10 250
	# Not by the function, whose shell would get the signal.
	"$CULPRIT" jobs --continuous batches --db jobs.db "${shape[@]}" \
	    >first.out 2>first.err &
	local first=$!
	until grep -q 'batches -> jobs.db' first.out; do
		kill -0 $first || fail "it has ended"
		sleep 0.1
	done
	[[ -e $BUILD/experiments/live/seccomp_none.o ]] ||
		says '^Seccomp:.2$' "/proc/$first/status"
	run_for 3 jobs --once
	says 'another process writes jobs.db' stderr
	kill -TERM $first
	wait $first || fail "it ended with $?"
}

what_is_no_such_database_is_refused() {
	store 10 250
	run_for 0 jobs --until 2026-02-03T12:31:00Z
	run_for 1 "$CULPRIT" doctor --db jobs.db
	says '^FAIL  jobs.db: sla: the last window of 10 minutes was ' stdout
	sql 'PRAGMA user_version = 99' >/dev/null
	run_for 3 "$CULPRIT" alerts jobs.db
	says 'tables of version 99' stderr
	run_for 2 jobs --once
	says 'tables of version 99' stderr
	run_for 3 "$CULPRIT" alerts nowhere.db
	[[ ! -e nowhere.db ]]
	yes 'no database' | head -c 8192 >text.db
	run_for 3 "$CULPRIT" alerts text.db
	says 'not a database' stderr
	: >empty.db
	run_for 3 "$CULPRIT" alerts empty.db
	says 'empty.db is empty: no database of windows' stderr
	run_for 1 "$CULPRIT" doctor --db empty.db
	says 'name another, or have this user allowed' stdout
	for odd in /dev/null /dev/zero batches; do
		run_for 3 "$CULPRIT" alerts $odd
		says "cannot open $odd: not a file" stderr
		run_for 3 "$CULPRIT" jobs --continuous batches --db $odd \
		    "${shape[@]}" --once
		says "cannot open $odd: not a file" stderr
	done
	run_for 2 "$CULPRIT" jobs --continuous batches
	says 'needs --db' stderr
	run_for 2 "$CULPRIT" jobs x.h5 --db jobs.db
	says 'are for --continuous' stderr
	run_for 2 jobs --window 10m
	says 'takes neither windows' stderr
	run_for 2 jobs --until tomorrow
	says 'no time as 2026-02-03T10:00:00Z' stderr
}

refuses() { # OPTION WHAT VALUE...
	for value in "${@:3}"; do
		run_for 2 jobs "$1" "$value"
		says "$1 \"$value\" is no $2\$"
	done
}

each_option_has_a_range() {
	store 1 250
	run_for 0 jobs --once --grace 1s --late 1s --poll 1s --http-p99 1us \
	    --http-failed 0
	run_for 0 jobs --once --grace 604800s --late 7d --poll 7d \
	    --http-p99 60s --http-failed 1
	refuses --grace 'time from 1s to 7d' 999ms 604801s
	refuses --http-p99 'time from 1us to 60s' 999ns 60001ms soon
	refuses --http-failed 'share in \[0, 1\]' -0.01 1.01 nan '' 0.5x
	run_for 2 jobs --late 599s --once
	says '--late is shorter than --grace'
	run_for 2 jobs --once --until 2026-02-03T12:00:00Z
	says '--once or --until, not both'
	run_for 2 "$CULPRIT" jobs --continuous a b --db jobs.db
	says '--continuous takes one folder'
	run_for 2 "$CULPRIT" alerts jobs.db --last soon
	says '--last: "soon" is no time'
}

# Ten minutes to 12:10 are due 10 minutes later, or as --grace has it, and five
# minutes, of which there are no counters here, a fifth of that later.
windows_are_made_so_long_after_their_end() {
	store 10 250
	made() { # TIME WINDOWS EMPTY OPTION...
		run_for 0 jobs --until "2026-02-03T$1Z" "${@:4}"
		says " batches, $2 windows made \\($3 empty, " stdout
	}
	made 12:06:59 0 0
	made 12:07:00 1 1
	made 12:19:59 2 2
	made 12:20:00 1 0
	rm jobs.db
	made 12:10:09 2 2 --grace 10s
	made 12:10:10 1 0 --grace 10s
	rm jobs.db
	made 12:20:00 4 3 --max-probes 479
	says ' empty, 1 too large\)' stdout
	rm jobs.db
	made 12:20:00 4 3 --max-probes 480
	says ' empty, 0 too large\)' stdout
}

# What is due is made at once, and told unless nobody wants to hear it.
a_daemon_tells_what_it_makes() {
	local quiet pid
	noon=$(($(date +%s) / 600 * 600 - 1800))
	store 10 250
	for quiet in '' --quiet; do
		# shellcheck disable=SC2086
		"$CULPRIT" jobs --continuous batches --db jobs$quiet.db \
		    "${shape[@]}" $quiet >out 2>err &
		pid=$!
		within 20 made_in jobs$quiet.db || kill -KILL $pid
		kill -TERM $pid
		wait $pid || fail "it ended with $?"
		says "^batches -> jobs$quiet.db" out
		if [[ $quiet ]]; then
			[[ ! -s err ]]
		else
			says 'culprit: 1[0-9]? batches, [0-9]+ windows made \(' err
		fi
		rm -f out err
	done
}
# A time server told all hosts a year to come, and was mended. The database that is
# made anew has both times.
jobs_that_are_years_ahead_say_so() {
	local file
	noon=$(($(date +%s) / 600 * 600 + 300000000))
	store 10 250
	file=batches/batches-$(date -u +%Y%m%d)-0002.cpmb
	run_for 0 jobs --until "$(date -u -d @$((noon + 1860)) +%FT%TZ)"
	[[ ! -s stderr ]]
	noon=$((noon - 300000000 - 1800))
	python3 "$lib/fleet_file.py" $noon 10 250 >"$file"
	run_for 0 jobs --once
	says '^[0-9]+ batches, 0 windows made' stdout
	says_once '^culprit: jobs.db: the next window begins in 347[0-9]\.[0-9] days'
	says_once 'move the database away: it is made anew of the files in batches'
	rm jobs.db
	run_for 0 jobs --once
	[[ ! -s stderr ]]
	[[ $(sql "SELECT count(*) > 0 FROM window WHERE job = '10min' AND
	    n_records > 0 AND from_ns < $noon * 1000000000 + 600000000000") = 1 ]]
}

made_in() {
	[[ -s $1 ]] && "$CULPRIT" alerts "$1" --show windows 2>/dev/null |
		grep -q 10min
}

run_tests what_is_slow_is_an_alert_since_it_began what_is_damaged_is_told \
    what_is_made_is_made_once \
    a_second_writer_is_refused_and_sigterm_ends_the_first \
    what_is_no_such_database_is_refused each_option_has_a_range \
    windows_are_made_so_long_after_their_end a_daemon_tells_what_it_makes \
    jobs_that_are_years_ahead_say_so
