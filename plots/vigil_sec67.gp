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
head = title . "\n" . paper
unset title
unset label 2
set multiplot layout 1, 3 title head
set key inside bottom left vertical Left reverse samplen 2 font tiny
set yrange [0.5:1.02]
do for [q in "kept fault"] {
	m = ":accuracy_" . q
	set ylabel q eq "kept" ? "accuracy of flows that 007 keeps" \
	    : "accuracy of flows that a fault hit"
	plot for [k in "1 30"] for [a in "vote integer"] TABLE using \
	    (at(k + 0)):a.m:a.m."_lo":a.m."_hi" with yerrorlines \
	    lt look(a) + (k eq "1" ? 0 : N_HUES) \
	    title (a eq "vote" ? "007, " : "integer, ") . k . " failed", \
	    for [i = 2:3] $PAPER using 1:i with points pt (i == 2 ? 7 : 5) \
	    ps 1.2 lc rgb CLAIM title (i == 2 ? "paper, 007" \
	    : "paper, integer") . " (unconfirmed)"
}
set key at graph 0.98, 0.42 right top vertical Left reverse samplen 2 font tiny
set label 2 "pooled over runs, with exact 95 % intervals" at screen 0.985,0.02 right tc rgb "#777777" font tiny
set ylabel "Algorithm 1, removing flows"
set yrange [0:1.05]
plot for [k in "1 30"] for [m in "precision recall"] TABLE using \
    (at(k + 0)):"alg1_removal:".m:"alg1_removal:".m."_lo": \
    "alg1_removal:".m."_hi" with yerrorlines \
    lt (k eq "1" ? 4 : 6) + (m eq "recall" ? 1 : 0) title m . ", " . k . " failed"
unset multiplot
