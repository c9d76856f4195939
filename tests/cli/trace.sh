#!/bin/bash
# tests/cli/trace.sh -- culprit trace: its verbs, and files of traces.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# Five traces of tests/rigs/traces.c: a whole one, a drop, a loop, a guided probe
# there and back, one through a mux; at 1, 12, 15, 20 and 25 s of 30.
write_traces() {
	TRACES_FILE=x.h5 "$BUILD/tests/results/traces_test" >/dev/null
}

# ids ARGUMENT...: those of what `trace get` prints.
ids() {
	run_for 0 "$CULPRIT" trace get x.h5 "$@"
	[[ ! -s stderr ]] || { cat stderr; fail "words on stderr"; }
	tail -n +2 stdout | cut -f 1 | xargs
}

wrong_words_are_told() {
	run_for 2 "$CULPRIT" trace
	says 'trace what\?'
	run_for 2 "$CULPRIT" trace bless
	says_once 'there is no "trace bless"'
	run_for 2 "$CULPRIT" trace gte
	says_once 'did you mean "get"\?'
	run_for 2 "$CULPRIT" trace get
	says 'of which FILE\?'
	run_for 2 "$CULPRIT" trace show x.h5
	says 'which trace\?'
	run_for 2 "$CULPRIT" trace counter x.h5
	says 'which counter\?'
	run_for 2 "$CULPRIT" trace get x.h5 drop loop
	says '"loop" is one word too many'
	run_for 2 "$CULPRIT" trace get x.h5 --from 10s --to 10s
	says '[-]-to is not after --from'
	run_for 2 "$CULPRIT" trace get x.h5 --from 10
	says '[-]-from: "10" is no time'
	run_for 2 "$CULPRIT" trace get x.h5 --count --json
	says '[-]-count goes with neither --json nor --limit'
	run_for 2 "$CULPRIT" trace get x.h5 --count --limit 7
	says '[-]-count goes with neither --json nor --limit'
	run_for 2 "$CULPRIT" trace show x.h5 1 2
	says '"2" is one word too many'
	run_for 2 "$CULPRIT" man trace-gte
	says_once 'there is no page'
}

each_has_help_and_a_page() {
	local verbs verb n=0
	verbs=$("$CULPRIT" trace --help | sed -nE 's/^  ([a-z]+) +.*/\1/p' |
		grep -vx culprit)
	for verb in $verbs; do
		run_for 0 "$CULPRIT" trace "$verb" --help
		says "^Usage: culprit trace $verb" stdout
		says "^Examples:" stdout
		[[ $(awk 'length > 80' stdout) = "" ]] ||
			{ cat stdout; fail "$verb: long lines"; }
		run_for 0 "$CULPRIT" man "trace-$verb"
		says "^\\.Nm culprit-trace-$verb$" stdout
		n=$((n + 1))
	done
	((n >= 4)) || fail "only $n"
}

traces_are_found() {
	write_traces
	[[ $(ids) = "0 1 2 3 4" ]]
	[[ $(ids 'drop && confirmed') = 1 ]]
	[[ $(ids 'loop || probe') = "2 3" ]]
	[[ $(ids '!complete') = "1 2 3" ]]
	[[ $(ids 'path ~ "tor0 . t2 * host7"') = 0 ]]
	[[ $(ids 'switch == t1.0 && all:ip.ttl > 59') = "0 2" ]]
	[[ $(ids 'ip.dst == host7' --where 'last == tor3') = "0 4" ]]
	[[ $(ids '' -w 'latency > 50us && via == t2.1') = 3 ]]
	[[ $(ids '' -w 'age < 10s') = 4 ]]
	[[ $(ids '' --from 12s --to 20s) = "1 2" ]]
	[[ $(ids 'ip.proto == 17') = "" ]]
	run_for 0 "$CULPRIT" trace get x.h5 complete --count
	[[ $(cat stdout) = 2 ]]
	run_for 0 "$CULPRIT" trace get x.h5 --limit 2
	[[ $(wc -l <stdout) = 3 ]]
	says_once '[-]-limit 2 is reached; there are more'
}

