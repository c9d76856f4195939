# plots/vigil_tmax.gp -- what partial traces are worth against T_max.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
load "agents.gp"
RULES = "known prefix drop"
rule(r) = strcol("agents.partial") eq r
text(r) = r eq "known" ? "all known links vote" : r eq "prefix" \
    ? "those before a gap vote" : "partial traces dropped"
set xlabel "T_max (1/s)"
set logscale x
set xrange [0.08:130]
set yrange [0:1.05]
if (tty) {
	set ylabel "failed flows blamed right"
	plot for [r in RULES] TABLE using x:(rule(r) ? hit("vote") : NaN) \
	    with points title text(r)
	exit
}
unset label 2
set yrange [0:1.5]
set ytics 0, 0.2, 1
set key font tiny samplen 2 top left
set multiplot layout 1, 2 title title . "\n" . paper
unset title
set ylabel "share of failed flows"
plot TABLE using x:(rule("known") ? full(0) : NaN) with linespoints lt 7 \
        title "flows traced in full", \
    for [i = 1:3] TABLE using x:(rule(word(RULES, i)) ? hit("vote") : NaN) \
        with linespoints lt i title "blamed right, partial: " . word(RULES, i)
set ylabel "recall of Algorithm 1"
plot for [i = 1:3] TABLE using x: \
        (rule(word(RULES, i)) ? column("alg1:recall") : NaN): \
        "alg1:recall_lo":"alg1:recall_hi" with yerrorlines lt i \
        title text(word(RULES, i))
unset multiplot
