# plots/pingmesh_fig06.gp -- black holes found and reloaded, by day.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.3
load "style.gp"
DAY = 86400.
day(s) = s / DAY
set xlabel "day"
set ylabel "ToRs"
set xrange [0:31]
set yrange [0:70]
set xtics 5
set key top right
set boxwidth 0.7
set style fill solid 0.5 noborder
if (tty) {
	plot TABLE using (day(column("window_s"))):"n_black_tors" \
	    with lines title "corrupt", \
	    TABLE using (day(column("window_s"))):"n_reloaded" with impulses \
	    title "reloaded"
	exit
}
note = sprintf("means of %d runs with 95 %% intervals between them", runs)
set label FOOT note
if (exists("claim_n_reloaded")) set label 5 claim_n_reloaded \
    at 30.5, 22 right tc rgb CLAIM font tiny
set arrow 5 from 0, 20 to 31, 20 nohead lc rgb CLAIM dt (2, 4) lw 1.5
array COUNT[3] = ["n_reloaded", "n_candidates", "n_black_tors"]
array NAME[3] = ["reloaded for it, after the day", "taken for black holes", \
    "corrupt at some time of the day"]
# What is equal, or nearly, stands beside each other.
shift(i) = 0.22 * (i - 2)
beside(i) = day(column("window_s")) + shift(i)
plot TABLE using (beside(2)):"n_reloaded" with boxes lt 1 fs solid 0.3 \
        title NAME[1], \
    TABLE using (beside(1)):(col("n_reloaded_lo")):(0): \
        (col("n_reloaded_hi") - col("n_reloaded_lo")) with vectors \
        heads size screen 0.004, 90 lt 1 lw 1 notitle, \
    for [i = 2:3] TABLE using (beside(i)):COUNT[i]: \
        (col(COUNT[i]."_lo")):(col(COUNT[i]."_hi")) with yerrorbars lt i notitle, \
    for [i = 2:3] TABLE using (beside(i)):COUNT[i] with linespoints lt i \
        lw 1 title NAME[i]
