# plots/ms_loss_incast.gp -- incasts: what is dropped, and from where on.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Windows are the first of a connection, in segments. Marks stand where all of
# them are more than the queue may hold: a dynamic threshold leaves alpha /
# (1 + alpha) of the shared buffer to one queue.
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
SEGMENT = 1500
ROOM = 1.0 / (1 + 1) * 3.6e6
WINDOWS = "10 1"
of(i, c) = column("rack.window") == word(WINDOWS, i) + 0 ? col(c) : NaN
y(i, m, e) = 100 * of(i, m . e)
says(i) = "window " . word(WINDOWS, i)
set logscale x
set xrange [8:2500]
set xtics (10, 20, 50, 100, 200, 500, 1000, "" 2000)
set yrange [0:104]
set xlabel "connections of an incast"
set key top left
if (tty) {
	set ylabel "bytes dropped, %"
	plot for [i = 1:2] TABLE using "rack.traffic.conns_min": \
	    (y(i, "buffer_loss", "")) with points title says(i)
	exit
}
unset title
set label FOOT ""
do for [i = 1:2] {
	at = ROOM / SEGMENT / word(WINDOWS, i)
	set arrow i from at, graph 0 to at, graph 1 nohead back dt (3, 3) lw 1.2 \
	    lc rgb int(word(HUES, i))
}
set multiplot layout 1, 2 title head
set ylabel "bursts that lose something, %"
plot for [i = 1:2] TABLE using "rack.traffic.conns_min": \
        (y(i, "lossy_burst_rate", "")):(y(i, "lossy_burst_rate", "_lo")): \
        (y(i, "lossy_burst_rate", "_hi")) with yerrorbars lt i notitle, \
    for [i = 1:2] TABLE using "rack.traffic.conns_min": \
        (y(i, "lossy_burst_rate", "")) with linespoints lt i title says(i)
unset key
set ylabel "bytes that full buffers drop, %"
set yrange [0:60]
set label 4 "dotted: connections x window\n= what a queue may hold" \
    at graph 0.03, 0.95 font tiny tc rgb "#777777"
set label FOOT sprintf("%d runs of 8 servers and %g s; bars: 95 %% intervals, left " \
    . "exact as if bursts were independent, right between runs", runs, run_s)
plot for [i = 1:2] TABLE using "rack.traffic.conns_min": \
        (y(i, "buffer_loss", "")):(y(i, "buffer_loss", "_lo")): \
        (y(i, "buffer_loss", "_hi")) with yerrorbars lt i notitle, \
    for [i = 1:2] TABLE using "rack.traffic.conns_min": \
        (y(i, "buffer_loss", "")) with linespoints lt i title says(i)
unset multiplot
