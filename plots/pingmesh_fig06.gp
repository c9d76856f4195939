# plots/pingmesh_fig06.gp -- black holes found and reloaded, by day.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
DAY = 420.
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
set label 2 sprintf("means of %d runs; a day is lived as %g s", runs, DAY)
if (exists("claim_n_reloaded")) set label 5 claim_n_reloaded \
    at 30.5, 22 right tc rgb CLAIM font tiny
set arrow 5 from 0, 20 to 31, 20 nohead lc rgb CLAIM dt (6, 4)
plot TABLE using (day(column("window_s"))):"n_reloaded" with boxes lt 1 \
        title "reloaded for it, after the day", \
    TABLE using (day(column("window_s"))):"n_candidates" with points lt 6 \
        title "taken for black holes", \
    TABLE using (day(column("window_s"))):"n_black_tors" \
        with linespoints lt 2 \
        title "corrupt at some time of the day"
