# plots/vigil_fig09.gp -- per-flow accuracy against the share of one hot ToR.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
set xlabel "share of all flows that one ToR gets"
set xrange [0.05:0.85]
set yrange [0:1.03]
counts = "1 5 10 15"
at(k) = column("faults.count") == k + 0 ? column("traffic.hot_share") : NaN
if (tty) {
	plot for [k in counts] TABLE using (at(k)):"vote:accuracy_kept" \
	    with linespoints title k . " failed"
	exit
}
set key bottom left
head = title . "\n" . paper
unset title
unset label 2
set multiplot layout 1, 2 title head
do for [q in "kept fault"] {
	m = "vote:accuracy_" . q
	set ylabel q eq "kept" ? "accuracy of flows that 007 keeps" \
	    : "accuracy of flows that a fault hit"
	if (q eq "fault") { set label 2 note at screen 0.985,0.02 right tc rgb "#777777" font tiny }
	plot for [i = 1:words(counts)] \
	        TABLE using (at(word(counts, i))):m."_p10":m."_p90" \
	        with filledcurves lt i notitle, \
	    for [i = 1:words(counts)] \
	        TABLE using (at(word(counts, i))):m:m."_lo":m."_hi" \
	        with yerrorlines lt i title word(counts, i) \
	        . (i == 1 ? " failed link" : " failed links")
}
unset multiplot