rows_and_json_tell_the_same() {
	write_traces
	run_for 0 "$CULPRIT" trace get x.h5 confirmed
	says "^1	12.000000000	host2	40000	host6	80	6	17	SYN	control	\
suspect,confirmed	t2.0->t1.2	tor1 t1.1 t2.0$" stdout
	run_for 0 "$CULPRIT" trace get x.h5 --json
	[[ $(json stdout '[len(t["hops"]) for t in d]') = "[5, 3, 5, 3, 4]" ]]
	[[ $(json stdout 'd[1]["marks"]') = "['suspect', 'confirmed']" ]]
	[[ $(json stdout 'd[1]["lost_link"]') = "t2.0->t1.2" ]]
	[[ $(json stdout '[h["layer"] for h in d[3]["hops"]]') = "[2, 1, 0]" ]]
	run_for 0 "$CULPRIT" trace get x.h5 'ip.proto == 17' --json
	[[ $(json stdout 'd') = "[]" ]]
}

mistakes_in_expressions_are_told() {
	write_traces
	run_for 2 "$CULPRIT" trace get x.h5 'drop && confrimed'
	says_once 'column 9: "confrimed" is no field.*did you mean "confirmed"'
	run_for 2 "$CULPRIT" trace get x.h5 'last == t1.2'
	says_once 'column 1: last is a property of traces: of conditions'
	run_for 2 "$CULPRIT" trace get x.h5 -w 'last == tor9'
	says_once '[-]-where: column 9: "tor9" is no node'
}

one_trace_is_shown() {
	write_traces
	run_for 0 "$CULPRIT" trace show x.h5 3
	says '^trace 3 at 20.000000000 s' stdout
	says 'probe: a guided probe' stdout
	says '^  0 +0.000  t1.0 +- +2 +60 +0  -$' stdout
	says '^  2 +60.000  t1.0 +- +0 +58 +0  CE +60.000$' stdout
	run_for 0 "$CULPRIT" trace show x.h5 1
	says 'confirmed: a drop: it was sent again' stdout
	says 'should have gone on over t2.0->t1.2' stdout
	run_for 2 "$CULPRIT" trace show x.h5 5
	says_once 'x.h5 has 5 traces, from 0 on; there is no 5'
	run_for 2 "$CULPRIT" trace show x.h5 -- -1
	says 'ID "-1" is not a whole number'
}

counters_are_summed() {
	write_traces
	run_for 0 "$CULPRIT" trace counter x.h5 'link:tor0->t1.0'
	says 'link_packets +1200 packets' stdout
	says 'link_latency +600 round trips, p50 38.05 us, p99 608.9 us' stdout
	run_for 0 "$CULPRIT" trace counter x.h5 link:16 --from 10s --to 20s \
	    --json
	[[ $(json stdout 'd["link_packets"], d["link_latency"]["n"]') = \
	    "(400, 200)" ]]
	run_for 0 "$CULPRIT" trace counter x.h5 switch:tor0
	says 'mirror_lost +12 copies' stdout
	run_for 0 "$CULPRIT" trace counter x.h5 mux:host4
	says 'mux_latency +30 packets, p50 9.5' stdout
	run_for 0 "$CULPRIT" trace counter x.h5 custom:3
	says 'custom +66 packets' stdout
	run_for 0 "$CULPRIT" trace counter x.h5 custom:syns
	says 'custom +66 packets' stdout
	run_for 2 "$CULPRIT" trace counter x.h5 custom:fins
	says_once 'no counter of the name "fins"'
	run_for 0 "$CULPRIT" trace counter x.h5 'link:t2.0->t1.0'
	says 'link_latency +0 round trips$' stdout
	run_for 2 "$CULPRIT" trace counter x.h5 lnik:3
	says_once 'did you mean "link:"\?'
	run_for 2 "$CULPRIT" trace counter x.h5 switch:host0
	says_once 'host0 is no switch'
	run_for 2 "$CULPRIT" trace counter x.h5 'link:tor0->tor1'
	says_once 'no cable joins'
}

