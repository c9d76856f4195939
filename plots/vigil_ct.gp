# plots/vigil_ct.gp -- coverage and accuracy against C_t.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
set xlabel "traces a host may begin in a second, C_t"
set ylabel "share"
set logscale x
set xrange [0.008:13]
set yrange [0:1.05]
if (tty) {
	plot TABLE using x:"traced_rate" with linespoints title "traced", \
	    TABLE using x:"vote:accuracy_failed" with linespoints \
	    title "blamed right"
	exit
}
array CURVE[5] = ["traced_rate", "full_trace_rate", "vote:accuracy_failed", \
    "vote:accuracy_fault", "alg1:recall"]
array NAME[5] = ["failed flows traced", "failed flows traced in full", \
    "failed flows blamed right", "traced flows a fault hit, blamed right", \
    "failed links found by Algorithm 1"]
array KIND[5] = [7, 6, look("vote"), look("vote") + N_HUES, look("alg1")]
plot for [i = 1:5] TABLE using x:CURVE[i]:CURVE[i]."_lo":CURVE[i]."_hi" \
        with yerrorbars lt KIND[i] notitle, \
    for [i = 1:5] TABLE using x:CURVE[i] with linespoints lt KIND[i] \
        title NAME[i]
