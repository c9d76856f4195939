#!/bin/bash
# tests/real/trace_serve.sh -- culprit trace serve: an analyzer on an interface.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# That it is asked as its file is stands in tests/cli/trace_serve.sh.
. tests/cli/lib/common.sh
. tests/cli/lib/analyzer.sh

# Traces without their times, in an order of their own.
traces() {
	/usr/bin/python3 - "$@" <<-'END'
		import h5py, sys
		all = []
		for name in sys.argv[1:]:
		    f = h5py.File(name)
		    t, h = f['traces'], f['hops']
		    for i in range(len(t['t_ns'])):
		        a = t['hop_off'][i]
		        hops = range(a, a + t['n_hops'][i])
		        all.append(' '.join(map(str, [t['src_ip'][i],
		            t['src_port'][i], t['ip_id'][i], t['marks'][i],
		            *(f"{h['node'][k]}:{h['ttl'][k]}" for k in hops)])))
		print('\n'.join(sorted(all)))
	END
}

what_is_live_is_what_is_captured() {
	[[ -z $why ]] || skip "$why"
	command -v tcpdump >/dev/null || skip "no tcpdump"
	write_spec
	mkdir -m 777 out
	chmod 711 .. .
	in_net "
	touch said
	$start -o out/live.h5 >said &
	serve=\$!
	tcpdump -i lo -w cap.pcap -U proto 47 2>heard &
	dump=\$!
	within 10 grep -q ^listening said
	within 10 grep -q listening heard
	/usr/bin/python3 $SEND
	sleep 1
	kill -INT \$dump; wait \$dump
	kill -TERM \$serve; wait \$serve" || fail "exit $?: $(cat said)"
	says '^500 packets, 500 copies of 100 packets, 100 traces stored' said
	"$CULPRIT" trace pcap cap.pcap -t spec.yaml -o cap.h5 \
		-p store_all=true >stdout
	says '500 copies of 100 packets, 100 traces stored' stdout
	traces out/live.h5 >live
	traces cap.h5 >captured
	[[ $(wc -l <live) = 100 ]]
	cmp live captured
}

two_share_and_split_no_connection() {
	[[ -z $why ]] || skip "$why"
	write_spec
	mkdir -m 777 out
	chmod 711 .. .
	in_net "
	touch said.a said.b
	$start -g 5 -o out/a.h5 >said.a & a=\$!
	$start -g 5 -o out/b.h5 >said.b & b=\$!
	within 10 grep -q ^listening said.a
	within 10 grep -q ^listening said.b
	/usr/bin/python3 $SEND
	sleep 1
	kill -TERM \$a \$b; wait \$a && wait \$b" || fail "exit $?"
	traces out/a.h5 out/b.h5 >both
	[[ $(wc -l <both) = 100 ]]
	# Each trace is whole: none was cut in two.
	[[ $(awk 'NF == 9' both | wc -l) = 100 ]]
	[[ $(traces out/a.h5 | wc -l) -ge 20 && $(traces out/b.h5 | wc -l) -ge 20 ]]
	# Both directions of a connection are with one.
	comm -12 <(traces out/a.h5 | awk '{ print $3 }' | sort -u) \
		<(traces out/b.h5 | awk '{ print $3 }' | sort -u) | not grep -q .
}

tracing_is_admitted_refused_and_ended() {
	asked '
	code 2 t debug $url --enable host0; says "before the first counters"
	/usr/bin/python3 $SEND; sleep 2; /usr/bin/python3 $SEND
	within 5 bash -c "\"$CULPRIT\" trace debug $url --enable host0"
	code 0 t debug $url --sessions; says "\"id\": 1" stdout
	code 1 t debug $url --enable all
	says "mirror budget of a switch: .* 1 packet in [0-9]+ would fit"
	n=$(sed -E "s/.*1 packet in ([0-9]+) would.*/\1/" stderr)
	code 0 t debug $url --enable all --sample $n --filter "ip.proto == 6" \
		--life 5s
	says "\"sample\": $n" stdout
	code 0 t debug $url --disable 1
	code 2 t debug $url --disable 1; says "no session 1"
	code 2 t debug $url --enable tor0; says "is a switch"
	code 2 t debug $url --enable host0 --filter "switch == tor0"
	says "by headers alone"
	code 0 t counter $url custom:a --add ""
	code 1 t counter $url custom:a --add ""; says "there is a counter"
	code 0 t counter $url custom:a --remove
	code 2 t counter $url custom:a --remove; says "no counter"
	kill -TERM $serve; wait $serve'
}

