# plots/pingmesh_blackhole.gp -- black holes found, by corrupt entries.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
FOUR = "t10 t30 t50 t70 t90"
style(a) = a eq "ports" ? 6 : a eq "pairs2" ? 7 : (strstrt(FOUR, a) + 3) / 4
name(a) = a eq "pairs2" ? "0.5, two bad pairs" : \
    a eq "ports" ? "0.5, five-tuples alone" : \
    "threshold 0." . a[2:2]
of(t, v) = strcol("faults.kind") eq "black_hole_" . t ? column(v) : NaN
set logscale x
set xrange [7e-4:0.7]
set yrange [0:1.05]
SHARE = "share of entries that are corrupt"
if (tty) {
	set xlabel SHARE
	set ylabel "recall, type 2"
	plot for [a in "t10 t50 t90 ports"] TABLE \
	    using "faults.entries":(of(2, a.":recall")) with points title name(a)
	exit
}
unset label 2
set xtics ("0.001" 1e-3, "0.01" 0.01, "0.1" 0.1, "0.5" 0.5)
set xtics add ("" 2e-3 1, "" 5e-3 1, "" 0.02 1, "" 0.05 1, "" 0.2 1)
set ytics 0, 0.5, 1
set multiplot title title . "\n" . paper
unset title
unset key
do for [m in "recall precision"] {
	low = m eq "recall"
	set tmargin at screen low ? 0.82 : 0.5
	set bmargin at screen low ? 0.61 : 0.29
	do for [t = 1:2] {
		set lmargin at screen t == 1 ? 0.11 : 0.59
		set rmargin at screen t == 1 ? 0.51 : 0.985
		set ylabel t == 1 ? m : "" offset 1.5, 0
		set xlabel low ? "" : SHARE
		if (low) {
			set label 3 t == 1 ? "type 1: addresses" : \
			    "type 2: five-tuples" at graph 0.02, 1.14 font small
		} else {
			unset label 3
		}
		# By five-tuples nothing is accused of type 2.
		drawn = low ? algos : FOUR . " pairs2"
		plot for [a in drawn] TABLE using "faults.entries": \
		    (of(t, a.":".m)):(of(t, a.":".m."_lo")): \
		    (of(t, a.":".m."_hi")) with yerrorlines lt style(a)
	}
}
# A panel without axes has all the width for the key.
set lmargin at screen 0.02
set rmargin at screen 0.98
set tmargin at screen 0.15
set bmargin at screen 0.05
unset border
unset tics
unset xlabel
unset ylabel
unset logscale
set label 2 sprintf("pooled over %d runs, exact 95 %% intervals; no point: none " \
    . "accused; unless said, a symptom takes four bad pairs", runs) at screen 0.985, 0.02 right \
    tc rgb "#777777" font tiny
set key at screen 0.5, 0.055 center bottom vertical Left reverse samplen 2 \
    font tiny maxrows 3 noopaque
plot [0:1] for [a in algos] -1 with linespoints lt style(a) title name(a)
unset multiplot
