# plots/everflow_key.gp -- packets that share a key, by a flow's rate.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Each packet is seen by five switches: what is no trace of its own was taken for
# another one.
TABLE = ARG1; OUT = ARG2
load "style.gp"
HOPS = 5
gbps(gap) = 1514 * 8 / (gap * 1000.0)
of(k, v) = strcol("everflow.analyzer.key") eq k ? v : NaN
taken(dummy) = 1 - HOPS * column("n_assembled") / column("n_mirrored")
set logscale x
set xrange [0.08:60]
set yrange [-0.05:1.4]
set ytics 0, 0.2, 1
set xlabel "rate of a flow (Gb/s)"
set ylabel "packets that are taken for another"
set key top left
if (tty) {
	plot for [k in "paper digest"] TABLE using \
	    (gbps(column("everflow.conn.gap"))):(of(k, taken(0))) \
	    with linespoints title k
	exit
}
note = sprintf("points: pooled over %d runs; IP IDs of a flow come again after " \
    . "65,535 packets", runs)
set label FOOT note
set label FOOT2 "equal TTLs: taken for duplicates, not for loops"
set arrow 1 from gbps(1e6 / 65535), graph 0 to gbps(1e6 / 65535), graph 1 \
    nohead lc rgb CLAIM dt (2, 3)
set label 3 "an ID comes\nagain within T" at gbps(1e6 / 65535) * 1.1, 0.15 \
    font tiny tc rgb CLAIM
plot for [i = 1:2] TABLE using (gbps(column("everflow.conn.gap"))): \
    (of(word("paper digest", i), taken(0))) with linespoints lt 3 - i \
    title i == 1 ? "key: five-tuple and IP ID (the paper's)" : \
    "key: and 8 bytes behind the ports"
