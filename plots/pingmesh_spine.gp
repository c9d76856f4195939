# plots/pingmesh_spine.gp -- a silent T2: is the tier told, and the switch named?
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Grey: where this data centre loses as much as the paper's in its incident,
# between the two points of the sweep around it. Points of one rate stand side by
# side.
TABLE = ARG1; OUT = ARG2
wide = 1.75
load "style.gp"
set xlabel "drop rate of its links"
set logscale x
set xrange [8e-4:0.14]
x(place) = column("faults.rate") * 1.07 ** place
set xtics ("0.1 %%" 1e-3, "1 %%" 1e-2, "10 %%" 0.1)
set yrange [0:1.08]
if (tty) {
	set ylabel "share of runs"
	set format x "%g"
	set xtics auto
	plot TABLE using "faults.rate":"tier_accuracy" with linespoints \
	    title "spine told", \
	    TABLE using "faults.rate":"hop_trace:worst_first_rate" \
	    with linespoints title "T2 first, by ranking", \
	    TABLE using "faults.rate":"vote_switch:worst_first_rate" \
	    with linespoints title "T2 first, by votes"
	exit
}
stats TABLE using "claim:drop_rate" nooutput
CLAIMED = STATS_max
loses(row) = column("drop_rate")
below(row, x) = loses(0) <= CLAIMED ? x : NaN
above(row, x) = loses(0) > CLAIMED ? x : NaN
stats TABLE using (below(0, column("faults.rate"))) nooutput
A = STATS_max
stats TABLE using (above(0, column("faults.rate"))) nooutput
B = STATS_min
stats TABLE using (below(0, loses(0))) nooutput
P = STATS_max
stats TABLE using (above(0, loses(0))) nooutput
Q = STATS_min
AT = A * (B / A) ** (log(CLAIMED / P) / log(Q / P))
set arrow 1 from AT, 0 to AT, 1.04 nohead lc rgb CLAIM dt (3, 3) lw 1.5 back

set multiplot title head
unset title
set label FOOT ""
unset key
set tmargin at screen 0.87
set bmargin at screen 0.35
# Of each panel: columns, where they stand, the algorithm of their look.
array COLUMN[7] = ["tier_accuracy", "hop_trace:worst_first_rate", \
    "vote_switch:worst_first_rate", "hop_trace:precision", \
    "alg1_switch:precision", "hop_trace:recall", "alg1_switch:recall"]
array PLACE[7] = [-1, 0, 1, -0.5, 0.5, -0.5, 0.5]
array KIND[7] = [7, look("hop_trace"), look("vote_switch"), \
    look("hop_trace"), look("alg1_switch"), look("hop_trace"), \
    look("alg1_switch")]
array FROM[4] = [1, 4, 6, 8]
do for [p = 1:3] {
	set lmargin at screen p / 3.0 - 0.26
	set rmargin at screen p / 3.0 - 0.015
	set ylabel word("'share of runs' 'precision of the accusation' " \
	    . "'recall of the accusation'", p)
	if (p == 3) {
		set key at screen 0.53, 0.12 center bottom vertical Left \
		    reverse samplen 3 font small maxrows 2 noopaque
		set label FOOT note
		set label 3 "dotted: the paper's " . claim_drop_rate \
		    at screen 0.985, 0.06 right tc rgb CLAIM font tiny
	}
	plot for [i = FROM[p]:FROM[p + 1] - 1] TABLE using (x(PLACE[i])): \
	        COLUMN[i]:COLUMN[i]."_lo":COLUMN[i]."_hi" with yerrorbars \
	        lt KIND[i] notitle, \
	    for [i = FROM[p]:FROM[p + 1] - 1] TABLE using (x(PLACE[i])): \
	        COLUMN[i] with linespoints lt KIND[i] notitle, \
	    keyentry with linespoints lt KIND[1] title "tier told: spine", \
	    keyentry with linespoints lt KIND[2] \
	        title "T2 first or accused, by ranking", \
	    keyentry with linespoints lt KIND[3] title "T2 first, by votes", \
	    keyentry with linespoints lt KIND[5] \
	        title "T2 accused, by Alg. 1"
}
unset multiplot
