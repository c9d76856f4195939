# plots/vigil_ct.gp -- coverage and accuracy against C_t.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
load "agents.gp"
set xlabel "traces a host may begin in a second, C_t"
set ylabel "share"
set logscale x
set xrange [0.008:13]
set yrange [0:1.05]
if (tty) {
	plot TABLE using x:(traced(0)) with linespoints title "traced", \
	    TABLE using x:(hit("vote")) with linespoints title "blamed right"
	exit
}
set label 2 "over " . runs . " runs; bars: exact 95 % intervals"
set label 4 "accuracy: of traced flows hit by a fault; recall: of links with a fault" \
    at screen 0.985, 0.05 right tc rgb "#777777" font tiny
plot TABLE using x:(traced(0)) with linespoints lt 1 \
        title "failed flows traced", \
    TABLE using x:(full(0)) with linespoints lt 6 \
        title "failed flows traced in full", \
    TABLE using x:(hit("vote")) with linespoints lt 2 \
        title "failed flows blamed right", \
    TABLE using x:"vote:accuracy_fault":"vote:accuracy_fault_lo": \
        "vote:accuracy_fault_hi" with yerrorlines lt 3 \
        title "accuracy of traced flows", \
    TABLE using x:"alg1:recall":"alg1:recall_lo":"alg1:recall_hi" \
        with yerrorlines lt look("alg1") title "recall of Algorithm 1"
