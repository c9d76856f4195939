# plots/sweep.gp -- any sweep: accuracy, precision and recall of each algorithm.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Drawn for figures that have no script of their own: the first axis across.
# Without an algorithm there are probes: their drop rate.
TABLE = ARG1; OUT = ARG2
load "style.gp"
set xlabel x
stats TABLE using x nooutput
if (STATS_min > 0 && STATS_max / STATS_min > 50) set logscale x
if (algos eq "") {
	set yrange [0:*]
	set ylabel "drop rate"
	plot TABLE using x:"drop_rate":"drop_rate_lo":"drop_rate_hi" \
	    with yerrorlines notitle
	exit
}
set yrange [0:1.05]
if (tty) {
	set ylabel "accuracy of flows hit by a fault"
	plot for [a in algos] TABLE using x:a.":accuracy_fault" \
	    with linespoints lt look(a) title a
	exit
}
set multiplot layout 1, 3 title title . "\n" . paper
unset title
unset label 2
do for [m in "accuracy_fault precision recall"] {
	set ylabel m
	plot for [a in algos] TABLE using x:a.":".m:a.":".m."_lo":a.":".m."_hi" \
	    with yerrorlines lt look(a) title a
}
unset multiplot
