# plots/pingmesh_spine.gp -- a silent T2: is the tier told, and the switch named?
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Grey: where this data centre loses as much as the paper's in its incident,
# between the two points of the sweep around it. Points of one rate stand side by
# side.
TABLE = ARG1; OUT = ARG2
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

set multiplot layout 1, 2 title title . "\n" . paper
unset title
unset label 2
note = sprintf("points: %d runs with exact 95 %% intervals", runs)
set key at graph 1.03, 0.36 right top font tiny samplen 1.5 width -2
set ylabel "share of runs"
set label 3 "dotted: the paper's " . claim_drop_rate at screen 0.985, 0.05 right \
    tc rgb CLAIM font tiny
plot TABLE using (x(-1)):"tier_accuracy":"tier_accuracy_lo": \
        "tier_accuracy_hi" with yerrorlines lt 3 title "tier told: spine", \
    TABLE using (x(0)):"hop_trace:worst_first_rate": \
        "hop_trace:worst_first_rate_lo":"hop_trace:worst_first_rate_hi" \
        with yerrorlines lt look("hop_trace") title "T2 first, by ranking", \
    TABLE using (x(1)):"vote_switch:worst_first_rate": \
        "vote_switch:worst_first_rate_lo":"vote_switch:worst_first_rate_hi" \
        with yerrorlines lt look("vote_switch") title "T2 first, by votes"
unset label 3
set label 2 note at screen 0.985, 0.02 right tc rgb "#777777" font tiny
set ylabel "precision, recall of the accusation"
plot for [a in "hop_trace alg1_switch"] TABLE using \
        (x(a eq "hop_trace" ? -1 : 0)):a.":precision":a.":precision_lo":a.":precision_hi" \
        with yerrorlines lt look(a) \
        title (a eq "hop_trace" ? "ranking" : "Alg. 1") . ", precision", \
    for [a in "hop_trace alg1_switch"] TABLE using \
        (x(a eq "hop_trace" ? 1 : 2)):a.":recall":a.":recall_lo":a.":recall_hi" \
        with yerrorlines lt look(a) lw 1 \
        pt (a eq "hop_trace" ? 6 : 4) \
        title (a eq "hop_trace" ? "ranking" : "Alg. 1") . ", recall"
unset multiplot
