# plots/vigil_compat.gp -- the released simulator's rules and the text's model.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Full lines are the model of the text (plane exact), dashed ones the rules of
# the released code.
TABLE = ARG1; OUT = ARG2
wide = 2
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
says(q) = q eq "accuracy_released" ? "per-flow accuracy, the code's measure" \
    : q . " of accused links"
drawn(q) = q eq "accuracy_released" ? "vote vote_matlab integer" \
    : "alg1 integer"
name(a) = a eq "vote" ? "007" : a eq "vote_matlab" ? "007, as in its code" \
    : a eq "integer" ? "integer program" : "Algorithm 1"
dash(p) = p eq "exact" ? 11 : 12
beside(p) = column("faults.count") + (p eq "exact" ? -0.12 : 0.12)

set xrange [0.3:14.7]
set xtics 2, 2, 14
set multiplot title head
unset title
set label FOOT ""
unset key
set tmargin at screen 0.87
set bmargin at screen 0.3
do for [i = 1:3] {
	q = word("accuracy_released precision recall", i)
	set lmargin at screen i / 3.0 - 0.265
	set rmargin at screen i / 3.0 - 0.015
	set ylabel says(q) font small offset 0.5
	set yrange [(i == 1 ? 0.9 : 0):(i == 1 ? 1.003 : 1.03)]
	if (i == 3) {
		set key at screen 0.5, 0.07 center bottom vertical Left \
		    reverse samplen 3 font small maxrows 2 noopaque
		set label FOOT note
	}
	plot for [p in planes] for [a in drawn(q)] TABLE using \
	        (beside(p)):(at(p, a.":".q)):(at(p, a.":".q."_lo")): \
	        (at(p, a.":".q."_hi")) with yerrorbars lt look(a) \
	        notitle, \
	    for [p in planes] for [a in drawn(q)] TABLE using \
	        (beside(p)):(at(p, a.":".q)) with lines lt look(a) lw 1.5 \
	        dt dash(p) notitle, \
	    for [a in "vote vote_matlab integer alg1"] keyentry with points \
	        lt look(a) title name(a), \
	    for [p in planes] keyentry with lines lt 7 dt dash(p) \
	        title p eq "exact" ? "the text's model" : "the code's rules"
}
unset multiplot
