# plots/pingmesh_blackhole.gp -- black holes found, by corrupt entries.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
tall = 1.2
load "style.gp"
COUNTS = "1 3 12"
number(n) = n == 1 ? 1 : n == 3 ? 2 : 3
of(t, n, v) = strcol("faults.kind") eq "black_hole_" . t && \
    column("faults.switches") == n ? column(v) : NaN
# Points of curves that coincide stand beside each other.
beside(n) = column("faults.entries") * 1.1**(number(n) - 2)
set logscale x
set xrange [7e-4:1.2]
set yrange [0:1.05]
SHARE = "share of entries that are corrupt"
if (tty) {
	set xlabel SHARE
	set ylabel "recall, type 2"
	plot for [n in COUNTS] TABLE using "faults.entries": \
	    (of(2, n + 0, "blackhole:recall")) with points title n . " ToRs", \
	    for [n in COUNTS] TABLE using "faults.entries": \
	    (of(2, n + 0, "paper:recall")) with points title n . ", paper"
	exit
}
unset label 2
set xtics ("0.001" 1e-3, "0.01" 0.01, "0.1" 0.1, "0.5" 0.5)
set xtics add ("" 2e-3 1, "" 5e-3 1, "" 0.02 1, "" 0.05 1, "" 0.2 1, "" 1 1)
set ytics 0, 0.5, 1
set multiplot title title . "\n" . paper
unset title
unset key
do for [m in "recall precision"] {
	low = m eq "recall"
	set tmargin at screen low ? 0.84 : 0.5
	set bmargin at screen low ? 0.59 : 0.25
	do for [t = 1:2] {
		set lmargin at screen t == 1 ? 0.11 : 0.59
		set rmargin at screen t == 1 ? 0.51 : 0.985
		set ylabel t == 1 ? m : "" offset 1.5, 0
		set xlabel low ? "" : SHARE
		if (low) {
			set label 3 t == 1 ? "type 1: addresses" : \
			    "type 2: five-tuples" at graph 0.02, 1.1 font small
		} else {
			unset label 3
		}
		plot for [a in "paper blackhole"] for [n in COUNTS] TABLE \
		    using (beside(n + 0)):(of(t, n + 0, a.":".m)): \
		    (of(t, n + 0, a.":".m."_lo")): \
		    (of(t, n + 0, a.":".m."_hi")) with yerrorbars \
		    lt number(n + 0) lw 1 dt 1 pt a eq "paper" ? 4 : 7, \
		    for [a in "paper blackhole"] for [n in COUNTS] TABLE \
		    using (beside(n + 0)):(of(t, n + 0, a.":".m)) with lines \
		    lt number(n + 0) lw a eq "paper" ? 1 : 2 \
		    dt a eq "paper" ? 3 : 1
	}
}
# A panel without axes has all the width for the key.
set lmargin at screen 0.02
set rmargin at screen 0.98
set tmargin at screen 0.12
set bmargin at screen 0.05
unset border
unset tics
unset xlabel
unset ylabel
unset logscale
set label 2 sprintf("pooled over %d runs, exact 95 %% intervals; no point: none " \
    . "accused; all algorithms at their defaults", runs) at screen 0.985, 0.02 right \
    tc rgb "#777777" font tiny
set key at screen 0.5, 0.055 center bottom vertical Left reverse samplen 3 \
    font tiny maxrows 3 noopaque
tors(n) = n . (n eq "1" ? " corrupt ToR" : " corrupt ToRs")
plot [0:1] for [n in COUNTS] -1 with linespoints lt number(n + 0) dt 1 pt 7 \
    title tors(n), -1 with linespoints lt 7 dt 1 pt 7 title "by likelihood", \
    -1 with linespoints lt 7 lw 1 dt 3 pt 4 title "the paper's rule"
unset multiplot
