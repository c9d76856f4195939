# plots/accuracy.gp -- per-flow accuracy of 007's vote and its rivals.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The two readings of "accuracy" side by side: over the flows that 007 does not
# set aside as noise, which is the paper's, and over those that a fault hit.
# Rivals set the same flows aside.

name(a) = a eq "vote" ? "007" : a eq "cover" ? "greedy cover" : \
    a . " program"
says(m) = m eq "kept" ? "accuracy of flows that 007 keeps" \
    : "accuracy of flows that a fault hit"
load "axes.gp"

if (tty) {
	plot for [m in "kept fault"] for [a in algos] \
	    TABLE using x:a.":accuracy_".m with linespoints \
	    title name(a) . ", " . m
	exit
}
if (exists("claim_accuracy_kept")) {
	stats TABLE using "claim:accuracy_kept" nooutput
	set arrow 1 from graph 0, first STATS_max to graph 1, first STATS_max \
	    nohead lc rgb CLAIM dt (2, 4) lw 1.5 back
	aside = "dotted, by the " . claim_accuracy_kept
}
pair = "kept fault"
curves = algos
of(a, m) = a . ":accuracy_" . m
axis = x # as x itself is plot's
at(a) = column(axis)
kind(a) = look(a)
load "pair.gp"
