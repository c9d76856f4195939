# plots/switch_votes.gp -- votes on switches and on links when switches fail.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.75
load "style.gp"
on(a) = strstrt(a, "switch") ? "votes on switches" : "votes on links"
name(a) = (strstrt(a, "vote") ? "007, " : "Algorithm 1, removing flows, ") . on(a)
set xlabel "share of its links that fail"
set xrange [0:1.03]
set xtics 0.25
set yrange [0:1.05]
if (tty) {
	set ylabel "per-flow accuracy"
	plot for [a in "vote_switch vote_link"] TABLE using \
	    "faults.share":a.":accuracy_fault" with linespoints title on(a)
	exit
}
set multiplot title head
unset title
set label FOOT ""
unset key
set tmargin at screen 0.87
set bmargin at screen 0.32
drawn(i) = i == 1 ? "vote_switch vote_link" : "alg1_switch alg1_link"
says(i) = i == 1 ? "accuracy of flows hit by a fault" \
    : word("precision recall", i - 1) . " of accused"
do for [i = 1:3] {
	q = ":" . word("accuracy_fault precision recall", i)
	set lmargin at screen i / 3.0 - 0.26
	set rmargin at screen i / 3.0 - 0.015
	set ylabel says(i) font small offset 0.5
	if (i == 3) {
		set key at screen 0.5, 0.07 center bottom vertical Left \
		    reverse samplen 3 font small maxrows 2 noopaque
		set label FOOT note
	}
	plot for [a in drawn(i)] TABLE using "faults.share":a.q:a.q."_lo": \
	        a.q."_hi" with yerrorbars lt look(a) notitle, \
	    for [a in drawn(i)] TABLE using "faults.share":a.q \
	        with linespoints lt look(a) notitle, \
	    for [a in drawn(1) . " " . drawn(2)] keyentry with linespoints \
	        lt look(a) title name(a)
}
unset multiplot
