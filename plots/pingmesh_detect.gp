# plots/pingmesh_detect.gp -- how soon a ToR with corrupt entries is found.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
INTERVAL = "pingmesh.pinglist.dc_interval_s"
D = "blackhole:detect_s"
# Jobs run so long after a window of 30 s; they reach four intervals back.
LAG = 96
WINDOW = 30
of(t, v) = strcol("faults.kind") eq "black_hole_" . t ? column(v) : NaN
back(i) = i <= 10 ? 60 : i <= 20 ? 90 : 4 * i
# A line of one type's rows, or it would run through those of both.
after(t, s) = of(t, INTERVAL) + LAG + s - column(INTERVAL)
set xlabel "between two probes of one server to another (s)"
set ylabel "until the ToR is accused (s)"
set logscale xy
set xrange [8:400]
set yrange [60:6000]
set xtics (10, 20, 30, 60, 120, 300)
set ytics (60, 120, 300, 600, 1200, 2400)
set key top left
if (tty) {
	plot for [t = 1:2] TABLE using INTERVAL:(of(t, D)) with linespoints \
	    title "type " . t
	exit
}
note = sprintf("points: means of %d runs; bars: 10 %% to 90 %% of runs; " \
    . "small: each run", runs)
set label FOOT note
shift(t) = t == 1 ? 0.96 : 1.04
plot for [t = 1:2] each using (column(INTERVAL) * shift(t)):(of(t, D)) \
        with points lt t pt 7 ps 0.15 notitle, \
    for [t = 1:2] TABLE using (column(INTERVAL) * shift(t)):(of(t, D)): \
        (of(t, D."_p10")):(of(t, D."_p90")) with yerrorbars lt t notitle, \
    for [t = 1:2] TABLE using (column(INTERVAL) * shift(t)):(of(t, D)) \
        with linespoints lt t title "type " . t \
        . (t == 1 ? ": pairs that never answer" : ": spells of time-outs"), \
    TABLE using INTERVAL:(after(1, WINDOW / 2. + back(column(INTERVAL)))) \
        with lines lt 7 lw 1 dt (2, 3) \
        title "the first table that lies after the fault", \
    TABLE using INTERVAL:(after(1, column(INTERVAL))) with lines \
        lt 7 lw 1 dt (8, 4) \
        title "no sooner: three probes of a pair, and the lag of the jobs"
