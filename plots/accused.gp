# plots/accused.gp -- precision and recall of accused links, side by side.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `shift` is added to the first axis: 1 where it counts all failed links but one.

if (!exists("shift")) shift = 0

name(a) = a eq "alg1" ? "Alg. 1, as written" : \
    a eq "alg1_removal" ? "Alg. 1, removing flows" : \
    a eq "alg1_remaining" ? "Alg. 1, 1 % of the rest" : \
    a eq "cover" ? "greedy cover" : a . " program"
says(m) = m
load "axes.gp"
set yrange [0:1.05]
low = 0
axis = x # as x itself is plot's
at(a) = column(axis) + shift
if (tty) {
	set ylabel "precision"
	plot for [a in algos] TABLE using (at(a)):a.":precision" \
	    with linespoints lt look(a) title name(a)
	exit
}
pair = "precision recall"
curves = algos
of(a, m) = a . ":" . m
kind(a) = look(a)
load "pair.gp"
