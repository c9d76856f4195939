# plots/ms_bursts.gp -- CDFs of bursts, and how traffic clusters, by class.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5; tall = 1.5
load "style.gp"
CLASSES = "web cache storage batch jobs"
N = words(CLASSES)
of(i, c) = strcol("label") eq word(CLASSES, i) ? col(c) : NaN
# Dispersion is of the whole trial, the same in all rows of a class.
one(i, c) = column("quantile") == 0.5 ? of(i, c) : NaN
array WINDOW[3] = [1, 10, 100]
disp(i, k, e) = one(i, sprintf("dispersion_%dms%s", WINDOW[k], e))
set yrange [0:1.02]
set ylabel "share of bursts"
set logscale x
set xlabel "length, ms"
if (tty) {
	set key bottom right
	plot for [i = 1:N] TABLE using (of(i, "burst_ms")):"quantile" \
	    with points title word(CLASSES, i)
	exit
}
unset title
set label FOOT ""
set multiplot layout 2, 2 title head offset 0, -0.01
set bmargin 3.5
set key bottom right
set xrange [0.8:100]
set xtics (1, 2, 5, 10, 20, 50, 100)
plot for [i = 1:N] TABLE using (of(i, "burst_ms")):"quantile" \
    with lines lt i title word(CLASSES, i)
unset key
set xlabel "volume, MB"
set xrange [0.5:60]
set xtics (0.5, 1, 2, 5, 10, 20, 50)
unset ylabel
plot for [i = 1:N] TABLE using (of(i, "burst_bytes") / 1e6):"quantile" \
    with lines lt i
set bmargin 4.5
set xlabel "bursts of a server and second"
set ylabel "share of servers"
unset logscale x
set xrange [0:*]
set xtics auto
plot for [i = 1:N] TABLE using (of(i, "server_burst_rate")):"quantile" \
    with lines lt i
set logscale xy
set xrange [0.7:140]
set yrange [0.7:1e5]
set xtics (1, 10, 100)
set ytics ("1" 1, "10" 10, "100" 100, "1,000" 1e3, "10,000" 1e4, "100,000" 1e5)
set xlabel "window, ms"
set ylabel "index of dispersion"
set label 3 "1: as if by chance (Poisson)" at 0.75, 1.7 font tiny \
    tc rgb "#777777"
set arrow 3 from 0.7, 1 to 140, 1 nohead lc rgb "#bbbbbb" lw 1 back
set label FOOT sprintf("means of %d runs of two racks and %g s each; bars: 95 %% " \
    . "between runs; quantiles by nearest rank", runs, run_s)
set label 4 "of segments that begin" at graph 0.98, 0.5 right font tiny \
    tc rgb "#777777"
plot for [i = 1:N] for [k = 1:3] TABLE using (WINDOW[k] * 1.04 ** (i - 3)): \
        (disp(i, k, "")):(disp(i, k, "_lo")):(disp(i, k, "_hi")) \
        with yerrorbars lt i notitle
unset multiplot
