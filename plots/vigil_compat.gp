# plots/vigil_compat.gp -- the released simulator's rules and the text's model.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# One colour a curve; full lines are the model of the text (plane exact), dashed
# ones with open points the rules of the released code.
TABLE = ARG1; OUT = ARG2
load "style.gp"
planes = "exact vigil_matlab"
at(p, metric) = strcol("plane") eq p ? column(metric) : NaN
set xlabel "failed links"
if (tty) {
	set ylabel "per-flow accuracy, the code's measure"
	plot for [p in planes] TABLE using \
	    "faults.count":(at(p, "vote:accuracy_released")) \
	    with linespoints title "007, plane " . p
	exit
}
a_curves = "vote:accuracy_released vote_matlab:accuracy_released " \
    . "integer:accuracy_released"
a_titles = "'007' '007, blame as in its code' 'integer program'"
a_colors = sprintf("%d %d %d", look("vote"), look("vote_matlab"), \
    look("integer"))
a_points = "7 13 5"
b_curves = "alg1:precision alg1:recall integer:precision integer:recall"
b_titles = "'Alg. 1, precision' 'Alg. 1, recall' " \
    . "'integer, precision' 'integer, recall'"
b_colors = sprintf("%d %d %d %d", look("alg1"), look("alg1") + N_HUES, \
    look("integer"), look("integer") + N_HUES)
b_points = "7 9 11 5"
open(p) = p eq "exact" ? 0 : 1
dash(p) = p eq "exact" ? 1 : 2

set xrange [0:15]
set xtics 2
set key font tiny samplen 1.5 width -6
note = sprintf("points: pooled over %d runs with exact 95 %% intervals", runs)
set multiplot layout 1, 2 title title . "\n" . paper
unset title
unset label 2
do for [panel in "a b"] {
	curves = value(panel . "_curves")
	titles = value(panel . "_titles")
	colors = value(panel . "_colors")
	points = value(panel . "_points")
	if (panel eq "a") {
		set ylabel "per-flow accuracy, the code's measure"
		set yrange [0.86:1]
		set label 3 "full: the text's model; dashed: the code's rules" \
		    at screen 0.985, 0.05 right tc rgb "#777777" font tiny
	} else {
		set ylabel "share of links"
		set yrange [0:1.05]
		set key at graph 1, 0.26 right top width 0
		set label 2 note at screen 0.985, 0.02 right tc rgb "#777777" \
		    font tiny
		unset label 3
	}
	plot for [p in planes] for [i = 1:words(curves)] TABLE using \
	        "faults.count":(at(p, word(curves, i))) with lines lw 2 \
	        lt int(word(colors, i)) dt dash(p) notitle, \
	    for [p in planes] for [i = 1:words(curves)] TABLE using \
	        "faults.count":(at(p, word(curves, i))): \
	        (at(p, word(curves, i) . "_lo")): \
	        (at(p, word(curves, i) . "_hi")) with yerrorbars \
	        lt int(word(colors, i)) dt 1 \
	        pt int(word(points, i)) - open(p) \
	        title open(p) ? "" : word(titles, i)
}
unset multiplot
