#!/bin/bash
# tests/cli/trace_serve.sh -- culprit trace serve: asked while it listens.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Captures beside it, sessions, many who ask, and hostile ones are in
# tests/real/trace_serve.sh.
. tests/cli/lib/common.sh
. tests/cli/lib/analyzer.sh

a_daemon_is_asked_as_its_file_is() {
	asked '
	code 0 t counter $url custom:syns --add "tcp.flags & SYN && tcp.dst == 80"
	code 0 t get $url --json; [[ $(cat stdout) = "[]" ]]
	/usr/bin/python3 $SEND
	sleep 1.2
	code 0 t get $url; cp stdout live
	code 0 t get $url "tcp.dst == 80" -w "last == tor7" --json; cp stdout live.json
	code 0 t get $url "switch == t2.0" --count; [[ $(cat stdout) = 100 ]]
	code 0 t get $url --limit 3; [[ $(wc -l <stdout) = 4 ]]
	says "limit 3 is reached"
	within 5 bash -c "\"$CULPRIT\" trace counter $url custom:syns |
		grep -q \"custom  *50 packets\""
	code 0 t counter $url custom:syns --json; cp stdout counted
	code 0 t debug drop $url; says "^drop: 100 traces" stdout
	code 0 t debug drop $url --json; cp stdout found
	kill -TERM $serve; wait $serve
	[[ ! -s complaint ]] || fail "$(cat complaint)"
	says "^500 packets, 500 copies of 100 packets, 100 traces stored, \
0 loops, 0 drops, 0 lost in the ring$" said
	code 0 t get out/x.h5; cmp stdout live
	code 0 t get out/x.h5 "tcp.dst == 80" -w "last == tor7" --json
	cmp stdout live.json
	code 0 t counter out/x.h5 custom:syns --json; cmp stdout counted
	code 0 t debug drop out/x.h5 --json; cmp stdout found
	# Nobody answers any more.
	code 3 t get $url; says "does not answer"'
}

mistakes_are_told() {
	[[ -z $why ]] || skip "$why"
	write_spec
	run_for 2 in_net "\"\$CULPRIT\" trace serve spec.yaml -i nothere -o x.h5"
	says 'there is no nothere' stderr
	run_for 2 "$CULPRIT" trace serve spec.yaml -o x.h5 --listen 1.2.3
	says '^culprit: --listen' stderr
	run_for 2 "$CULPRIT" trace serve spec.yaml
	says 'where are traces to be' stderr
	run_for 2 "$CULPRIT" trace serve spec.yaml -o x.h5 --keep-mib 64 \
		--memory-mib 64
	says 'is not below' stderr
	mkdir -m 777 out
	chmod 711 .. .
	run_for 2 in_net "\"\$CULPRIT\" trace serve spec.yaml -i lo \
		-o out/x.h5 --control nowhere"
	says 'is no address to listen at' stderr
	run_for 2 "$CULPRIT" trace counter x.h5 custom:a --remove
	says 'take a URL' stderr
	run_for 2 "$CULPRIT" trace debug drop x.h5 --life 3s
	says 'go with --enable' stderr
}

run_tests a_daemon_is_asked_as_its_file_is mistakes_are_told
