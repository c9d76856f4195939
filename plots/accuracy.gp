# plots/accuracy.gp -- per-flow accuracy of 007's vote and its rivals.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The two readings of "accuracy" side by side: over the flows that 007 does not
# set aside as noise, which is the paper's, and over those that a fault hit.
# Rivals set the same flows aside.

name(a) = a eq "vote" ? "007" : a eq "cover" ? "greedy cover" : \
    a . " program"
reading(m) = m eq "kept" ? "accuracy of flows that 007 keeps" \
    : "accuracy of flows that a fault hit"

if (tty) {
	plot for [m in "kept fault"] for [a in algos] \
	    TABLE using x:a.":accuracy_".m with linespoints \
	    title name(a) . ", " . m
	exit
}
claims = exists("claim_accuracy_kept")
if (claims) {
	stats TABLE using "claim:accuracy_kept" nooutput
	set arrow 1 from graph 0, first STATS_max to graph 1, first STATS_max \
	    nohead lc rgb CLAIM dt (2, 4) lw 1.5 back
	set label 3 "dotted: " . claim_accuracy_kept at screen 0.015,0.02 left \
	    tc rgb CLAIM font tiny
}
head = title . "\n" . paper
unset title
unset label 2
set multiplot layout 1, 2 title head
do for [m in "kept fault"] {
	set ylabel reading(m)
	q = ":accuracy_" . m
	if (m eq "fault") { set label 2 note at screen 0.985,0.02 right tc rgb "#777777" font tiny }
	plot for [a in algos] TABLE using x:a.q."_p10":a.q."_p90" \
	        with filledcurves lt look(a) notitle, \
	    for [a in algos] TABLE using x:a.q:a.q."_lo":a.q."_hi" \
	        with yerrorlines lt look(a) title name(a)
}
unset multiplot
