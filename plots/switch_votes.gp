# plots/switch_votes.gp -- votes on switches and on links when switches fail.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
name(a) = a eq "vote_switch" || a eq "alg1_switch" ? "votes on switches" \
    : "votes on links"
set xlabel "share of its links that fail"
set xrange [0:1.03]
set xtics 0.25
set yrange [0:1.05]
if (tty) {
	set ylabel "per-flow accuracy"
	plot for [a in "vote_switch vote_link"] TABLE using \
	    "faults.share":a.":accuracy_fault" with linespoints title name(a)
	exit
}
set multiplot layout 1, 2 title title . "\n" . paper
unset title
unset label 2
note = sprintf("points: pooled over %d runs with exact 95 %% intervals", runs)
set key font tiny samplen 2
set ylabel "accuracy of flows hit by a fault"
plot for [a in "vote_switch vote_link"] TABLE using \
        "faults.share":a.":accuracy_fault":a.":accuracy_fault_lo": \
        a.":accuracy_fault_hi" with yerrorlines lt look(a) title name(a)
set label 2 note at screen 0.985,0.02 right tc rgb "#777777" font tiny
set label 3 "thick: precision; thin: recall; of Alg. 1, removing flows" \
    at screen 0.985, 0.05 right tc rgb "#777777" font tiny
set ylabel "precision, recall"
plot for [a in "alg1_switch alg1_link"] TABLE using \
        "faults.share":a.":precision":a.":precision_lo":a.":precision_hi" \
        with yerrorlines lt look(a) title name(a), \
    for [a in "alg1_switch alg1_link"] TABLE using \
        "faults.share":a.":recall":a.":recall_lo":a.":recall_hi" \
        with yerrorlines lt look(a) lw 1 pt 4 + 2 * (a eq "alg1_switch") notitle
unset multiplot
