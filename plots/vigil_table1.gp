# plots/vigil_table1.gp -- how busy switches are against failed links.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.25
load "style.gp"
array SHARE[3] = ["icmp_share_none", "icmp_share_low", "icmp_share_high"]
array NAME[3] = ["T = 0", "0 < T <= 3", "T > 3"]
set xlabel "failed links"
set ylabel "share of switch-seconds"
set xrange [-0.5:21]
set yrange [0:1.05]
if (tty) {
	plot for [i = 1:3] TABLE using x:SHARE[i] with linespoints \
	    title NAME[i]
	exit
}
note = sprintf("points: means of %d epochs with 95 %% intervals between them", \
    runs)
set label FOOT note
set rmargin at screen 0.69
set key at graph 1.03, 1 left top samplen 2
# What the paper states stands beside the axes, at its height.
do for [i = 1:3] {
	stats TABLE using "claim:" . SHARE[i] nooutput
	set arrow i from graph 0, first STATS_max to graph 1, first STATS_max \
	    nohead lc rgb CLAIM dt (2, 4) lw 1.5 back
	set label 10 + i value("claim_" . SHARE[i]) at graph 1.01, \
	    first STATS_max left tc rgb CLAIM font tiny
}
plot for [i = 1:3] TABLE using x:SHARE[i]: \
        (col(SHARE[i]."_lo")):(col(SHARE[i]."_hi")) \
        with yerrorbars lt i notitle, \
    for [i = 1:3] TABLE using x:SHARE[i] with linespoints lt i title NAME[i]
