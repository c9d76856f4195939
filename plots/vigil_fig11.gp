# plots/vigil_fig11.gp -- accused links by class of the failed link.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
set xlabel "class of the failed link"
set xrange [-0.5:5.5]
set yrange [0:1.05]
set xtics ("host-tor" 0, "tor-t1" 1, "t1-t2" 2, "t2-t1" 3, "t1-tor" 4, \
    "tor-host" 5) font small
if (tty) {
	set ylabel "precision, recall of alg1"
	plot for [m in "precision recall"] TABLE using 0:"alg1:".m \
	    with linespoints title m
	exit
}
name(a) = a eq "alg1" ? "Alg. 1, as written" : \
    a eq "alg1_removal" ? "Alg. 1, removing flows" : a . " program"
n = words(algos)
set bmargin 7
set multiplot layout 1, 2 title head
unset title
set label FOOT ""
unset key
do for [m in "precision recall"] {
	set ylabel m
	if (m eq "recall") {
		set key at screen 0.5, 0.06 center bottom vertical Left \
		    reverse samplen 2 font small maxrows 1
		set label FOOT note
	}
	plot for [i = 1:n] TABLE using ($0 + 0.16 * (i - (n + 1) / 2.0)): \
	    word(algos, i).":".m:word(algos, i).":".m."_lo": \
	    word(algos, i).":".m."_hi" with yerrorbars \
	    lt look(word(algos, i)) title name(word(algos, i))
}
unset multiplot
