# plots/everflow_fig07b.gp -- round trips of four links of one tier.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.25
load "style.gp"
LINKS = "A B C D"
of(i) = strcol("link") eq word(LINKS, i) ? column("link_rtt_us") / 1000 : NaN
set xlabel "time (s)"
set ylabel "round trip over the link (ms)"
set yrange [0:1.05]
set key top left horizontal
if (tty) {
	plot for [i = 1:4] TABLE using "time_s":(of(i)) with points \
	    title word(LINKS, i)
	exit
}
set label FOOT "greatest of each second's guided probes, one run"
set arrow 1 from graph 0, first 0.8 to graph 1, first 0.8 nohead lc rgb CLAIM \
    dt (2, 3)
set label 3 "the paper: link A up to 0.8 ms" at graph 0.99, first 0.83 right \
    font tiny tc rgb CLAIM
plot for [i = 1:4] TABLE using "time_s":(of(i)) with lines lt i dt 1 \
    lw (i == 1 ? 2 : 1) title word(LINKS, i)
