# plots/ms_sensitivity.gp -- slopes of loss over contention, by the model's numbers.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A row is a number that was changed, a panel is a slope: over `crowd` in racks of
# services and in racks with jobs, and from the one kind to the other as they are.
TABLE = ARG1; OUT = ARG2
wide = 1.7; tall = 1.55
load "style.gp"
YX = "--trend lossy_burst_rate,burst_contention --by label,"
of_kind = rows(YX . "rack.traffic.ml_racks")
of_crowd = rows(YX . "rack.traffic.crowd")
# Rows come by the second key, then in the order of labels.
stats of_kind using (1) nooutput
N = int(STATS_records / 2)
down(dummy) = int(column(0)) % N
takes(k) = k == 3 ? column("rack.traffic.crowd") == 1 \
    : column("rack.traffic.ml_racks") == k - 1
# Of a hundred bursts, for ten servers more.
pc(k, c) = takes(k) ? 1000 * or(c, "slope") : NaN
# Up, down, or not known: of such a kind the interval's end, else nothing.
way(dummy) = !given("lo") ? 3 : column("lo") > 0 ? 1 : column("hi") < 0 ? 2 : 3
only(w, k, c) = way(0) == w ? pc(k, c) : NaN
set yrange [N - 0.4:-0.6]
texts = "'services, more crowded' 'jobs, more crowded' 'from services to jobs'"
if (tty) {
	set key outside
	plot for [k = 1:3] (k == 3 ? of_crowd : of_kind) using \
	    (pc(k, "slope")):(down(0)):ytic(strcol("label")) with points \
	    title word(texts, k)
	exit
}
set multiplot layout 1, 3 title head margins 0.135, 0.985, 0.125, 0.89 \
    spacing 0.02
unset title
set label FOOT ""
# Slopes differ by factors of hundreds, and go through 0.
SMALL = 0.1
set nonlinear x via asinh(x / SMALL) inverse SMALL * sinh(x)
set xrange [-60:60]
set xtics ("-10" -10, "-1" -1, "" -0.1, "0" 0, "" 0.1, "1" 1, "10" 10) \
    font small
set grid x lt 1 lc rgb "#e4e4e4" lw 0.6 dt 1
set ytics scale 0 font small
set border 1
unset key
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb "#999999" lw 1 back
array WAY[3] = ["#d55e00", "#0072b2", "#888888"]
do for [k = 1:3] {
	set label 3 word(texts, k) at graph 0.5, 1.015 center font small
	if (k == 2) {
		set ytics 0, 1 format ""
		set xlabel "slope: % of bursts that lose something, for ten servers " \
		    . "more in a burst"
	}
	if (k == 3) {
		unset xlabel
		set label FOOT sprintf("each: mean slope of %d runs of three racks " \
		    . "and %g s, with 95 %% interval between runs; grey: sign not known" \
		    , runs, run_s)
	}
	t = k == 3 ? of_crowd : of_kind
	if (k == 1) {
		plot for [w = 1:3] t using (only(w, k, "slope")):(down(0)): \
		    (only(w, k, "lo")):(only(w, k, "hi")):ytic(strcol("label")) \
		    with xerrorbars lc rgb WAY[w] pt (w == 3 ? 6 : 7) dt 1 lw 2
	} else {
		plot for [w = 1:3] t using (only(w, k, "slope")):(down(0)): \
		    (only(w, k, "lo")):(only(w, k, "hi")) \
		    with xerrorbars lc rgb WAY[w] pt (w == 3 ? 6 : 7) dt 1 lw 2
	}
}
unset multiplot
