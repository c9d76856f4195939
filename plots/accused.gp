# plots/accused.gp -- precision and recall of accused links, side by side.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `shift` is added to the first axis: 1 where it counts all failed links but one.

if (!exists("shift")) shift = 0

name(a) = a eq "alg1" ? "Alg. 1, as written" : \
    a eq "alg1_removal" ? "Alg. 1, removing flows" : \
    a eq "alg1_remaining" ? "Alg. 1, 1 % of the rest" : \
    a eq "cover" ? "greedy cover" : a . " program"
set yrange [0:1.05]
axis = x
across(by) = column(axis) + by
if (tty) {
	set ylabel "precision"
	plot for [a in algos] TABLE using (across(shift)):a.":precision" \
	    with linespoints lt look(a) title name(a)
	exit
}
set bmargin 8
set multiplot layout 1, 2 title title . "\n" . paper
unset title
unset label 2
do for [m in "precision recall"] {
	set ylabel m
	if (m eq "precision") {
		unset key
	} else {
		set key at screen 0.5, 0.075 center bottom vertical Left \
		    reverse samplen 2 font tiny maxrows 2
		set label 2 note at screen 0.985,0.02 right tc rgb "#777777" \
		    font tiny
	}
	plot for [a in algos] TABLE using (across(shift)):a.":".m."_p10":a.":".m."_p90" \
	        with filledcurves lt look(a) notitle, \
	    for [a in algos] TABLE using (across(shift)):a.":".m:a.":".m."_lo":a.":".m."_hi" \
	        with yerrorlines lt look(a) title name(a)
}
unset multiplot
