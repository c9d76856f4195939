# plots/vigil_sec67.gp -- accuracy and accused links against pods.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
set xlabel "pods"
set xrange [0.5:8.5]
set xtics 1
if (!tty) set label 5 "kept: not set aside as noise" at screen 0.985, 0.05 right \
    tc rgb "#777777" font tiny
at(k) = column("faults.count") == k ? column("topology.n_pods") : NaN
if (tty) {
	set yrange [0:1.05]
	plot for [k in "1 30"] TABLE using (at(k + 0)):"vote:accuracy_kept" \
	    with linespoints title "007, " . k . " failed links"
	exit
}
set bmargin 5
set multiplot layout 1, 2 title title . "\n" . paper
unset title
unset label 2
set key inside bottom right vertical Left reverse samplen 2 font tiny
set ylabel "accuracy of kept flows"
set yrange [0.4:1.03]
plot for [k in "1 30"] for [a in "vote integer"] TABLE using \
    (at(k + 0)):a.":accuracy_kept":a.":accuracy_kept_lo": \
    a.":accuracy_kept_hi" with yerrorlines \
    lt (k eq "1" ? 0 : 2) + (a eq "vote" ? 1 : 2) \
    title (a eq "vote" ? "007, " : "integer, ") . k . " failed"
set key at graph 0.98, 0.42 right top vertical Left reverse samplen 2 font tiny
set label 2 "pooled over runs, with exact 95 % intervals" at screen 0.985,0.02 right tc rgb "#777777" font tiny
set ylabel "Algorithm 1, removing flows"
set yrange [0:1.05]
plot for [k in "1 30"] for [m in "precision recall"] TABLE using \
    (at(k + 0)):"alg1_removal:".m:"alg1_removal:".m."_lo": \
    "alg1_removal:".m."_hi" with yerrorlines \
    lt (k eq "1" ? 4 : 6) + (m eq "recall" ? 1 : 0) title m . ", " . k . " failed"
unset multiplot
