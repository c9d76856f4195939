# plots/everflow_admission.gp -- tracing on request: admitted, and policed.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
named(i) = i == 1 ? "all marked" : i == 2 ? \
    "admitted, all may meet in a switch" : "admitted, half may"
ADMIT = "everflow.trace.admit"; SHARE = "everflow.trace.switch_share"
way(dummy) = strcol(ADMIT) eq "false" ? 1 : column(SHARE) > 0.9 ? 2 : 3
of(i, y) = way(0) == i ? y : NaN
kpps(c) = col(c) / 1000
asked(i) = kpps("asked_pps") * (1 + 0.012 * (i - 2))
set xlabel "tracing asked for (1,000 packets/s)"
set ylabel "admitted (1,000 packets/s)"
set xrange [0:*]
set yrange [0:*]
set key top left
if (tty) {
	plot for [i = 1:3] TABLE using (asked(i)): \
	    (of(i, column("policed_share"))) with points \
	    title named(i)
	exit
}
set multiplot layout 1, 2 title head
unset title
set label FOOT ""
set tmargin 4
set bmargin 5
set title "what is traced" font small
set offsets 0, 0, graph 0.4, 0
plot for [i = 1:3] TABLE using (asked(i)):(of(i, kpps("admitted_pps"))): \
        (of(i, kpps("admitted_pps_lo"))):(of(i, kpps("admitted_pps_hi"))) \
        with yerrorbars lt i title named(i), \
    for [i = 1:3] TABLE using (asked(i)):(of(i, kpps("admitted_pps"))) \
        with lines lt i lw 1 notitle
set label FOOT sprintf("points: means of %d runs, bars: 95 %% intervals", runs)
set ylabel "mirrors that are policed"
set yrange [-0.02:*]
set offsets 0, 0, 0, 0
set ytics 0.1
set format y "%.1f"
set title "what is lost of it" font small
plot for [i = 1:3] TABLE using (asked(i)):(of(i, column("policed_share"))): \
        (of(i, col("policed_share_lo"))): \
        (of(i, col("policed_share_hi"))) with yerrorbars lt i notitle, \
    for [i = 1:3] TABLE using (asked(i)):(of(i, column("policed_share"))) \
        with lines lt i lw 1 notitle
unset multiplot
