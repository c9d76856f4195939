# plots/everflow_mirror_loss.gp -- three grades of a drop against lost mirrors.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
RATES = "1e-4 1e-3 1e-2"
M = "everflow.mirror.loss"
rate(i) = 10.0 ** (i - 5)
of(i, c) = abs(column("faults.rate") / rate(i) - 1) < 0.01 ? column(c) : NaN
shift(i) = 1.08 ** (i - 2)
set logscale x
set xrange [6e-6:0.1]
set yrange [0:1.08]
set xlabel "share of mirrors that are lost, m"
set ylabel "verdicts that are right"
set key bottom left
if (tty) {
	plot for [i = 1:3] TABLE using M:(of(i, "suspect_precision")) \
	    with points title "suspect, p = " . word(RATES, i)
	exit
}
set xtics ("10⁻⁵" 1e-5, "10⁻⁴" 1e-4, "10⁻³" 1e-3, "10⁻²" 1e-2, "0.05" 0.05)
set samples 400
by_chance(m, i) = rate(i) / (rate(i) + m)
set multiplot layout 1, 2 title head
unset title
set label FOOT ""
set tmargin 4
set bmargin 7
set title "a trace by itself" font small
set key at graph 0.5, screen 0.07 center bottom horizontal samplen 1.5 maxrows 1
plot for [i = 1:3] by_chance(x, i) with lines lt i lw 1 notitle, \
    for [i = 1:3] TABLE using (column(M) * shift(i)): \
        (of(i, "suspect_precision")):(of(i, "suspect_precision_lo")): \
        (of(i, "suspect_precision_hi")) with yerrorbars lt i \
        title "p = " . word(RATES, i)
note = sprintf("points: pooled over %d runs with exact 95 %% intervals, side " \
    . "by side; lines: p / (p + m), links losing p", runs)
set label FOOT note
set ylabel ""
set title "by what came later" font small
later(k) = k == 1 ? "confirmed" : "refuted"
plot for [k = 1:2] for [i = 1:3] TABLE using (column(M) * shift(i)): \
        (of(i, later(k) . "_precision")): \
        (of(i, later(k) . "_precision_lo")): \
        (of(i, later(k) . "_precision_hi")) \
        with yerrorbars lt i pt (k == 1 ? 4 : 2) notitle, \
    for [k = 1:2] keyentry with points lt 7 pt (k == 1 ? 4 : 2) \
        title k == 1 ? "sent again: a drop" : "acknowledged: no drop"
unset multiplot
