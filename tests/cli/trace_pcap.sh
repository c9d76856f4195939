#!/bin/bash
# tests/cli/trace_pcap.sh -- culprit trace pcap: captures of copies as traces.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

(cd "$top" && "$CULPRIT" trace pcap x -t x -o x.h5 2>&1) |
	grep -q 'built without libpcap' && {
	echo "SKIP built without libpcap"
	exit 0
}

# A small network, a map of three of its switches, and captures of two SYNs of
# host 0 for host 5, whose copies come from all three; written byte by byte.
write_all() { # [SYNS]
	write_spec
	cat >switches <<-END
		# of the first pod
		tor0 = 10.1.0.1
		tor1=10.1.0.2

		t1.0=10.1.0.3   # the T1 between them
	END
	sed -i 's/ = /=/' switches
	cat >write.py <<-'END'
		import struct, sys
		from erspan import erspan, ip
		def copy(switch, ttl, number, ident, flags=2):
		    tcp = struct.pack('>HHIIBBHHH', 1234, 80, ident, 0, 0x50, flags,
		        0, 0, 0)
		    return erspan(ip(6, tcp, (10, 0, 0, 1), (10, 0, 0, 6), ttl, ident),
		        number, (10, 1, 0, switch), (10, 9, 9, 9))
		packets = []    # (ns, bytes of IP)
		for k in range(int(sys.argv[1]) if sys.argv[1:] else 2):
		    for hop, switch in enumerate((1, 3, 2)):
		        packets.append((1700000000 * 10**9 + 10**6 * k + 1000 * hop,
		            copy(switch, 64 - hop, k, 7 + k)))
		link = {'ethernet': (1, bytes(12) + b'\x08\0'),
		    'cooked': (113, bytes(14) + b'\x08\0'),
		    'cooked2': (276, b'\x08\0' + bytes(18)), 'raw': (101, b''),
		    'ieee80211': (105, bytes(24))}
		def pcap(kind, packets, magic=0xa1b23c4d, unit=1):
		    number, head = link[kind]
		    out = struct.pack('<IHHiIII', magic, 2, 4, 0, 0, 65535, number)
		    for t, b in packets:
		        b = head + b
		        out += struct.pack('<IIII', t // 10**9,
		            t % 10**9 // unit, len(b), len(b)) + b
		    return out
		def block(kind, body):
		    n = 12 + len(body)
		    return struct.pack('<II', kind, n) + body + struct.pack('<I', n)
		def pcapng(packets):
		    out = block(0x0a0d0d0a, struct.pack('<IHHq', 0x1a2b3c4d, 1, 0, -1))
		    out += block(1, struct.pack('<HHI', 1, 0, 0) +
		        struct.pack('<HHBxxxHH', 9, 1, 9, 0, 0))
		    for t, b in packets:
		        b = link['ethernet'][1] + b
		        out += block(6, struct.pack('<IIIII', 0, t >> 32, t & 0xffffffff,
		            len(b), len(b)) + b + bytes(-len(b) % 4))
		    return out
		def write(name, b):
		    open(name, 'wb').write(b)
		for kind in link:
		    write(kind + '.pcap', pcap(kind, packets))
		write('micro.pcap', pcap('raw', packets, 0xa1b2c3d4, 1000))
		write('new.pcapng', pcapng(packets))
		write('none.pcap', pcap('raw', []))
		write('back.pcap', pcap('raw', packets[3:] + packets[:3]))
		write('odd.pcap', pcap('raw', packets + [
		    (packets[0][0], ip(6, bytes(20), (1, 1, 1, 1), (2, 2, 2, 2))),
		    (packets[0][0], packets[0][1][:60]),
		    (packets[0][0], copy(99, 64, 5, 5))]))
	END
	PYTHONPATH=$tree/tests/cli/lib /usr/bin/python3 -B write.py "$@"
}

# Traces with their hops, as TIME KIND SWITCH... a line.
traces() {
	/usr/bin/python3 - "$1" <<-'END'
		import h5py, sys
		f = h5py.File(sys.argv[1])
		t, h = f['traces'], f['hops']
		for i in range(len(t['t_ns'])):
		    a = t['hop_off'][i]
		    hops = range(a, a + t['n_hops'][i])
		    print(t['t_ns'][i], t['kind'][i], t['ip_id'][i], t['n_lost'][i],
		        *(f"{h['node'][k]}:{h['ttl'][k]}" for k in hops))
	END
}

store() {
	run_for 0 "$CULPRIT" trace pcap "$1.pcap" -t spec.yaml \
	    --switches switches -o "$1.h5" -p store_all=true
}

each_link_and_format_gives_the_same_traces() {
	write_all
	store raw
	says '^raw.pcap: 6 packets, 6 copies of 2 packets, 2 traces stored' stdout
	traces raw.h5 >want
	[[ $(wc -l <want) = 2 ]]
	# tor0 is switch 0, t1.0 the first behind all ToRs.
	says '^0 0 7 0 0:64 8:63 1:62$' want
	says '^1000000 0 8 0 0:64 8:63 1:62$' want
	cp new.pcapng new.pcap
	for name in ethernet cooked cooked2 micro new; do
		store $name
		traces $name.h5 | diff want -
	done
	run_for 0 "$CULPRIT" trace pcap - -t spec.yaml --switches switches \
	    -o stdin.h5 -p store_all=true <raw.pcap
	traces stdin.h5 | diff want -
}

what_is_no_copy_is_told() {
	write_all
	store odd
	says '^odd.pcap: 9 packets, 6 copies of 2 packets' stdout
	says '^1 refused: IPv4, but not GRE$' stdout
	says '^1 refused: cut within an IP header$' stdout
	says '^1 copies come from no known switch, the first from 10.1.0.99$' stdout
	store back
	says '^3 copies are earlier than those before$' stdout
}

# More than are handed on at a time: none is lost between two lots.
a_long_capture_is_read_whole() {
	write_all 1500
	store raw
	says '^raw.pcap: 4500 packets, 4500 copies of 1500 packets, 1500 traces' \
	    stdout
	traces raw.h5 >want
	[[ $(wc -l <want) = 1500 ]]
	[[ $(awk 'NF != 7 || $4 != 0' want | wc -l) = 0 ]]
	[[ $(cut -d ' ' -f 3 want | sort -n | uniq | wc -l) = 1500 ]]
}

# All copies say link 0, which leads into tor0 alone.
an_index_that_is_no_link_of_the_switch_is_told() {
	write_all
	run_for 0 "$CULPRIT" trace pcap raw.pcap -t spec.yaml -o x.h5 \
	    --switches switches -p store_all=true --index-is-link
	says '^4 copies have an index that is no link into their switch$' stdout
	says '^raw.pcap: 6 packets, 6 copies of 2 packets, 2 traces' stdout
}

captures_that_are_none_are_refused() {
	write_all
	head -c 100 /dev/zero >zero.pcap
	: >empty.pcap
	for name in zero empty missing ieee80211; do
		run_for 3 "$CULPRIT" trace pcap $name.pcap -t spec.yaml \
		    --switches switches -o out.h5
		says_once "^culprit: $name.pcap"
	done
	says 'links of type 105 \(IEEE802_11\) are not read'
	run_for 2 "$CULPRIT" trace pcap none.pcap -t spec.yaml -o out.h5
	says 'none of 0 packets is a copy'
	run_for 2 "$CULPRIT" trace pcap odd.pcap -t spec.yaml -o out.h5
	says 'none of 9 packets is a copy'
	says '1 refused: IPv4, but not GRE'
	[[ ! -e out.h5 ]]
}

# At each byte there is an error, or all packets up to there and nothing else.
a_cut_capture_is_never_read_as_a_whole_one() {
	write_all
	local n k size
	size=$(stat -c %s raw.pcap)
	for ((n = 0; n < size; n += 37)); do
		head -c $n raw.pcap >part.pcap
		# The header is 24 bytes, each packet 16 + 90.
		k=$((n < 24 ? -1 : (n - 24) / 106))
		if (((n - 24) % 106 == 0 && k > 0)); then
			run_for 0 "$CULPRIT" trace pcap part.pcap -t spec.yaml \
			    --switches switches -o out.h5
		else
			"$CULPRIT" trace pcap part.pcap -t spec.yaml \
			    --switches switches -o out.h5 >stdout 2>stderr &&
				fail "cut at $n: no complaint"
			says '^culprit: part.pcap'
		fi
	done
	head -c 300 raw.pcap >part.pcap
	run_for 0 "$CULPRIT" trace pcap part.pcap -t spec.yaml --cut \
	    --switches switches -o out.h5
	says '^part.pcap: 2 packets' stdout
	says 'part.pcap is damaged or cut behind packet 2'
}

wrong_words_are_told() {
	write_all
	run_for 2 "$CULPRIT" trace pcap raw.pcap -o out.h5
	says '--topology SPEC'
	run_for 2 "$CULPRIT" trace pcap raw.pcap -t spec.yaml
	says '-o FILE'
	for line in tor0 tor99=10.1.0.1 host1=10.1.0.1 tor0=10.1 ''; do
		echo "$line" >bad
		run_for 2 "$CULPRIT" trace pcap raw.pcap -t spec.yaml \
		    --switches bad -o out.h5
		says '^culprit: bad'
	done
	printf 'tor0=10.1.0.1\ntor1=10.1.0.1\n' >bad
	run_for 2 "$CULPRIT" trace pcap raw.pcap -t spec.yaml --switches bad \
	    -o out.h5
	says '10.1.0.1 is given twice'
	echo precious >out.h5
	run_for 2 "$CULPRIT" trace pcap raw.pcap -t spec.yaml \
	    --switches switches -o out.h5
	[[ $(cat out.h5) = precious ]]
}

help_tells_each_key_once() {
	run_for 0 "$CULPRIT" trace pcap --help
	for key in key t_ms confirm_ms counters_s max_traces store_all; do
		[[ $(grep -c "^  $key=" stdout) = 1 ]] || fail "$key"
	done
}

run_tests each_link_and_format_gives_the_same_traces what_is_no_copy_is_told \
    a_long_capture_is_read_whole \
    an_index_that_is_no_link_of_the_switch_is_told \
    captures_that_are_none_are_refused help_tells_each_key_once \
    a_cut_capture_is_never_read_as_a_whole_one wrong_words_are_told
