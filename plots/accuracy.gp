# plots/accuracy.gp -- per-flow accuracy of 007's vote and its rivals.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Two readings of "accuracy": over the flows whose true culprit has a fault
# (thick), and over all flows not set aside as noise (thin; of 007 and the
# integer program only, which the others nearly coincide with).

name(a) = a eq "vote" ? "007" : a eq "cover" ? "greedy cover" : \
    a . " program"
style(a) = a eq "vote" ? 1 : a eq "cover" ? 2 : a eq "integer" ? 3 : 4

if (tty) {
	plot for [a in algos] TABLE using x:a.":accuracy_fault" \
	    with linespoints title name(a) . ", flows hit by a fault", \
	    for [a in algos] TABLE using x:a.":accuracy_kept" \
	    with linespoints title name(a) . ", all kept flows"
	exit
}
set label 4 "thick: flows hit by a fault; thin: all flows not set aside as noise" \
    at screen 0.985, 0.05 right tc rgb "#777777" font tiny
claims = exists("claim_accuracy_fault")
if (claims) set key font tiny samplen 2
if (!claims) claim_accuracy_fault = ""
if (claims) {
	stats TABLE using "claim:accuracy_fault" nooutput
	set arrow 1 from graph 0, first STATS_max to graph 1, first STATS_max \
	    nohead lc rgb CLAIM dt (2, 4) lw 1.5 back
}
both = "vote " . (strstrt(algos, "integer") ? "integer" : "cover")
plot for [a in algos] TABLE using \
        x:a.":accuracy_fault_p10":a.":accuracy_fault_p90" \
        with filledcurves lt style(a) notitle, \
    for [a in algos] TABLE using x:a.":accuracy_fault": \
        a.":accuracy_fault_lo":a.":accuracy_fault_hi" \
        with yerrorlines lt style(a) \
        title name(a), \
    for [a in both] TABLE using x:a.":accuracy_kept": \
        a.":accuracy_kept_lo":a.":accuracy_kept_hi" \
        with yerrorlines lt style(a) lw 1 \
        title name(a) . ", all kept flows", \
    for [i = 1:claims] NaN with lines lc rgb CLAIM dt (2, 4) lw 1.5 \
        title claim_accuracy_fault
