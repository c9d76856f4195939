# plots/everflow_drop.gp -- how soon a link that loses is named.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
GAPS = "1000 100 10"
of(i, c) = column("everflow.drop.interval_ms") == word(GAPS, i) + 0 ? \
    col(c) : NaN
shift(i) = 1.08 ** (i - 2)
set logscale x
set xrange [2e-3:0.5]
set yrange [0:75]
set xlabel "loss of the link"
set ylabel "seconds until it is named"
set key top right
if (tty) {
	plot for [i = 1:3] TABLE using "faults.rate":(of(i, "name_s")) \
	    with linespoints title word(GAPS, i) . " ms"
	exit
}
set xtics ("0.3 %%" 3e-3, "1 %%" 1e-2, "3 %%" 3e-2, "10 %%" 0.1, "30 %%" 0.3)
note = sprintf("points: means of those of %d runs that name it, bars: 95 %%%% " \
    . "intervals; small: each run", runs)
set label FOOT note
plot for [i = 1:3] each using (column("faults.rate") * shift(i)): \
        (of(i, "name_s")) with points lt i pt 7 ps 0.15 notitle, \
    for [i = 1:3] TABLE using (column("faults.rate") * shift(i)): \
        (of(i, "name_s")):(of(i, "name_s_lo")):(of(i, "name_s_hi")) \
        with yerrorbars lt i notitle, \
    for [i = 1:3] TABLE using (column("faults.rate") * shift(i)): \
        (of(i, "name_s")) with linespoints lt i \
        title "probes of an order: " . (i == 1 ? "1" : i == 2 ? "10" : "100") \
        . " a second"
