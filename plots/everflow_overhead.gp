# plots/everflow_overhead.gp -- what mirroring adds, by rule, and closed forms.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
tall = 1.1
load "style.gp"
# Bytes of frames: SYN, bare ACK or FIN, data; a copy is cut to 128, in 50 more.
SYN = 74; ACK = 66; DATA = 1514
copy(n) = (n < 128 ? n : 128) + 50
acks(p) = ceil(p / 2.0)
# A connection: two SYNs, ACK, data, their ACKs, FINs. The SYN-ACK has IP ID 0,
# which no pattern is, so of samples it is only in that of all packets.
flow(p) = 2 * SYN + p * DATA + (acks(p) + 3) * ACK
control(p) = (2 * copy(SYN) + 2 * copy(ACK)) / (1.0 * flow(p))
sampled(n, p) = ((n > 1 ? 1 : 2) * copy(SYN) + p * copy(DATA) \
    + (acks(p) + 3) * copy(ACK)) / (1.0 * n * flow(p))
N = "everflow.sample_n"; P = "traffic.packets"
of(rule, y) = strcol("everflow.rules") eq "[" . rule . "]" ? y : NaN
share(rule, tail) = of(rule, column("mirror_bytes" . tail) \
    / column("traffic_bytes"))
set xlabel "samples: one packet in N"
set x2label "SYN and FIN: data packets of a connection"
set ylabel "bytes of copies / bytes into switches"
set logscale xyx2
set xrange [0.7:1500]
set x2range [0.7:1500]
set yrange [5e-5:1]
set xtics nomirror (1, 4, 16, 64, 256, 1024)
set x2tics (1, 3, 10, 30, 100, 300)
set ytics ("0.01 %%" 1e-4, "0.1 %%" 1e-3, "1 %%" 1e-2, "10 %%" 1e-1, "100 %%" 1)
set key bottom left
if (tty) {
	plot TABLE using N:(share("sample", "")) with points title "samples", \
	    TABLE using P:(share("control", "")) axes x2y1 with points \
	        title "SYN, FIN"
	exit
}
set label FOOT sprintf("points: %d runs; lines: closed forms", runs)
set samples 400
within(x, most, y) = x >= 1 && x <= most ? y : NaN
plot within(x, 1024, sampled(x, 100)) with lines lt 1 lw 1 notitle, \
    within(x, 300, control(x)) axes x2y1 with lines lt 2 lw 1 notitle, \
    TABLE using N:(share("sample", "")) with points lt 1 \
        title "samples by the IP ID, 100 packets a connection", \
    TABLE using P:(share("control", "")) axes x2y1 with points lt 2 \
        title "SYN and FIN of each connection (axis above)"
