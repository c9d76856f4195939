# plots/ms_alpha.gp -- bursts that lose something, by how a buffer is shared.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Dynamic limits stand by their alpha; the two other policies beside them.
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
STATIC = 24; COMPLETE = 90
at(i) = (strcol("rack.policy") eq "static" ? STATIC : \
    strcol("rack.policy") eq "complete" ? COMPLETE : column("rack.alpha")) \
    * 1.03 ** (2 * i - 3)
of(i, c) = column("rack.traffic.ml_racks") == i - 1 ? col(c) : NaN
dynamic(i, c) = strcol("rack.policy") eq "dynamic" ? of(i, c) : NaN
says(i) = i == 1 ? "services" : "jobs"
b = "lossy_burst_rate"
set logscale xy
set xrange [0.05:160]
set xlabel "alpha of dynamic limits; static, no limits"
set xtics ("1/16" 0.0625, "1/8" 0.125, "1/4" 0.25, "1/2" 0.5, 1, 2, 4, 8, \
    "static" STATIC, "none" COMPLETE) font small
set ylabel "bursts that lose something, %"
set yrange [0.02:100]
set ytics ("0.1" 0.1, "1" 1, "10" 10, "100" 100)
set key bottom left
if (tty) {
	plot for [i = 1:2] TABLE using (at(i)):(100 * of(i, b)) \
	    with points title says(i)
	exit
}
set arrow 1 from 12.5, graph 0 to 12.5, graph 1 nohead lc rgb "#cccccc"
set multiplot layout 1, 2 title head
unset title
set label FOOT ""
plot for [i = 1:2] rows("--between --all") using (at(i)):(100 * of(i, b)): \
        (100 * of(i, b . "_lo")):(100 * of(i, b . "_hi")) \
        with yerrorbars lt i notitle, \
    for [i = 1:2] TABLE using (at(i)):(100 * dynamic(i, b)) \
        with lines lt i notitle, \
    for [i = 1:2] TABLE using (at(i)):(100 * of(i, b)) with points lt i \
        ps 0.8 title says(i)
set ylabel "timeouts of a rack in a second"
set yrange [*:*]
set format y "%g"
set ytics auto
unset key
set label FOOT sprintf("%d runs of two racks and %g s, 95 %% intervals between runs", \
    runs, run_s)
t = "n_timeouts"
of_s = 2 * run_s
plot for [i = 1:2] TABLE using (at(i)):(of(i, t) / of_s): \
        (of(i, t . "_lo") > 0 ? of(i, t . "_lo") / of_s : NaN): \
        (of(i, t . "_hi") / of_s) with yerrorbars lt i notitle, \
    for [i = 1:2] TABLE using (at(i)):(dynamic(i, t) / of_s) with lines lt i \
        notitle, \
    for [i = 1:2] TABLE using (at(i)):(of(i, t) / of_s) with points lt i ps 0.8 \
        title says(i)
unset multiplot
