# plots/bounds_ranking.gp -- measured misranking below theorem 3's bound.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The bound is what `culprit bounds` says of the numbers of bounds_ranking.yaml,
# by the program $CULPRIT, else that of this checkout, else the installed one.
TABLE = ARG1; OUT = ARG2
load "style.gp"
BOUNDS = system('for p in "$CULPRIT" "$GNUPLOT_LIB/../build/culprit" ' \
    . '"$(command -v culprit)"; do [ -x "$p" ] && echo "$p" && break; done') \
    . " bounds --n-pod 4 --n0 20 --n1 8 --n2 10 --hosts 40 --k 1" \
    . " --p-bad 1e-3 --p-good 1e-6 --packets 50,50 --table"

set xlabel "connections in an epoch"
set ylabel "chance that another link leads"
set logscale xy
set xtics ("10⁴" 1e4, "10⁵" 1e5, "10⁶" 1e6, "10⁷" 1e7)
set ytics ("1" 1, "0.1" 0.1, "0.01" 1e-2, "0.001" 1e-3, "0.0001" 1e-4)
set xrange [2e3:2e7]
set yrange [1e-4:1.5]
set key bottom left font tiny samplen 2 noopaque
note = sprintf("points: share of %d epochs with exact 95 %% intervals; " \
    . "open: none in all, at most this", runs)
set label FOOT note

n = "n_flows"
rate = "vote:worst_first_rate"
wrong(c) = 1 - column(c)
none(c) = column(c) == 1 ? 1 - column(c . "_lo") : NaN

if (tty) {
	plot TABLE using n:(wrong(rate)) with linespoints title "measured", \
	    "<" . BOUNDS using n:"simulated:best" with lines \
	    title "bound, best threshold", \
	    "<" . BOUNDS using n:"simulated:all" with lines \
	    title "bound, paper's threshold"
	exit
}
set label FOOT2 "no link of 5760 + 1920 good ones above the bad one; votes of 1/h" \
    . " on paths of six links"
plot TABLE using n:(wrong(rate)):(wrong(rate . "_hi")):(wrong(rate . "_lo")) \
        with yerrorbars lt 1 notitle, \
    TABLE using n:(wrong(rate)) with linespoints lt 1 title "measured", \
    TABLE using n:(none(rate)) with points lt 1 lw 1 pt 10 ps 0.8 notitle, \
    "<" . BOUNDS using n:"simulated:best" with lines lt 2 \
        title "bound, best threshold", \
    "<" . BOUNDS using n:"simulated:all" with lines lt 3 \
        title "bound, the paper's threshold", \
    "<" . BOUNDS using n:"simulated:pair" with lines lt 6 \
        title "the same for one good link: (9)"
