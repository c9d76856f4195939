# plots/ms_loss_length.gp -- bursts that lose, by their length and connections.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
CLASSES = "web cache storage batch"
N = words(CLASSES)
of(i, c) = strcol("label") eq word(CLASSES, i) ? column(c) : NaN
# Of few bursts nothing is known, and intervals would hide the others.
enough(i, n, c) = column(n) * runs >= 100 || tty ? of(i, c) : NaN
y(i, m, e) = 100 * enough(i, "n_" . m . "_bursts", "lossy_" . m . "_rate" . e)
beside(i) = 1.04 ** (i - 2.5)
set logscale xy
set yrange [0.003:150]
set ytics ("0.01" 0.01, "0.1" 0.1, "1" 1, "10" 10, "100" 100)
set ylabel "bursts that lose something, %"
set key top left
if (tty) {
	set xlabel "connections"
	set key bottom right
	plot for [i = 1:N] TABLE using "size":(y(i, "wide", "")) with points \
	    title word(CLASSES, i)
	exit
}
unset title
set label FOOT ""
array METRIC[2] = ["long", "wide"]
set multiplot layout 1, 2 title head
do for [k = 1:2] {
	if (k == 1) {
		set xrange [0.9:60]
		set xtics (1, 2, 4, 8, 16, 32)
		set xlabel "length, ms (or up to the next mark)"
	} else {
		unset key
		unset ylabel
		set xrange [0.9:500]
		set xtics (1, 4, 16, 64, 256)
		set xlabel "connections (or up to the next mark)"
		set label FOOT sprintf("pooled over %d runs of ten racks and %g s, " \
		    . "alpha 1; bars: exact 95 %% intervals as if bursts were " \
		    . "independent", runs, run_s)
	}
	m = METRIC[k]
	plot for [i = 1:N] TABLE using (column("size") * beside(i)):(y(i, m, "")): \
	        (y(i, m, "_lo")):(y(i, m, "_hi")) with yerrorbars lt i notitle, \
	    for [i = 1:N] TABLE using (column("size") * beside(i)):(y(i, m, "")) \
	        with linespoints lt i title word(CLASSES, i)
}
unset multiplot
