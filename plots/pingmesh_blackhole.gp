# plots/pingmesh_blackhole.gp -- black holes found, by corrupt entries.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.3; tall = 1.2
load "style.gp"
COUNTS = "1 3 12"
number(n) = n == 1 ? 1 : n == 3 ? 2 : 3
of(t, n, v) = strcol("faults.kind") eq "black_hole_" . t && \
    column("faults.switches") == n ? column(v) : NaN
tors(n) = n . (n eq "1" ? " corrupt ToR" : " corrupt ToRs")
# Points of curves that coincide stand beside each other.
beside(n) = column("faults.entries") * 1.12**(number(n) - 2)
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
set xtics ("0.001" 1e-3, "0.01" 0.01, "0.1" 0.1, "0.5" 0.5)
set xtics add ("" 2e-3 1, "" 5e-3 1, "" 0.02 1, "" 0.05 1, "" 0.2 1, "" 1 1)
set ytics 0, 0.5, 1
dash(a) = a eq "paper" ? 13 : 11
set multiplot title head
unset title
set label FOOT ""
unset key
do for [m in "recall precision"] {
	low = m eq "precision"
	set tmargin at screen low ? 0.53 : 0.85
	set bmargin at screen low ? 0.285 : 0.605
	do for [t = 1:2] {
		set lmargin at screen t == 1 ? 0.08 : 0.56
		set rmargin at screen t == 1 ? 0.51 : 0.985
		set ylabel t == 1 ? m : "" offset 0.5, 0
		set xlabel low ? SHARE : ""
		unset label 3
		if (!low) {
			set label 3 t == 1 ? "type 1: addresses" : \
			    "type 2: five-tuples" at graph 0, 1.12 font small
		}
		if (low && t == 2) {
			set key at screen 0.53, 0.06 center bottom vertical \
			    Left reverse samplen 3 font tiny maxrows 3 noopaque
			note = note . "; no point: none accused; " \
			    . "all algorithms at their defaults"
			set label FOOT note
		}
		plot for [a in "paper blackhole"] for [n in COUNTS] TABLE \
		        using (beside(n + 0)):(of(t, n + 0, a.":".m)): \
		        (of(t, n + 0, a.":".m."_lo")): \
		        (of(t, n + 0, a.":".m."_hi")) with yerrorbars \
		        lt number(n + 0) pt a eq "paper" ? 4 : 7 notitle, \
		    for [a in "paper blackhole"] for [n in COUNTS] TABLE \
		        using (beside(n + 0)):(of(t, n + 0, a.":".m)) \
		        with lines lt number(n + 0) lw a eq "paper" ? 1 : 2 \
		        dt dash(a) notitle, \
		    for [n in COUNTS] keyentry with lines lt number(n + 0) \
		        dt 11 title tors(n), \
		    keyentry with linespoints lt 7 dt 11 pt 7 \
		        title "by likelihood", \
		    keyentry with linespoints lt 7 lw 1 dt 13 pt 4 \
		        title "the paper's rule"
	}
}
unset multiplot
