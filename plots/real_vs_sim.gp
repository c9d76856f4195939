# plots/real_vs_sim.gp -- one spec, simulated and on real TCP.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The points of a rate stand beside each other, so that intervals can be told
# apart.
TABLE = ARG1; OUT = ARG2
load "style.gp"
# curves: a fabric, what of it, its colour and point, its place beside the rate
fabrics = "sim netns netns"
metrics = "vote:accuracy_fault vote:accuracy_fault vote:accuracy_all"
colors = "1 2 5"
points = "7 5 11"
aside(i) = word("0.93 1 1.07", i) + 0
name(i) = word("'simulator' \"kernel's TCP\" \"and lost ACKs\"", i)
at(i, metric) = strcol("fabric") eq word(fabrics, i) ? column(metric) : NaN
rate(i) = column("faults.rate") * aside(i)
set xlabel "loss of the failed link, percent"
set logscale x
set xrange [3e-4:8e-2]
set xtics ("0.05" 5e-4, "0.1" 1e-3, "0.5" 5e-3, "1" 1e-2, "5" 5e-2) font tiny
set yrange [0:1.05]
if (tty) {
	set ylabel "share of runs whose top-voted link is the failed one"
	plot for [i = 1:2] TABLE using (rate(i)):(at(i, "vote:worst_first_rate")) \
	    with points title name(i)
	exit
}
set key font tiny samplen 1.5
set multiplot layout 1, 2 title title . "\n" . paper
unset title
unset label 2
set ylabel "runs whose top-voted link is the failed one"
m = "vote:worst_first_rate"
plot for [i = 1:2] TABLE using (rate(i)):(at(i, m)):(at(i, m . "_lo")): \
    (at(i, m . "_hi")) with yerrorbars lt int(word(colors, i)) dt 1 title name(i)
set ylabel "traced flows blamed right"
set label 2 sprintf("pooled over %d runs a point, with exact 95 %% intervals", \
    runs) at screen 0.985, 0.02 right tc rgb "#777777" font tiny
set label 3 "flows that lost on their way there; and those that lost ACKs alone" \
    at screen 0.985, 0.05 right tc rgb "#777777" font tiny
m(i) = word(metrics, i)
plot for [i = 1:3] TABLE using (rate(i)):(at(i, m(i))):(at(i, m(i) . "_lo")): \
    (at(i, m(i) . "_hi")) with yerrorbars lt int(word(colors, i)) dt 1 \
    pt int(word(points, i)) title name(i)
unset multiplot
