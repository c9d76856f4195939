# plots/ms_diurnal.gp -- contention and loss through a day, by kind of rack.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
array KIND[3] = ["services alone", "a region: one rack of five has jobs", \
    "70 % of each rack's servers compute together"]
array SHARE[3] = [0, 0.2, 1]
of(i, c) = abs(column("rack.traffic.ml_racks") - SHARE[i]) < 1e-9 ? \
    col(c) : NaN
hour(i) = column("rack.traffic.hour") + 0.25 * (i - 2)
set xrange [0:24]
set xtics 0, 4, 24
set xlabel "hour of the day"
set yrange [0:*]
set key top left
if (tty) {
	set ylabel "servers in a burst together"
	plot for [i = 1:3] TABLE using (hour(i)):(of(i, "contention_mean")) \
	    with points title KIND[i]
	exit
}
unset title
set label FOOT ""
set multiplot layout 1, 2 title head
set ylabel "servers of 92 in a burst together"
set yrange [0:3.4]
# At 14 o'clock bursts are as many as on average.
noon(i) = column("rack.traffic.hour") == 14 ? of(i, "contention_mean") : NaN
stats TABLE using (noon(1)) nooutput
MEAN = STATS_mean
set arrow 1 from 20, graph 0 to 20, graph 0.62 nohead lc rgb "#bbbbbb" lw 1 back
set label 3 "most bursts" at 20, graph 0.66 center font tiny tc rgb "#777777"
plot for [i = 1:3] TABLE using (hour(i)):(of(i, "contention_mean")): \
        (of(i, "contention_mean_lo")):(of(i, "contention_mean_hi")) \
        with yerrorbars lt i notitle, \
    for [i = 1:3] TABLE using (hour(i)):(of(i, "contention_mean")) \
        with linespoints lt i title KIND[i], \
    MEAN * (1 + 0.4 * cos(2 * pi * (x - 20) / 24)) with lines lc rgb "#777777" \
        lw 1 dt (2, 3) title "what services are drawn by"
unset key; unset arrow 1; unset label 3
set ylabel "bursts that lose something, %"
set yrange [0:*]
y(i, e) = 100 * of(i, "lossy_burst_rate" . e)
set label FOOT sprintf("%d runs of five racks and %g s; bars: 95 %% intervals, left " \
    . "between runs, right exact as if bursts were independent", \
    runs, run_s)
plot for [i = 1:3] TABLE using (hour(i)):(y(i, "")):(y(i, "_lo")):(y(i, "_hi")) \
        with yerrorbars lt i notitle, \
    for [i = 1:3] TABLE using (hour(i)):(y(i, "")) with linespoints lt i
unset multiplot
