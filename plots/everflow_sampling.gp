# plots/everflow_sampling.gp -- traces of whole paths, by two ways to sample.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
N = "everflow.sample_n"
W = "whole_rate"
of(way, v) = strcol("everflow.sample") eq way ? column(v) : NaN
# Of 28 hosts 12 are 3 switches away and 16 are 5. By chance a packet is seen at
# all h with n^-h, and at any with 1 - (1 - 1/n)^h.
any(n, h) = 1 - (1 - 1.0 / n) ** h
whole(n) = (12.0 * n ** -3 + 16.0 * n ** -5) / (12 * any(n, 3) + 16 * any(n, 5))
set xlabel "one packet in N is sampled"
set ylabel "whole traces / traces"
set logscale xy
set xrange [0.9:20]
set yrange [1e-4:2]
set xtics (1, 2, 4, 8, 16)
set ytics ("0.01 %%" 1e-4, "0.1 %%" 1e-3, "1 %%" 1e-2, "10 %%" 1e-1, "100 %%" 1)
set key bottom left
if (tty) {
	plot TABLE using N:(of("id", W)) with linespoints title "by IP ID", \
	    TABLE using N:(of("random", W)) with linespoints title "by chance"
	exit
}
set label FOOT sprintf("points: %d runs, with 95 %% intervals; line: closed form", runs)
set samples 400
plot x >= 1 && x <= 16 ? whole(x) : NaN with lines lt 2 lw 1 notitle, \
    TABLE using N:(of("id", W)):(of("id", W."_lo")):(of("id", W."_hi")) \
        with yerrorbars lt 1 title "by bits of the IP ID, the same at all switches", \
    TABLE using N:(of("random", W)):(of("random", W."_lo")):(of("random", W."_hi")) \
        with yerrorbars lt 2 title "by chance, at each switch for itself"
