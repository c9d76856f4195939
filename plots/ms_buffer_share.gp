# plots/ms_buffer_share.gp -- what each of n full queues has of a shared buffer.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
ALPHAS = "0.25 0.5 1 2 4"
of(a, c) = column("rack.alpha") == word(ALPHAS, a) + 0 ? col(c) : NaN
n(dummy) = 10 * column("rack.traffic.ml_share")
law(a, n) = word(ALPHAS, a) / (1 + word(ALPHAS, a) * n)
set xrange [0.7:10.3]
set xtics 1
set yrange [0:0.85]
set xlabel "queues that are full"
set ylabel "share of the buffer that each has"
set key top right
q = "queue_share"
if (tty) {
	plot for [a = 1:5] TABLE using (n(0)):(of(a, q)) with points \
	    title "alpha " . word(ALPHAS, a)
	exit
}
set samples 200
note = sprintf("points: mean of %d runs, in the tenths of a millisecond in which they" \
    . " lose; intervals are below the marks", runs)
set label FOOT note
plot for [a = 1:5] [1:10] law(a, x) with lines lt a lw 1.2 dt 1 notitle, \
    for [a = 1:5] TABLE using (n(0)):(of(a, q)):(of(a, q . "_lo")): \
        (of(a, q . "_hi")) with yerrorbars lt a notitle, \
    for [a = 1:5] TABLE using (n(0)):(of(a, q)) with points lt a ps 0.8 \
        title "alpha " . word(ALPHAS, a), \
    NaN with lines lt 1 lc rgb "#888888" lw 1.2 dt 1 \
        title "alpha / (1 + alpha n)"
