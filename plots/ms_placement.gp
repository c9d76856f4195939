# plots/ms_placement.gp -- contention and loss of racks, by where jobs are put.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A trial's racks stand in order of contention, so racks of one rank differ from
# run to run.
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
x = "rack.traffic.ml_share"
stats TABLE using "rank" nooutput
N = int(STATS_max)
# The most crowded rack, the fourth, the middle, the least.
array RANK[4] = [N, N - 3, N / 2, 1]
array SAYS[4] = ["most crowded rack", "fourth", "middle", "least crowded"]
of(i, c) = column("rank") == RANK[i] ? col(c) : NaN
set xrange [0.15:1.05]
set xtics ("20 %%" 0.2, "40 %%" 0.4, "60 %%" 0.6, "80 %%" 0.8, "100 %%" 1)
set xlabel "servers with jobs, of a rack that has any"
set yrange [0:*]
set key top left
if (tty) {
	set ylabel "servers in a burst together"
	plot for [i = 1:4] TABLE using x:(of(i, "contention_mean")) with points \
	    title SAYS[i]
	exit
}
unset title
set label FOOT ""
set multiplot layout 1, 2 title head
set yrange [0:3.3]
set ylabel "servers of 92 in a burst together"
plot for [i = 1:4] TABLE using x:(of(i, "contention_mean")): \
        (of(i, "contention_mean_lo")):(of(i, "contention_mean_hi")) \
        with yerrorbars lt i notitle, \
    for [i = 1:4] TABLE using x:(of(i, "contention_mean")) with linespoints lt i \
        title SAYS[i]
unset key
set yrange [0:*]
set ylabel "bursts that lose something, %"
y(i, e) = 100 * of(i, "lossy_burst_rate" . e)
set label FOOT sprintf("racks in order, %d runs of %d racks and %g s; bars: 95 %% " \
    . "intervals, left between runs, right exact as if bursts were independent", \
    runs, N, run_s)
plot for [i = 1:4] TABLE using x:(y(i, "")):(y(i, "_lo")):(y(i, "_hi")) \
        with yerrorbars lt i notitle, \
    for [i = 1:4] TABLE using x:(y(i, "")) with linespoints lt i
unset multiplot
