# plots/vigil_fig04.gp -- precision and recall of accused links.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
name(a) = a eq "alg1" ? "Alg. 1, as written" : \
    a eq "alg1_removal" ? "Alg. 1, removing flows" : \
    a eq "cover" ? "greedy cover" : a
style(a) = a eq "alg1" ? 1 : a eq "alg1_removal" ? 3 : 2
set xrange [1:15]
set xtics 2
set yrange [0:1.05]
set xlabel "failed links"
if (tty) {
	set ylabel "precision"
	plot for [a in algos] TABLE using x:a.":precision" \
	    with linespoints lt style(a) title name(a)
	exit
}
set multiplot layout 1, 2 title title . "\n" . paper
unset title
unset label 2
do for [m in "precision recall"] {
	set ylabel m
	if (m eq "precision") {
		unset key
	} else {
		set key inside bottom right vertical Left reverse samplen 2 \
		    font tiny
		set label 2 note at screen 0.985,0.02 right tc rgb "#777777" \
		    font tiny
	}
	plot for [a in algos] TABLE using x:a.":".m."_p10":a.":".m."_p90" \
	        with filledcurves lt style(a) notitle, \
	    for [a in algos] TABLE using x:a.":".m:a.":".m."_lo":a.":".m."_hi" \
	        with yerrorlines lt style(a) title name(a)
}
unset multiplot
