# plots/ms_align.gp -- contention from runs side by side, by how wrong clocks are.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.7
load "style.gp"
STARTS = "first_packet aligned"
of(i, s, c) = column("rack.traffic.ml_racks") == i - 1 && \
    strcol("rack.sample.start") eq word(STARTS, s) ? col(c) : NaN
says(i, s) = (i == 1 ? "services" : "jobs") \
    . (s == 1 ? ", first packet" : ", aligned")
# Errors of 0 stand at the left end, beside what is next to them.
ZERO = 50
at(i, s) = (column("rack.sample.clock_sd") > 0 ? column("rack.sample.clock_sd") \
    : ZERO) * 1.03 ** (2 * s + i - 4.5)
set logscale x
set xrange [38:7000]
set xlabel "error of clocks (sd), ms"
set xtics ("0" ZERO, "0.1" 100, "0.3" 300, "1" 1000, "2" 2000, "5" 5000)
if (tty) {
	set ylabel "error of contention"
	plot for [i = 1:2] for [s = 1:2] TABLE using (at(i, s)): \
	    (of(i, s, "contention_off")) with linespoints title says(i, s)
	exit
}
set multiplot layout 1, 3 title head
unset title
set label FOOT ""
set key bottom left font tiny samplen 2
set yrange [0:1.05]
draws = "burst_ms_recall burst_ms_precision contention_off"
texts = "'burst milliseconds that are told' " \
    . "'told ones that are of bursts' 'error of contention, servers'"
do for [k = 1:3] {
	m = word(draws, k)
	set ylabel word(texts, k)
	if (k == 2) { unset key }
	if (k == 3) {
		set yrange [0:*]
		stats TABLE using "true_contention" nooutput
		set label FOOT sprintf("%d runs of two racks and %g s, 95 %% intervals " \
		    . "between runs; error: mean without sign, of contention of %.2f " \
		    . "to %.2f", runs, run_s, \
		    STATS_min, STATS_max)
	}
	plot for [i = 1:2] for [s = 1:2] rows("--between --all") using \
	        (at(i, s)):(of(i, s, m)):(of(i, s, m . "_lo")): \
	        (of(i, s, m . "_hi")) with yerrorbars lt 2 * i + s - 2 notitle, \
	    for [i = 1:2] for [s = 1:2] TABLE using (at(i, s)):(of(i, s, m)) \
	        with linespoints lt 2 * i + s - 2 title says(i, s)
}
unset multiplot
