# plots/ms_cause.gp -- bad links told from full buffers, by two seconds of counters.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
ALPHAS = "1 0.25"
of(i, a, c) = column("rack.traffic.ml_racks") == i - 1 && \
    column("rack.alpha") == word(ALPHAS, a) + 0 ? col(c) : NaN
says(i, a) = (i == 1 ? "services" : "jobs") . ", alpha " . word(ALPHAS, a)
shift(i, a) = 1.05 ** (2 * a + i - 4.5)
set logscale x
set xrange [6e-6:2e-2]
set yrange [0:1.04]
set xlabel "loss of the bad links"
set key bottom right
if (tty) {
	set ylabel "bad links named"
	plot for [i = 1:2] for [a = 1:2] TABLE using "faults.rate": \
	    (of(i, a, "loss_cause:recall")) with linespoints title says(i, a)
	exit
}
set xtics ("1e-5" 1e-5, "1e-4" 1e-4, "0.1 %%" 1e-3, "1 %%" 1e-2)
set multiplot layout 1, 2 title head
unset title
set label FOOT ""
draws = "recall precision"
texts = "'bad links that are accused' 'accused links that are bad'"
do for [k = 1:2] {
	m = "loss_cause:" . word(draws, k)
	set ylabel word(texts, k)
	if (k == 2) {
		unset key
		set label FOOT sprintf("pooled over %d runs, with exact 95 %% intervals; " \
		    . "23 of 184 links are bad", runs)
	}
	plot for [i = 1:2] for [a = 1:2] TABLE using \
	        (column("faults.rate") * shift(i, a)):(of(i, a, m)): \
	        (of(i, a, m . "_lo")):(of(i, a, m . "_hi")) with yerrorbars \
	        lt 2 * a + i - 2 notitle, \
	    for [i = 1:2] for [a = 1:2] TABLE using \
	        (column("faults.rate") * shift(i, a)):(of(i, a, m)) \
	        with linespoints lt 2 * a + i - 2 title says(i, a)
}
unset multiplot
