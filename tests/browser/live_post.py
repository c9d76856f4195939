# tests/browser/live_post.py -- a recording, as its agents would have posted it.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: live_post.py RECORDING.h5 URL BEGIN_S
# The recording's time 0 is BEGIN_S, since 1970. Written from the table in
# algos/pingmesh/wire.h, not from its code.
import http.client
import struct
import sys
import urllib.parse

import h5py

HEAD, RECORD, WINDOW = "<4sHHIIQQQ", "<QQQIIHHIBBB5x", "<9Q"
recording = h5py.File(sys.argv[1])
url, begin_ns = urllib.parse.urlparse(sys.argv[2]), int(sys.argv[3]) * 10**9
server = http.client.HTTPConnection(url.hostname, url.port, timeout=60)


def address(host):
    return 0x0A000001 + host


def fnv(data):
    h = 0xCBF29CE484222325
    for x in data:
        h = (h ^ x) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def post(version, size, host, number, records):
    b = struct.pack(HEAD, b"CPMB", version, size, len(records), address(host),
                    begin_ns, number, 0) + b"".join(records)
    server.request("POST", "/results", b + struct.pack("<Q", fnv(b)))
    answer = server.getresponse()
    text = answer.read()
    assert answer.status == 200, text


def columns(group, *names):
    return zip(*(recording[group][n][:].tolist() for n in names))


by_host = {}
for sent, rtt, src, dst, sport, dport, payload, kind, level, outcome in columns(
        "probes", "sent_ns", "rtt_ns", "src_host", "dst_host", "src_port",
        "dst_port", "payload_bytes", "class", "level", "outcome"):
    by_host.setdefault(src, []).append(struct.pack(
        RECORD, begin_ns + sent, rtt, 0, address(src), address(dst), sport,
        dport, payload, kind, level - 1, outcome))  # one more in recordings
for host, records in sorted(by_host.items()):
    for i in range(0, len(records), 2048):
        post(1, 48, host, i // 2048 + 1, records[i:i + 2048])
number = {}
for host, end, n, yes, no, one, two, p50, p99 in columns(
        "counters", "host", "end_ns", "n_probes", "n_connected",
        "n_unconnected", "n_drop_1", "n_drop_2", "p50_ns", "p99_ns"):
    number[host] = number.get(host, 0) + 1
    post(2, 72, host, number[host], [struct.pack(
        WINDOW, begin_ns + end - 300 * 10**9, begin_ns + end, n, yes, no, one,
        two, p50, p99)])
print(sum(map(len, by_host.values())), "records,", sum(number.values()),
      "counters")
