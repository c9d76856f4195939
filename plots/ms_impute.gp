# plots/ms_impute.gp -- bursts of a millisecond, by counters of wider buckets.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
WIDTHS = "[1ms] [10ms] [50ms] [1s]"
place(w) = int(sum [k = 1:4] (word(WIDTHS, k) eq w ? k : 0))
of(i, c) = column("rack.traffic.ml_racks") == i - 1 ? col(c) : NaN
at(i) = place(strcol("rack.widths")) + 0.06 * (2 * i - 3)
says(i) = i == 1 ? "services" : "jobs"
set xrange [0.6:4.4]
set xtics ("1 ms" 1, "10 ms" 2, "50 ms" 3, "1 s" 4)
set xlabel "width of buckets"
set yrange [0:1.05]
if (tty) {
	set ylabel "bursts of which anything is told"
	plot for [i = 1:2] TABLE using (at(i)):(of(i, "seen_burst_rate")) \
	    with linespoints title says(i)
	exit
}
set multiplot layout 1, 2 title head
unset title
set label FOOT ""
set key bottom left font tiny
set ylabel "share told"
set logscale y
set yrange [1e-6:1.5]
set ytics ("10⁻⁶" 1e-6, "0.0001" 1e-4, "0.01" 0.01, "1" 1)
b = "burst_ms_recall"; s = "seen_burst_rate"
plot for [i = 1:2] rows("--between --all") using (at(i)):(of(i, b)): \
        (of(i, b . "_lo")):(of(i, b . "_hi")) with yerrorbars lt i notitle, \
    for [i = 1:2] TABLE using (at(i)):(of(i, b)) with linespoints lt i \
        title "milliseconds of bursts, " . says(i), \
    for [i = 1:2] rows("--between --all") using (at(i)):(of(i, s)): \
        (of(i, s . "_lo")):(of(i, s . "_hi")) with yerrorbars lt i + 2 notitle, \
    for [i = 1:2] TABLE using (at(i)):(of(i, s)) with linespoints lt i + 2 \
        title "bursts, " . says(i)
set ylabel "servers in a burst together, mean"
unset logscale y
set yrange [*:*]
stats TABLE using (col("true_contention_hi")) nooutput
set yrange [0:1.5 * STATS_max]
set ytics auto
set key top right
set label FOOT sprintf("%d runs of two racks and %g s, 95 %% intervals between runs; " \
    . "left, what is 0 is not on the scale", runs, run_s)
t = "told_contention"
plot for [i = 1:2] TABLE using (at(i)):(of(i, "true_contention")) \
        with lines lt i lw 1 dt 1 title "as it is, " . says(i), \
    for [i = 1:2] TABLE using (at(i)):(of(i, t)):(of(i, t . "_lo")): \
        (of(i, t . "_hi")) with yerrorbars lt i notitle, \
    for [i = 1:2] TABLE using (at(i)):(of(i, t)) with linespoints lt i \
        title "as told, " . says(i)
unset multiplot
