# plots/ms_contention_time.gp -- two seconds of racks, millisecond by millisecond.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
RACKS = "services jobs"
of(i, c) = strcol("label") eq word(RACKS, i) ? column(c) : NaN
array SAYS[2] = ["services: each server by a clock of its own", \
    "jobs: 70 % of the servers, at barriers"]
stats TABLE using "t_ms" nooutput
END = (STATS_max + 1) / 1000
set xrange [0:END]
set yrange [0:*]
set ylabel "servers of 92"
if (tty) {
	set xlabel "s"
	plot for [i = 1:2] TABLE using (column("t_ms") / 1000): \
	    (of(i, "contention")) with points title word(RACKS, i)
	exit
}
unset title
unset key
set label FOOT ""
set multiplot title head
set lmargin at screen 0.08
stats TABLE using "contention" nooutput
set yrange [0:STATS_max * 1.15]
do for [i = 1:2] {
	if (i == 1) {
		set tmargin at screen 0.86; set bmargin at screen 0.53
		set format x ""
	} else {
		set tmargin at screen 0.48; set bmargin at screen 0.15
		set format x "%h"
		set xlabel "s" offset 0, 0.4
		set label FOOT "in a burst in a bucket of 1 ms; line: mean; " \
		    . "shaded: 10th to 90th percentile"
	}
	stats TABLE using (of(i, "contention")) nooutput
	stats TABLE using (of(i, "contention_mean")) nooutput name "MEAN"
	stats TABLE using (of(i, "contention_p10")) nooutput name "LOW"
	stats TABLE using (of(i, "contention_p90")) nooutput name "HIGH"
	set object 1 rectangle from 0, LOW_min to END, HIGH_min behind \
	    fc rgb "#dddddd" fs solid 1 noborder
	set arrow 1 from 0, MEAN_min to END, MEAN_min nohead lc rgb "#777777" \
	    lw 1 front
	set label 3 SAYS[i] at graph 0.99, 0.93 right font small
	plot TABLE using (column("t_ms") / 1000):(of(i, "contention")) \
	    with steps lt i dt 11 lw 1
}
unset multiplot
