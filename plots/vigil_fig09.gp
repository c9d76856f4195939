# plots/vigil_fig09.gp -- per-flow accuracy against the share of one hot ToR.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5; tall = 1.25
load "style.gp"
across = "share of all flows that one ToR gets"
set xrange [0.05:0.85]
set yrange [*<0.62:1.02]
low = 0.4
curves = "1 5 10 15"
name(k) = k . (k == 1 ? " failed link" : " failed links")
kind(k) = k == 1 ? 1 : k / 5 + 1
at(k) = column("faults.count") == k ? column("traffic.hot_share") : NaN
if (tty) {
	set xlabel across
	set ylabel "accuracy of flows kept"
	plot for [k in curves] TABLE using (at(k + 0)):"vote:accuracy_kept" \
	    with linespoints title name(k)
	exit
}
beside(v, by) = v + 0.008 * by
pair = "kept fault"
says(q) = q eq "kept" ? "accuracy of flows that 007 keeps" \
    : "accuracy of flows that a fault hit"
of(k, q) = "vote:accuracy_" . q
load "pair.gp"