other_files_are_refused() {
	write_traces
	run_for 3 "$CULPRIT" trace get missing.h5
	says_once 'missing.h5: No such file'
	head -c 5000 x.h5 >cut.h5
	for verb in "get" "show" "counter"; do
		run_for 3 "$CULPRIT" trace $verb cut.h5 $(
			case $verb in
			show) echo 0 ;;
			counter) echo link:0 ;;
			esac
		)
		says_once 'cut.h5'
	done
}

expressions_are_explained() {
	write_spec
	run_for 0 "$CULPRIT" trace explain 'ip.proto == 6 && tcp.flags & SYN'
	says '^ 0  eq .* once +yes 1, no no  ; ip.proto == 6$' stdout
	says '2 of 64 steps' stdout
	says 'by headers alone' stdout
	run_for 2 "$CULPRIT" trace explain 'switch == tor0'
	says_once 'column 11: "tor0" may be a node, but of which topology'
	run_for 0 "$CULPRIT" trace explain -t spec.yaml \
	    'switch == tor0 && latency > 1ms'
	says 'a condition, for --where' stdout
	says '1 a copy' stdout
	run_for 0 "$CULPRIT" trace explain -t spec.yaml \
	    'path ~ "tor0 * tor1" || ip.proto == 6 && via == t1.0'
	says '^at most 1 test a trace, 1 a copy, 1 path over all copies$' stdout
	run_for 0 "$CULPRIT" trace explain -t spec.yaml \
	    'path ~ "tor0 *" || path ~ "tor1 *"'
	says '^at most 0 tests a trace, 0 a copy, 2 paths over all' stdout
	run_for 2 "$CULPRIT" trace explain -t vigil_fig5b 'loop'
	says_once 'did you mean "vigil_fig05b"'
}

# What was stored of a cell is enough to find its fault again.
a_cell_is_stored_and_looked_at() {
	write_spec
	run_for 2 "$CULPRIT" trace run spec.yaml
	says_once 'plane auto mirrors no packets; plane everflow does'
	only_files spec.yaml results results/out
	cat >ev.yaml <<-'END'
		figure: ev
		plane: everflow
		seed: 7
		topology: { n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2 }
		traffic: { conns: 20, packets: 50, epoch: 10 }
		noise: { rate: 0 }
		faults: { rate: 0.1 }
		algorithms: [vote]
	END
	run_for 0 "$CULPRIT" trace run ev.yaml -o x.h5
	says '^ev: [1-9][0-9]* copies of [0-9]+ packets, [0-9]+ traces stored, [1-9][0-9]* guided probes, 1 findings -> x.h5$' stdout
	cp stdout ran
	run_for 0 "$CULPRIT" trace get x.h5 --count
	says "packets, $(cat stdout) traces stored" ran
	run_for 0 "$CULPRIT" run ev.yaml --point 0 --run 0
	says 'drop: random drop ' stdout
	local link
	link=$(sed -n 's/.*drop: random drop //p' stdout)
	run_for 0 "$CULPRIT" trace debug drop x.h5 --json
	[[ $(json stdout '[(x["cause"], x["link"]) for x in d["findings"]]') = \
	    "[('random drop', '$link')]" ]]
	local row
	row=$(json stdout '"random drop  link %s  rate %.3g (%.3g to %.3g)  %.3f to %.3f s, persistent" % (*(d["findings"][0][k] for k in ("link", "rate", "lo", "hi")), *(d["findings"][0][k] / 1e9 for k in ("from_ns", "to_ns")))')
	run_for 0 "$CULPRIT" trace debug drop x.h5
	[[ $(tail -n 1 stdout) = "$row" ]] || fail "$row"
	says '^drop: [0-9]+ traces, [0-9]+ guided probes, 1 finding$' stdout
	run_for 0 "$CULPRIT" trace debug loop x.h5
	says 'probes, 0 findings$' stdout
}

run_tests wrong_words_are_told each_has_help_and_a_page traces_are_found \
    rows_and_json_tell_the_same mistakes_in_expressions_are_told \
    one_trace_is_shown counters_are_summed other_files_are_refused \
    expressions_are_explained a_cell_is_stored_and_looked_at
