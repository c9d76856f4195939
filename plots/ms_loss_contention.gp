# plots/ms_loss_contention.gp -- bursts that lose, and how many burst together.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A point is a kind of rack at one crowdedness, curves join those of a kind. Runs
# are the unit: bars and slopes are between them.
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
points = rows("--between --all")
trends = rows("--trend lossy_burst_rate,burst_contention " \
    . "--by rack.alpha,rack.traffic.ml_racks")
KINDS = "services jobs"
ALPHAS = "0.25 1 4"
kind(i) = column("rack.traffic.ml_racks") == i - 1
of(i, a, c) = kind(i) && column("rack.alpha") == word(ALPHAS, a) + 0 ? \
    col(c) : NaN
y(i, a, e) = 100 * of(i, a, "lossy_burst_rate" . e)
set logscale xy
set xrange [1.5:80]
set xlabel "servers of 92 in a burst together, as a burst meets it"
set ylabel "bursts that lose something, %"
set yrange [0.05:40]
set key top right maxrows 3
says(i, a) = (i == 1 ? "services" : "jobs") . ", alpha " . word(ALPHAS, a)
# What `culprit table --trend` says of a curve, of ten servers more.
array TREND[6] = ["", "", "", "", "", ""]
nth(dummy) = int(3 * column("rack.traffic.ml_racks") + sum [a = 1:3] \
    (column("rack.alpha") == word(ALPHAS, a) + 0 ? a : 0))
stats trends using (TREND[nth(0)] = sprintf(": %+.2g, p = %.2g", \
    1000 * column("slope"), column("p")), 1) nooutput
if (tty) {
	plot for [i = 1:2] for [a = 1:3] TABLE using \
	    (of(i, a, "burst_contention")):(y(i, a, "")) with points \
	    title says(i, a)
	exit
}
set xtics (2, 5, 10, 20, 50)
set ytics ("0.1" 0.1, "1" 1, "10" 10)
note = sprintf("means of %d runs of two racks and %g s, with 95 %% intervals between runs; " \
    . "in the key: slope, %% for ten servers more, and its p", runs, run_s)
set label FOOT note
set key font small samplen 2.5
plot for [i = 1:2] for [a = 1:3] points using \
        (of(i, a, "burst_contention")):(y(i, a, "")):(y(i, a, "_lo")): \
        (y(i, a, "_hi")) with yerrorbars lt 3 * (i - 1) + a notitle, \
    for [i = 1:2] for [a = 1:3] TABLE using \
        (of(i, a, "burst_contention")):(y(i, a, "")) with linespoints \
        lt 3 * (i - 1) + a title says(i, a) . TREND[3 * (i - 1) + a]
