# plots/vigil_sec67.gp -- accuracy and accused links against pods.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 2
load "style.gp"
set xlabel "pods"
set xrange [0.5:8.5]
set xtics 1
# What the paper states, as we remember it: pods, 007, the integer program.
$PAPER << END
pods	007	integer
1	0.98	0.94
2	0.92	0.72
3	0.91	0.79
4	0.90	0.77
END
at(k) = column("faults.count") == k ? column("topology.n_pods") : NaN
if (tty) {
	set yrange [0:1.05]
	plot for [k in "1 30"] TABLE using (at(k + 0)):"vote:accuracy_kept" \
	    with linespoints title "007, " . k . " failed links"
	exit
}
name(a) = a eq "vote" ? "007" : "integer program"
kind(a, k) = look(a) + (k eq "1" ? 0 : N_HUES)
dash(m) = m eq "precision" ? 11 : 12
set multiplot title head
unset title
set label FOOT ""
set tmargin at screen 0.87
set bmargin at screen 0.34
set key center bottom vertical Left reverse samplen 3 font tiny maxrows 3 \
    noopaque
set yrange [*<0.7:1.01]
do for [p = 1:2] {
	q = word("kept fault", p)
	set lmargin at screen p / 3.0 - 0.265
	set rmargin at screen p / 3.0 - 0.015
	set key at screen 0.35, 0.06
	if (p == 1) { unset key }
	m = ":accuracy_" . q
	set ylabel (q eq "kept" ? "accuracy of flows that 007 keeps" \
	    : "accuracy of flows that a fault hit") font small offset 0.5
	plot for [k in "1 30"] for [a in "vote integer"] TABLE using \
	        (at(k + 0)):a.m:a.m."_lo":a.m."_hi" with yerrorbars \
	        lt kind(a, k) notitle, \
	    for [k in "1 30"] for [a in "vote integer"] TABLE using \
	        (at(k + 0)):a.m with linespoints lt kind(a, k) \
	        title name(a) . ", " . k . " failed", \
	    for [i = 2:3] $PAPER using 1:i with points pt (i == 2 ? 6 : 8) \
	        ps 0.9 lw 1 lc rgb CLAIM title (i == 2 ? "paper, 007" \
	        : "paper, integer program") . ", 1 failed (unconfirmed)"
}
set lmargin at screen 0.735
set rmargin at screen 0.985
set key at screen 0.84, 0.06 maxrows 2
set label FOOT note
set ylabel "Algorithm 1, removing flows"
set yrange [0:1.05]
A = "alg1_removal"
plot for [k in "1 30"] for [m in "precision recall"] TABLE using \
        (at(k + 0)):A.":".m:A.":".m."_lo":A.":".m."_hi" with yerrorbars \
        lt kind(A, k) notitle, \
    for [k in "1 30"] for [m in "precision recall"] TABLE using \
        (at(k + 0)):A.":".m with linespoints lt kind(A, k) dt dash(m) \
        title m . ", " . k . " failed"
unset multiplot
