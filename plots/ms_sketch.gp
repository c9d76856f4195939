# plots/ms_sketch.gp -- connections as sketches tell them, and the exact law of that.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The law is what `culprit samples sketch` says, by the program that draws.
TABLE = ARG1; OUT = ARG2
load "style.gp"
LAW = pipe_from[1:strlen(pipe_from) - 6] . "samples sketch"
n = "rack.traffic.ml_conns"
m = "told_conns"
stats TABLE using (column("n_bursts") * runs) nooutput
set logscale xy
set xrange [0.8:1300]
set yrange [0.8:1300]
set xlabel "connections"
set ylabel "connections as told"
set xtics (1, 3, 10, 30, 100, 300, 1000)
set ytics (1, 3, 10, 30, 100, 300, 1000)
set key bottom right
if (tty) {
	plot TABLE using n:m with points title "measured", \
	    LAW using "conns":"mean" with lines title "law, mean"
	exit
}
FULL = 128 * log(128)
set arrow 1 from graph 0, first FULL to graph 1, first FULL nohead \
    lc rgb CLAIM dt (2, 4)
set label 3 "all bits set: 621, a lower bound" at 0.95, FULL * 1.25 \
    tc rgb CLAIM font small
note = sprintf("points: mean of %d bursts or more, bars hold 95 %% of these, rounded as " \
    . "tables are", STATS_min)
set label FOOT note
plot LAW using "conns":"lo":"hi" with filledcurves lt 6 \
        fillstyle transparent solid 0.35 title "law, 95 % of estimates", \
    LAW using "conns":"mean" with lines lt 1 dt 1 title "law, mean", \
    x with lines lc rgb "#888888" lw 1 dt (4, 4) title "as it is", \
    TABLE using n:m:m . "_low":m . "_high" with yerrorbars lt 2 notitle, \
    TABLE using n:m with points lt 2 ps 0.8 title "of bursts in racks"
