# tests/cli/lib/erspan.py -- packets, and their copies in ERSPAN II (GRE type 0x88be).
# SPDX-License-Identifier: GPL-3.0-or-later
import struct
def total(b):
    s = sum(struct.unpack('>%dH' % (len(b) // 2), b))
    while s >> 16: s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff
def ip(proto, payload, src, dst, ttl=64, ident=7):
    h = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(payload),
        ident, 0, ttl, proto, 0, bytes(src), bytes(dst))
    return h[:10] + struct.pack('>H', total(h)) + h[12:] + payload
def erspan(packet, number, switch, analyzer):
    return ip(47, struct.pack('>HHIHHI', 0x1000, 0x88be, number, 0x1000, 1, 0)
        + bytes(12) + b'\x08\0' + packet, switch, analyzer)
