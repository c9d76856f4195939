# plots/ms_contention_racks.gp -- racks in order of contention: two kinds, or one.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
PLACES = "packed spread"
of(k, c) = strcol("rack.traffic.placement") eq word(PLACES, k) ? \
    column(c) : NaN
look_light(c) = ((c >> 16 & 255) + 255 * 2) / 3 << 16 | ((c >> 8 & 255) + 510) / 3 << 8 \
    | ((c & 255) + 510) / 3
# Racks by whether most of their servers compute together, some, or none.
kind(k) = column("n_job_servers") > 30 ? 2 : column("n_job_servers") > 0 ? 3 : 1
only(k, i, c) = kind(0) == i ? of(k, c) : NaN
array KIND[3] = ["services alone", "70 % of servers compute together", \
    "14 % of servers compute together"]
stats TABLE using "rank" nooutput
set xrange [0:STATS_max + 1]
set xlabel "racks, in order of their means"
set yrange [0:*]
set key top left
if (tty) {
	set ylabel "servers of 92 in a burst together, mean"
	plot for [k = 1:2] TABLE using (of(k, "rank")):(of(k, "contention_mean")) \
	    with points title word(PLACES, k)
	exit
}
unset title
set label FOOT ""
set yrange [0:4.6]
set multiplot layout 1, 2 title head
do for [k = 1:2] {
	first = 2 * k - 1; last = k + 1
	if (k == 1) {
		set ylabel "servers of 92 in a burst together"
		set label 4 "jobs packed into a fifth of the racks" \
		    at 1, 3.5 font small
	} else {
		unset ylabel
		set label 4 "as many servers with jobs in each rack" \
		    at 1, 3.5 font small
		set label FOOT sprintf("points: means of %d runs of %g s; bars: " \
		    . "10th to 90th percentile of milliseconds", runs, run_s)
	}
	plot for [i = first:last] TABLE using (of(k, "rank")): \
	        (only(k, i, "contention_mean")):(only(k, i, "contention_p10")): \
	        (only(k, i, "contention_p90")) with yerrorbars pt 0 lw 0.8 \
	        lc rgb look_light(int(word(HUES, i))) notitle, \
	    for [i = first:last] TABLE using (of(k, "rank")): \
	        (only(k, i, "contention_mean")) with points lt i ps 0.6 \
	        title KIND[i]
}
unset multiplot
