#!/bin/bash
# tests/cli/samples_pcap.sh -- culprit samples: captures, and one answer of all.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

(cd "$top" && "$CULPRIT" trace pcap x -t x -o x.h5 2>&1) |
	grep -q 'built without libpcap' && {
	echo "SKIP built without libpcap"
	exit 0
}

# 3 s of two hosts, 10.0.0.1 = fd00::1 and 10.0.0.2, with each other and with
# strangers: IPv4 and IPv6, tags, extension headers, fragments, what is sent
# again with its mark, and what is no IP. packets.json is what a bucket is to be
# made of, from what was meant, not from bytes: [t, host, out, bytes, ce, again,
# bit, ...]; bit is -1 for what is of no connection.
write_all() {
	[[ -d $top/captures ]] || make_captures
	cp "$top"/captures/* .
}

make_captures() {
	mkdir "$top/captures"
	/usr/bin/python3 - "$top/captures" <<-'END'
		import os, sys
		os.chdir(sys.argv[1])
		import json, random, struct, socket
		random.seed(20221025)
		M64 = 2**64 - 1
		def mix(x, w):
		    x = (x ^ w) * 0x9e3779b97f4a7c15 & M64
		    return x ^ x >> 32
		def end(x):
		    x = x * 0xd6e8feb86659fd93 & M64
		    x ^= x >> 32
		    return (x * 0xd6e8feb86659fd93 & M64) >> 57
		def words(a):
		    b = socket.inet_pton(socket.AF_INET6, a)
		    return struct.unpack('>QQ', b)
		def bit(here, there, proto, lport, rport):
		    ports = proto << 32 | lport << 16 | rport
		    if ':' in here:
		        x = 0
		        for w in words(here) + words(there): x = mix(x, w)
		        return end(mix(x, ports))
		    n = [struct.unpack('>I', socket.inet_aton(a))[0]
		        for a in (here, there)]
		    return end(mix(mix(0, n[0] << 32 | n[1]), ports))
		def ip4(src, dst, proto, body, ttl, tos, fragment):
		    return struct.pack('>BBHHHBBH4s4s', 0x45, tos, 20 + len(body), 7,
		        fragment, ttl, proto, 0, socket.inet_aton(src),
		        socket.inet_aton(dst)) + body
		def extensions(kinds, proto, later):
		    out = b''
		    nexts = kinds[1:] + [proto]
		    for k, n in zip(kinds, nexts):
		        if k == 44: out += struct.pack('>BBHI', n, 0, later << 3, 9)
		        elif k == 51: out += struct.pack('>BB10x', n, 1)
		        elif k == 43: out += struct.pack('>BB22x', n, 2)
		        else: out += struct.pack('>BB6x', n, 0)
		    return out
		def ip6(src, dst, proto, body, ttl, tos, kinds, later):
		    body = extensions(kinds, proto, later) + body
		    return struct.pack('>IHBB16s16s', 6 << 28 | tos << 20, len(body),
		        (kinds + [proto])[0], ttl,
		        socket.inet_pton(socket.AF_INET6, src),
		        socket.inet_pton(socket.AF_INET6, dst)) + body
		host = {'10.0.0.1': 0, 'fd00::1': 0, '10.0.0.2': 1}
		peers = {4: ['10.0.0.2', '10.9.0.1', '10.9.0.2'], 6: ['fd00::9']}
		frames, want = [], []
		t = 1700000000 * 10**9 + 123456789
		seq, sent = {}, {}
		for k in range(4000):
		    # Bursts of 12 ms every 100 ms.
		    t += random.randrange(270000 if k // 100 % 3 else 4500000)
		    v = random.choice([4, 4, 6])
		    a = '10.0.0.1' if v == 4 else 'fd00::1'
		    b = random.choice(peers[v])
		    out = random.random() < .3
		    src, dst = (a, b) if out else (b, a)
		    if random.random() < .02: src, dst = '10.9.0.1', '10.9.0.2'
		    v = 6 if ':' in src else 4
		    p = 1000 + random.randrange(8)
		    sport, dport = (p, 80) if out else (80, p)
		    key = (src, dst, sport, dport)
		    at = seq.setdefault(key, random.randrange(2**32))
		    n = random.choice([0, 100, 1000, 1400])
		    again = key in sent and random.random() < .02
		    proto, kinds, ports, later = 6, [], (sport, dport), 0
		    if v == 6: kinds = random.choice([[], [], [0], [60, 51],
		        [0, 43, 44], [60] * 6, [60] * 7])
		    shape = random.random()
		    if again:
		        number, n = sent[key]
		    elif shape < .05:
		        proto, number = 17, 0
		    elif shape < .08:
		        proto, ports, number = 132, (0, 0), 0
		    else:
		        number = at
		        seq[key] = (at + n) % 2**32
		    if proto == 6:
		        body = struct.pack('>HHIIBBHHH', *ports, number, 0, 0x50, 16,
		            9, 0, 0) + bytes(n)
		    else:
		        body = struct.pack('>HHHH', *key[2:], 8 + n, 0) + bytes(n)
		    tos = random.choice([0, 1, 2, 3, 0x28 | 3])
		    ttl = 64 | (128 if again else 0)
		    fragment = 0
		    if proto == 17 and random.random() < .5:
		        if v == 4: fragment, ports = 0x2000 | 100, (0, 0)
		        elif 44 in kinds: later, ports = 100, (0, 0)
		    if len(kinds) == 7: ports = (0, 0)
		    bitproto = 60 if len(kinds) == 7 else proto
		    if len(kinds) == 7: again = False
		    if bitproto == 60: ttl &= 127
		    ip = ip4(src, dst, proto, body, ttl, tos, fragment) if v == 4 \
		        else ip6(src, dst, proto, body, ttl, tos, kinds, later)
		    tags = random.choice([b'', b'', b'\x81\0\0\x07',
		        b'\x88\xa8\0\x05\x81\0\0\x07'])
		    frame = bytes(12) + tags + (b'\x08\0' if v == 4 else b'\x86\xdd')
		    frame += ip
		    if random.random() < .02:
		        frame = bytes(12) + b'\x08\x06' + bytes(46)
		        src = dst = ''
		    elif proto == 6 and n > 0 and len(kinds) < 7:
		        sent[key] = number, n
		    frame += bytes(max(0, 60 - len(frame)))
		    frames.append((t, frame))
		    for out, end_ in ((0, dst), (1, src)):
		        if end_ not in host: continue
		        here, there = (src, dst) if out else (dst, src)
		        lp, rp = ports if out else ports[::-1]
		        want.append([t, host[end_], out, len(frame), tos % 4 == 3,
		            bool(again), bit(here, there, bitproto, lp, rp)])
		json.dump(want, open('packets.json', 'w'))
		def pcap(magic, unit, order='<', snap=65535):
		    # Bytes would be copied as a whole for each packet.
		    out = bytearray(struct.pack(order + 'IHHiIII', magic, 2, 4, 0, 0,
		        snap, 1))
		    for t, f in frames:
		        out += struct.pack(order + 'IIII', t // 10**9,
		            t % 10**9 // unit, len(f[:snap]), len(f)) + f[:snap]
		    return out
		def block(kind, body):
		    n = 12 + len(body)
		    return struct.pack('<II', kind, n) + body + struct.pack('<I', n)
		def pcapng():
		    out = bytearray(block(0x0a0d0d0a,
		        struct.pack('<IHHq', 0x1a2b3c4d, 1, 0, -1)))
		    out += block(1, struct.pack('<HHI', 1, 0, 0) +
		        struct.pack('<HHBxxxHH', 9, 1, 9, 0, 0))
		    for t, b in frames:
		        out += block(6, struct.pack('<IIIII', 0, t >> 32,
		            t & 0xffffffff, len(b), len(b)) + b + bytes(-len(b) % 4))
		    return out
		def write(name, b):
		    open(name, 'wb').write(b)
		write('ns.pcap', pcap(0xa1b23c4d, 1))
		write('big.pcap', pcap(0xa1b23c4d, 1, '>'))
		write('us.pcap', pcap(0xa1b2c3d4, 1000))
		write('short.pcap', pcap(0xa1b23c4d, 1, snap=250))
		write('new.pcapng', pcapng())
		write('none.pcap', pcap(0xa1b23c4d, 1)[:24])
		write('cut.pcap', pcap(0xa1b23c4d, 1)[:-7])
	END
}

hosts=(--host a=10.0.0.1,fd00::1 --host 10.0.0.2)

# A table of --csv against packets.json, by division.
check_csv() {
	/usr/bin/python3 - "$@" <<-'END'
		import csv, json, math, sys
		width, aligned, unit = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
		got, starts = {}, {}
		for r in csv.DictReader(open('stdout')):
		    r = {k: int(v) for k, v in r.items()}
		    assert r['width_ns'] == width and r['rack'] == 0
		    k = r['host'], r['t_ns']
		    assert k not in got
		    got[k] = r
		start, want = {}, {}
		for t, h, out, n, ce, again, bit in json.load(open('packets.json')):
		    t -= t % unit
		    if h not in start or t >= start[h] + 2000 * width:
		        start[h] = t - t % width if aligned == 'aligned' else t
		    at = start[h] + (t - start[h]) // width * width
		    w = want.setdefault((h, at), [0] * 5 + [set()])
		    w[out] += n
		    w[2] += n if ce and not out else 0
		    w[3 + out] += n if again else 0
		    w[5].add(bit)
		assert len(want) > 300, len(want)
		for k, w in want.items():
		    r = got.pop(k)
		    have = [r[c] for c in ('in_bytes', 'out_bytes', 'in_ce',
		        'in_retx', 'out_retx')]
		    assert have == w[:5], (k, have, w)
		    mask = r['sketch_hi'] << 64 | r['sketch_lo']
		    assert mask == sum(1 << b for b in w[5]), (k, r, w)
		    z = 128 - len(w[5])
		    assert r['conns'] == round(-128 * math.log(z / 128)), k
		assert not got, list(got)[:3]
	END
}

captures_are_counted_to_the_byte() {
	write_all
	local w
	for w in 100us 1ms 10ms; do
		run_for 0 "$CULPRIT" samples export ns.pcap "${hosts[@]}" \
		    --width $w --csv
		says '^4000 packets, [0-9]+ of the hosts; sent again by mark$' \
		    stderr
		check_csv "$(($(sed 's/us/*1000/;s/ms/*1000000/' <<<"$w")))" first 1
	done
	run_for 0 "$CULPRIT" samples export ns.pcap "${hosts[@]}" --csv \
	    --start aligned
	check_csv 1000000 aligned 1
	run_for 0 "$CULPRIT" samples export us.pcap "${hosts[@]}" --csv
	check_csv 1000000 first 1000
	# By numbers the same packets are told as by their marks.
	run_for 0 "$CULPRIT" samples export ns.pcap "${hosts[@]}" --csv \
	    --retx seq
	says 'sent again by sequence numbers$' stderr
	check_csv 1000000 first 1
}

every_format_gives_the_same() {
	write_all
	run_for 0 "$CULPRIT" samples export ns.pcap "${hosts[@]}" --csv
	mv stdout want
	local f
	# 250 bytes hold all headers.
	for f in big.pcap short.pcap new.pcapng; do
		run_for 0 "$CULPRIT" samples export $f "${hosts[@]}" --csv
		diff -q stdout want
	done
	run_for 0 "$CULPRIT" samples export - "${hosts[@]}" --csv <ns.pcap
	diff -q stdout want
	run_for 3 "$CULPRIT" samples export cut.pcap "${hosts[@]}" --csv
	says 'cut.pcap is damaged or cut behind packet 3999'
	run_for 0 "$CULPRIT" samples export cut.pcap "${hosts[@]}" --csv --cut
	says 'it ends within a packet' stderr
	# The last packet is missing, of both of its ends.
	diff want stdout >differ && fail "nothing is cut"
	[[ $(wc -l <differ) -le 8 ]]
}

# Two addresses of one host: what they say to each other crossed no wire. Not all
# headers fit into 44 bytes.
what_cannot_be_counted_is_told() {
	write_all
	local within
	within=$(json packets.json 'len({x[0] for x in d if x[1] == 0} &
	    {x[0] for x in d if x[1] == 1})')
	((within > 100))
	run_for 0 "$CULPRIT" samples export ns.pcap --csv \
	    --host a=10.0.0.1,10.0.0.2
	says "^$within are of a host to itself: left out\$"
	/usr/bin/python3 - <<-'END'
		b, at, out = open('ns.pcap', 'rb').read(), 24, bytearray()
		while at < len(b):
		    n = int.from_bytes(b[at + 8:at + 12], 'little')
		    out += b[at:at + 8] + (44).to_bytes(4, 'little') + \
		        b[at + 12:at + 60]
		    at += 16 + n
		open('head.pcap', 'wb').write(b[:24] + out)
	END
	run_for 0 "$CULPRIT" samples export head.pcap "${hosts[@]}" --csv
	says '^[0-9]+ are cut within headers: connections and what is sent'
	run_for 0 "$CULPRIT" samples export short.pcap "${hosts[@]}" --csv
	! grep -q 'within headers\|itself' stderr || fail "nothing is"
}

# Each verb says the same of a host's series as a capture, as a file of samples,
# and as published JSON, to the byte.
three_formats_give_one_answer() {
	write_all
	local verb
	run_for 0 "$CULPRIT" samples export ns.pcap "${hosts[@]}" --line 40 \
	    -o json
	run_for 0 "$CULPRIT" samples import json -o x.h5
	for verb in bursts rack "cause --all" "bursts --json" "show --run 1"; do
		set -- $verb
		run_for 0 "$CULPRIT" samples "$@" ns.pcap "${hosts[@]}" \
		    --line 40
		mv stdout capture
		[[ $(wc -l <capture) -gt 1 ]]
		run_for 0 "$CULPRIT" samples "$@" x.h5
		diff capture stdout
	done
	run_for 0 "$CULPRIT" samples show ns.pcap a "${hosts[@]}" --line 40
	mv stdout capture
	run_for 0 "$CULPRIT" samples show \
	    json/rackId_0_hostId_0_run_0.txt.gz
	diff capture stdout
	run_for 0 "$CULPRIT" samples bursts ns.pcap "${hosts[@]}" --line 40
	[[ $(wc -l <stdout) -gt 20 ]]
	cut -f 12 stdout | grep -qx 1
}

# ns.pcap once more as $1, changed by a line of Python: k is a packet's number, t
# its time, f its bytes; None: it is not there.
rewrite() {
	/usr/bin/python3 - "$@" <<-'END'
		import random, struct, sys
		random.seed(1)
		b = open('ns.pcap', 'rb').read()
		at, out, k = 24, [], 0
		change = eval('lambda k, t, f: ' + sys.argv[2])
		while at < len(b):
		    s, n, c, l = struct.unpack('<IIII', b[at:at + 16])
		    got = change(k, s * 10**9 + n, b[at + 16:at + 16 + c])
		    if got: out.append(got)
		    at += 16 + c
		    k += 1
		with open(sys.argv[1], 'wb') as o:
		    o.write(b[:24])
		    for t, f in sorted(out, key=lambda x: x[0]):
		        o.write(struct.pack('<IIII', t // 10**9, t % 10**9, len(f),
		            len(f)) + f)
	END
}

# verify CODE CAPTURE OPTION...: of samples of ns.pcap.
verify() {
	local code=$1 capture=$2
	shift 2
	run_for "$code" "$CULPRIT" samples verify --pcap $capture \
	    "${hosts[@]}" "$@" ns.pcap
}

# A column of the table, summed.
sum_of() {
	awk -F'\t' -v c="$1" 'NR == 1 { for (i = 1; i <= NF; i++)
	    if ($i == c) k = i } NR > 1 { s += $k } END { print s + 0 }' stdout
}

samples_are_held_against_captures() {
	write_all
	verify 0 ns.pcap
	says '^PASS: 0 of [0-9]+ buckets' stderr
	says '^a	1	[1-9]' stdout
	[[ $(sum_of differ) = 0 && $(sum_of outside) = 0 ]]
	local buckets
	buckets=$(sum_of buckets)
	# Clocks that are read up to 4 us apart; and of TAI and UTC.
	rewrite jitter.pcap '(t + random.randrange(-4000, 4001), f)'
	verify 0 jitter.pcap
	[[ $(sum_of explained) -gt 20 && $(sum_of unexplained) = 0 ]]
	[[ $(sum_of explained) = $(sum_of differ) ]]
	verify 1 jitter.pcap --tolerance 200ns
	rewrite utc.pcap '(t - 37 * 10**9, f)'
	verify 0 utc.pcap
	says '^the samples. clock is 37 s ahead' stderr
	[[ $(sum_of buckets) = "$buckets" ]]
	rewrite odd.pcap '(t + 123456789012, f)'
	verify 2 odd.pcap
	says 'has no whole bucket of a run of ns.pcap; --ahead' stderr
	verify 0 odd.pcap --ahead -123456789012ns
	verify 0 - --ahead 0s <ns.pcap
	grep -q 'clock was set' stderr && fail "it was not"
	verify 2 - <ns.pcap
	verify 2 ns.pcap --tolerance 501us
	says 'more than half of a bucket' stderr
}

# A packet of host a to a stranger in the midst of a bucket: what is done to it is
# seen there, once, to the byte.
a_single_packet_is_missed() {
	write_all
	local k n
	read -r k n < <(/usr/bin/python3 - <<-'END'
		import json, struct
		p = json.load(open('packets.json'))
		t0 = min(x[0] for x in p if x[1] == 0)
		b = open('ns.pcap', 'rb').read()
		at, k, want = 24, 0, {}
		times = {x[0]: x for x in p if x[1] == 0 and x[2] == 1 and
		    100000 < (x[0] - t0) % 10**6 < 900000}
		both = {x[0] for x in p if x[1] == 1}
		while at < len(b):
		    s, n, c, l = struct.unpack('<IIII', b[at:at + 16])
		    t = s * 10**9 + n
		    if k > 2000 and t in times and t not in both:
		        print(k, l)
		        break
		    at += 16 + c
		    k += 1
	END
	)
	rewrite lost.pcap "k != $k and (t, f)"
	verify 1 lost.pcap
	[[ $(sum_of unexplained) = 1 && $(sum_of bytes_unexplained) -ge $n ]]
	says "FAIL: 1 of [0-9]+ buckets" stderr
	says "out_bytes, but the capture has" stderr
	rewrite longer.pcap "(t, f + bytes(k == $k))"
	verify 1 longer.pcap
	[[ $(sum_of unexplained) = 1 && $(sum_of bytes_unexplained) = 1 ]]
	rewrite late.pcap "(t + (k == $k) * 10**6, f)"
	verify 1 late.pcap
	[[ $(sum_of unexplained) = 2 ]]
	# Its clock was set back by 50 ms within: that is seen, and said.
	/usr/bin/python3 - <<-'END'
		import struct
		b = open('ns.pcap', 'rb').read()
		at, k, out = 24, 0, bytearray(b[:24])
		while at < len(b):
		    s, n, c, l = struct.unpack('<IIII', b[at:at + 16])
		    t = s * 10**9 + n - (k > 2000) * 50 * 10**6
		    out += struct.pack('<IIII', t // 10**9, t % 10**9, c, l)
		    out += b[at + 16:at + 16 + c]
		    at += 16 + c
		    k += 1
		open('set.pcap', 'wb').write(out)
	END
	verify 1 set.pcap
	says 'times go back by up to [45]' stderr
	# A capture of a part is held against that part.
	rewrite part.pcap "500 < k < 3000 and (t, f)"
	verify 0 part.pcap
	[[ $(sum_of differ) = 0 && $(sum_of buckets) -gt 500 ]]
}

wrong_words_are_told() {
	write_all
	run_for 2 "$CULPRIT" samples bursts ns.pcap
	says 'ns.pcap is a capture: --host ADDRESS'
	run_for 2 "$CULPRIT" samples bursts ns.pcap --host 10.0.0.256
	says '"10.0.0.256" is no address: write'
	run_for 2 "$CULPRIT" samples bursts ns.pcap --host 10.0.0.1,10.0.0.1
	says '10.0.0.1 is given twice'
	run_for 2 "$CULPRIT" samples bursts ns.pcap --host x=
	says 'a host needs an address'
	run_for 2 "$CULPRIT" samples bursts ns.pcap --host 1.1.1.1
	says 'none of 4000 packets is of these hosts'
	run_for 2 "$CULPRIT" samples verify ns.pcap
	says '[-]-pcap CAPTURE: against what'
	run_for 2 "$CULPRIT" samples verify --pcap ns.pcap ns.pcap a b
	says '"b" is one word too many'
	verify 2 ns.pcap --ahead soon
	says_once '[-]-ahead: "soon" is no time'
	run_for 0 "$CULPRIT" samples export ns.pcap "${hosts[@]}" -o json
	run_for 0 "$CULPRIT" samples import json -o x.h5
	run_for 2 "$CULPRIT" samples verify --pcap ns.pcap x.h5
	says_once '[-]-host ADDRESS says whose packets are compared'
	run_for 2 "$CULPRIT" samples verify --pcap ns.pcap "${hosts[@]}" x.h5 a
	says_once "a can't be all of 2 hosts: give these its names"
	run_for 2 "$CULPRIT" samples verify --pcap ns.pcap --host 10.0.0.1 x.h5
	says_once 'x.h5 has no host "10.0.0.1"'
	run_for 0 "$CULPRIT" samples verify --pcap ns.pcap \
	    --host 10.0.0.1,fd00::1 x.h5 a
	says '^PASS: 0 of [0-9]+ buckets'
	run_for 2 "$CULPRIT" samples bursts none.pcap --host 1.1.1.1
	says 'none of 0 packets'
	run_for 2 "$CULPRIT" samples bursts ns.pcap --host 10.0.0.1 --retx no
	says '"no" is none of its words'
	run_for 2 "$CULPRIT" samples bursts ns.pcap "${hosts[@]}" --width 999ns
	says 'buckets can.t be 999 ns wide'
	run_for 3 "$CULPRIT" samples bursts missing.pcap --host 10.0.0.1
}

run_tests captures_are_counted_to_the_byte every_format_gives_the_same \
    three_formats_give_one_answer samples_are_held_against_captures \
    a_single_packet_is_missed wrong_words_are_told \
    what_cannot_be_counted_is_told
