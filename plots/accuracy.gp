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
	# Curves that are equal would hide each other: they are one, with the names
	# of all.
	array VALUES[2 * words(algos)]
	array NAMES[2 * words(algos)]
	array COLUMN[2 * words(algos)]
	n = 0
	do for [m in "kept fault"] { do for [a in algos] {
		column_ = a . ":accuracy_" . m
		values = m
		stats TABLE using (values = values . " " . strcol(column_), 1) \
		    nooutput
		known = sum [i = 1:n] (VALUES[i] eq values ? i : 0)
		if (known) {
			NAMES[known] = NAMES[known] . ", " . name(a)
		} else {
			n = n + 1
			VALUES[n] = values
			NAMES[n] = m . ": " . name(a)
			COLUMN[n] = column_
		}
	} }
	set key below
	plot for [i = 1:n] TABLE using x:COLUMN[i] with linespoints pt i \
	    title NAMES[i]
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
