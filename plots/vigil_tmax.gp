# plots/vigil_tmax.gp -- what partial traces are worth against T_max.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
RULES = "known prefix drop"
of(r, v) = strcol("agents.partial") eq r ? col(v) : NaN
says(r) = r eq "known" ? "all known links vote" : r eq "prefix" \
    ? "links before a gap vote" : "partial traces dropped"
axis = x # as x itself is plot's
set xlabel "T_max (1/s)"
set logscale x
set xrange [0.08:130]
set yrange [0:1.05]
if (tty) {
	set ylabel "failed flows blamed right"
	plot for [r in RULES] TABLE using \
	    (column(axis)):(of(r, "vote:accuracy_failed")) \
	    with linespoints title says(r)
	exit
}
set multiplot layout 1, 2 title head
unset title
set label FOOT ""
set xtics ("0.1" 0.1, "1" 1, "10" 10, "100" 100)
set key at graph 0.02, 1 left top font tiny samplen 2
array KIND[4] = [1, 2, 3, 7]
RULE(i) = i == 4 ? "known" : word(RULES, i)
do for [q in "vote:accuracy_failed alg1:recall"] {
	blame = q eq "vote:accuracy_failed"
	n = blame ? 4 : 3
	set ylabel blame ? "failed flows that 007 blames right" \
	    : "recall of Algorithm 1"
	if (!blame) {
		unset key
		set label FOOT note
	}
	what(i) = i == 4 ? "full_trace_rate" : q
	plot for [i = 1:n] TABLE using (column(axis)): \
	        (of(RULE(i), what(i))):(of(RULE(i), what(i)."_lo")): \
	        (of(RULE(i), what(i)."_hi")) with yerrorbars lt KIND[i] \
	        notitle, \
	    for [i = 1:n] TABLE using (column(axis)): \
	        (of(RULE(i), what(i))) with linespoints lt KIND[i] \
	        lw i == 4 ? 1 : 2 title i == 4 ? "(traced in full)" : says(RULE(i))
}
unset multiplot