wrong_requests_are_told_by_the_daemon() {
	asked '
	code 2 t get $url "drop && confrimed"
	says "column 9: .*did you mean .confirmed"
	code 2 t get $url "last == tor0"; says "column 1: last is a property"
	code 2 t get $url -w "last == tor99"; says "column 9"
	code 2 t get $url "(((("; says "column"
	code 2 t get $url "ip.ttl < 999"; says "column 10"
	code 2 t get $url "tcp.flags & SYNN"; says "did you mean"
	code 2 t get $url "$(printf "%5000s" x)"; says 4096
	code 2 t counter $url lnik:3; says "did you mean"
	code 2 t counter $url custom:a --add "len > 3"; says "column 1"
	code 2 t get $url/there drop; says "there is no"
	/usr/bin/python3 - $url <<-"END"
		import http.client, random, re, socket, sys
		port = int(re.search(r":(\d+)/", sys.argv[1])[1])
		def raw(b):
		    s = socket.create_connection(("127.0.0.1", port)); s.settimeout(0.1)
		    s.sendall(b); got = b""
		    try:
		        while x := s.recv(65536): got += x
		    except OSError: pass
		    s.close(); return got
		r = random.Random(1)
		good = b"GET /traces?filter=drop&format=json HTTP/1.1\r\nHost: x\r\n\r\n"
		for i in range(60):
		    b = bytearray(good)
		    for _ in range(r.randrange(1, 9)):
		        b[r.randrange(len(b))] = r.randrange(256)
		    raw(bytes(b[:r.randrange(1, len(b) + 1)]))
		long = raw(b"GET /traces?filter=" + b"x" * 40000 + b" HTTP/1.1\r\n\r\n")
		assert b" 414 " in long or b" 431 " in long or b" 400 " in long, long
		c = http.client.HTTPConnection("127.0.0.1", port)
		def ask(method, target, body=None, **headers):
		    c.request(method, target, body, headers); x = c.getresponse()
		    return x.status, x.read()
		assert ask("GET", "/health", Origin="http://e.example")[0] == 403
		assert ask("GET", "/health", Host="e.example")[0] == 403
		assert ask("POST", "/sessions", b"x")[0] == 413; c.close()
		assert ask("PUT", "/sessions")[0] == 405
		assert ask("GET", "/%2e%2e/etc/passwd")[0] == 404
		assert ask("HEAD", "/traces") == (200, b"")
		assert ask("GET", "/health")[0] == 200
	END
	kill -TERM $serve; wait $serve'
}

many_ask_at_once_and_a_slow_one_stops_nobody() {
	asked '
	/usr/bin/python3 $SEND 3000
	sleep 1.2
	code 0 t get $url; cp stdout want
	[[ $(wc -l <want) = 6001 ]]
	# Never read, until the end.
	mkfifo slow
	(exec 9<>slow; "$CULPRIT" trace get $url --json >slow) & slow=$!
	for i in 1 2 3 4 5 6; do
		"$CULPRIT" trace get $url >got.$i & pids[i]=$!
	done
	/usr/bin/python3 $SEND 50
	for i in 1 2 3 4 5 6; do
		wait ${pids[i]}
		head -n 6001 got.$i | cmp - want
	done
	code 0 t get $url "ip.proto == 17" --count; [[ $(cat stdout) = 0 ]]
	kill $slow 2>/dev/null || :
	sleep 1.2
	kill -TERM $serve; wait $serve
	says "^30500 packets, 30500 copies of .* 0 lost in the ring" said'
}

what_is_killed_while_it_answers_gave_no_whole_answer() {
	asked '
	/usr/bin/python3 $SEND 6000
	sleep 1.2
	mkfifo slow
	exec 9<>slow
	"$CULPRIT" trace get $url --json >slow 2>told 9>&- & client=$!
	sleep 0.7
	kill -9 $serve
	cat <slow >got 9>&- & reader=$!
	exec 9>&-
	got=0; wait $client || got=$?
	[[ $got = 3 ]] || fail "exit $got: $(cat told)"
	grep -q "was cut off" told
	wait $reader
	# There is no file, and none is in the way of the next one.
	[[ ! -e out/x.h5 ]]'
}

run_tests what_is_live_is_what_is_captured two_share_and_split_no_connection \
	tracing_is_admitted_refused_and_ended \
	wrong_requests_are_told_by_the_daemon \
	many_ask_at_once_and_a_slow_one_stops_nobody \
	what_is_killed_while_it_answers_gave_no_whole_answer
