#!/usr/bin/python3
# tests/cli/lib/erspan_send.py -- copies of packets, as switches send them to an analyzer.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: erspan_send.py [N]
# SYNs of N connections (50), forth and back, seen by all switches of a path of
# five, as copies in ERSPAN II to 127.0.0.1.
import socket, struct, sys
sys.dont_write_bytecode = True
from erspan import erspan, ip
def copy(switch, ttl, number, k, back):
    a, b = (10, 0, 0, 1), (10, 0, 0, 32)
    p, q = 1000 + k % 60000, 80
    if back: a, b, p, q = b, a, q, p
    tcp = struct.pack('>HHIIBBHHH', p, q, k, 0, 0x50, 2, 0, 0, 0)
    return erspan(ip(6, tcp, a, b, ttl, (9 + k) % 65536), number,
        (172, 16, 0, switch), (127, 0, 0, 1))
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 255)
# tor0, t1.0, t2.0, t1.3 and tor7 of two pods of 4 and 3.
path = [0, 8, 14, 11, 7]
number = dict.fromkeys(path, 0)
for k in range(int(sys.argv[1]) if sys.argv[1:] else 50):
    for back in (0, 1):
        for hop, s in enumerate(path[::-1] if back else path):
            raw.sendto(copy(s, 64 - hop, number[s], k, back),
                ('127.0.0.1', 0))
            number[s] += 1
