# plots/ms_conns.gp -- how many buckets have more connections.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
RACKS = "services jobs"
of(i, c) = strcol("label") eq word(RACKS, i) ? column(c) : NaN
# None has no place on the axis: the curve of those begins where some are.
some(x) = x > 0 ? x : NaN
mean(i, c) = column("quantile") == 0.5 ? of(i, c) : NaN
set logscale xy
set xrange [0.8:500]
set yrange [1e-4:1.3]
set xtics (1, 2, 5, 10, 20, 50, 100, 200, 500)
set ytics ("0.01 %%" 1e-4, "0.1 %%" 1e-3, "1 %%" 1e-2, "10 %%" 0.1, "100 %%" 1)
set xlabel "connections, as sketches say"
set ylabel "buckets with more"
set key bottom left
if (tty) {
	plot for [i = 1:2] TABLE using (some(of(i, "conns_inside"))): \
	    (1 - column("quantile")) with points \
	    title word(RACKS, i) . ", in bursts", \
	    for [i = 1:2] TABLE using (some(of(i, "conns_outside"))): \
	    (1 - column("quantile")) with points \
	    title word(RACKS, i) . ", outside"
	exit
}
set label FOOT sprintf("quantiles by nearest rank, means of %d runs of two racks " \
    . "and %g s; marks above: mean within bursts", runs, run_s)
plot for [i = 1:2] TABLE using (some(of(i, "conns_inside"))): \
    (1 - column("quantile")) with lines lt i dt 11 \
    title word(RACKS, i) . ", in bursts", \
    for [i = 1:2] TABLE using (some(of(i, "conns_outside"))): \
    (1 - column("quantile")) with lines lt i dt 13 \
    title word(RACKS, i) . ", outside", \
    for [i = 1:2] TABLE using (mean(i, "burst_conns")):(1.15) \
    with points lt i pt 11 ps 0.9 notitle
