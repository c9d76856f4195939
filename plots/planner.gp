# plots/planner.gp -- probes until the answer is right, and until it stops.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
ENDS = "right stop"
WHAT = "'probes until the answer is right' 'probes until it stops'"
says(s) = s eq "turn" ? "all ways in turn" : "half of them planned"
hue(s) = s eq "turn" ? 2 : 1
array FEW[2]; array LO[2]; array HI[2]; array STATED[2]; array WRONG[2]
do for [k = 1:2] {
	c = "ln_fewer_" . word(ENDS, k)
	s = word("plan turn", k)
	stats TABLE using (FEW[k] = exp(column(c)), \
	    LO[k] = exp(column(c . "_lo")), HI[k] = exp(column(c . "_hi")), \
	    STATED[k] = column(s . "_stated"), WRONG[k] = column(s . "_wrong"), \
	    1) nooutput
}
set logscale x
set yrange [0:1.03]
set key at graph 0.99, 0.22 right top Left reverse
set xlabel "probes"
set ylabel "share of runs"
if (tty) {
	plot for [s in "plan turn"] for [e in ENDS] each using \
	    (column(s . "_" . e)):(1) smooth cnormal title says(s) . ", " . e
	exit
}
unset title
set label FOOT ""
set multiplot layout 1, 2 title head
do for [k = 1:2] {
	e = word(ENDS, k)
	set xlabel word(WHAT, k)
	set xrange [k == 1 ? 100 : 5e3 : k == 1 ? 5e5 : 2e6]
	set xtics ("10" 10, "100" 100, "1,000" 1e3, "10,000" 1e4, \
	    "100,000" 1e5, "1,000,000" 1e6)
	set label 3 sprintf("planned: %.2f times\nfewer (%.2f to %.2f)", FEW[k], \
	    LO[k], HI[k]) at graph 0.6, 0.62 left font small
	if (k == 2) {
		unset key
		unset ylabel
		set label 4 sprintf("links taken wrongly,\nstated and real:\n" \
		    . "planned %.3f, %.3f\nin turn %.3f, %.3f", STATED[1], \
		    WRONG[1], STATED[2], WRONG[2]) at graph 0.6, 0.4 left \
		    font small
		set label FOOT sprintf("shares of %d runs; three of 768 links " \
		    . "lose 0.2 to 2 %%, others up to 0.01 %%; 95 %% " \
		    . "intervals of means of logarithms", runs)
	}
	plot for [s in "plan turn"] each using (column(s . "_" . e)):(1) \
	    smooth cnormal with lines lt hue(s) lw 2.5 title says(s)
}
unset multiplot
