# plots/vigil_fig09.gp -- per-flow accuracy against the share of one hot ToR.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
set xlabel "share of all flows that one ToR gets"
set ylabel "per-flow accuracy of 007"
set xrange [0.05:0.85]
set yrange [0:1.03]
counts = "1 5 10 15"
m = "vote:accuracy_fault"
at(k) = column("faults.count") == k + 0 ? column("traffic.hot_share") : NaN
if (tty) {
	plot for [k in counts] TABLE using (at(k)):m with linespoints \
	    title k . " failed"
	exit
}
plot for [i = 1:words(counts)] TABLE using (at(word(counts, i))):m."_p10":m."_p90" \
        with filledcurves lt i notitle, \
    for [i = 1:words(counts)] TABLE using (at(word(counts, i))):m:m."_lo":m."_hi" \
        with yerrorlines lt i \
        title word(counts, i) . (i == 1 ? " failed link" : " failed links")
