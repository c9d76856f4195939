#!/bin/bash
# tests/real/trace_serve.sh -- culprit trace serve: an analyzer on an interface.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

why=
unshare -n true 2>/dev/null || why="no namespaces of networks"

# SYNs of 50 connections, forth and back, seen by all switches of a path of five,
# as copies in ERSPAN II to 127.0.0.1.
write_sender() {
	cat >send.py <<-'END'
		import socket, struct
		def total(b):
		    s = sum(struct.unpack('>%dH' % (len(b) // 2), b))
		    while s >> 16: s = (s & 0xffff) + (s >> 16)
		    return ~s & 0xffff
		def ip(proto, payload, src, dst, ttl=64, ident=7):
		    h = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(payload),
		        ident, 0, ttl, proto, 0, bytes(src), bytes(dst))
		    return h[:10] + struct.pack('>H', total(h)) + h[12:] + payload
		def copy(switch, ttl, number, k, back):
		    a, b = (10, 0, 0, 1), (10, 0, 0, 32)
		    p, q = 1000 + k, 80
		    if back: a, b, p, q = b, a, q, p
		    tcp = struct.pack('>HHIIBBHHH', p, q, k, 0, 0x50, 2, 0, 0, 0)
		    frame = bytes(12) + b'\x08\0' + ip(6, tcp, a, b, ttl, 9 + k)
		    return ip(47, struct.pack('>HHIHHI', 0x1000, 0x88be, number,
		        0x1000, 1, 0) + frame, (172, 16, 0, switch), (127, 0, 0, 1))
		raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 255)
		# tor0, t1.0, t2.0, t1.3 and tor7 of two pods of 4 and 3.
		path = [0, 8, 14, 11, 7]
		number = dict.fromkeys(path, 0)
		for k in range(50):
		    for back in (0, 1):
		        for hop, s in enumerate(path[::-1] if back else path):
		            raw.sendto(copy(s, 64 - hop, number[s], k, back),
		                ('127.0.0.1', 0))
		            number[s] += 1
	END
}

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

# in_net COMMAND...: in a network of its own that has lo alone.
in_net() {
	unshare -n bash -c "ip link set lo up || exit
$1"
}

export -f within fail
start='"$CULPRIT" trace serve spec.yaml -i lo -p store_all=true'

what_is_live_is_what_is_captured() {
	[[ -z $why ]] || skip "$why"
	command -v tcpdump >/dev/null || skip "no tcpdump"
	write_spec
	write_sender
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
	/usr/bin/python3 send.py
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
	write_sender
	mkdir -m 777 out
	chmod 711 .. .
	in_net "
	touch said.a said.b
	$start -g 5 -o out/a.h5 >said.a & a=\$!
	$start -g 5 -o out/b.h5 >said.b & b=\$!
	within 10 grep -q ^listening said.a
	within 10 grep -q ^listening said.b
	/usr/bin/python3 send.py
	sleep 1
	kill -TERM \$a \$b; wait \$a && wait \$b" || fail "exit $?"
	traces out/a.h5 out/b.h5 >both
	[[ $(wc -l <both) = 100 ]]
	# Each trace is whole: none was cut in two.
	[[ $(awk 'NF == 9' both | wc -l) = 100 ]]
	[[ $(traces out/a.h5 | wc -l) -ge 20 && $(traces out/b.h5 | wc -l) -ge 20 ]]
	# Both directions of a connection are with one.
	! comm -12 <(traces out/a.h5 | awk '{ print $3 }' | sort -u) \
		<(traces out/b.h5 | awk '{ print $3 }' | sort -u) | grep -q .
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
}

run_tests what_is_live_is_what_is_captured two_share_and_split_no_connection \
	mistakes_are_told
