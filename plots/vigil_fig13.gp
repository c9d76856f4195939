# plots/vigil_fig13.gp -- the votes' lead in a test cluster, by its traffic.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.6
load "style.gp"
rates = "0.0005 0.001 0.01"
skews = "0.3 0.8"
label(r) = sprintf("%g %% dropped", 100 * r)
# The distribution is drawn of one traffic, and the right side shows what other
# traffic would make of it.
lead(r) = column("faults.rate") == r + 0 && column("traffic.conns") == 60 && \
    column("traffic.hot_share") == 0.5 ? column("vote:lead") : NaN
first(r, s) = column("faults.rate") == r + 0 && \
    column("traffic.hot_share") == s + 0 ? column("traffic.conns") : NaN
f = "vote:worst_first_rate"
if (tty) {
	set logscale x
	plot for [r in rates] for [s in skews] TABLE using (first(r, s)):f \
	    with linespoints title label(r) . ", skew " . s
	exit
}
set multiplot layout 1, 2 title head
unset title
set label FOOT ""
set key font tiny samplen 3
set xlabel "votes of the failed link less those of the best good link"
set ylabel "share of epochs"
set yrange [0:1.02]
set arrow 9 from 0, graph 0 to 0, graph 1 nohead lc rgb CLAIM dt (2, 4)
note = sprintf("60 connections a host, half to 3 ToRs of 10; %d epochs a rate", \
    runs)
set label FOOT_LEFT note
set xrange [-1:*]
plot for [i = 1:3] each using (lead(word(rates, i))):(1.0 / runs) \
    smooth cumulative with steps lt i title label(word(rates, i))
unset arrow 9
set label FOOT_LEFT ""
stats TABLE using "claim:worst_first_rate" nooutput
set label FOOT "exact 95 % intervals; dotted, by the " . claim_worst_first_rate
set arrow 8 from graph 0, first STATS_max to graph 1, first STATS_max nohead \
    lc rgb CLAIM dt (2, 4) lw 1.5 back
set logscale x
set xlabel "connections a host and epoch"
set xtics (15, 60, 240, 960)
set xrange [11:1300]
set ylabel "epochs that the failed link leads"
plot for [i = 1:3] for [s in skews] TABLE using \
        (first(word(rates, i), s)):f:f."_lo":f."_hi" with yerrorbars lt i \
        notitle, \
    for [i = 1:3] for [s in skews] TABLE using \
        (first(word(rates, i), s)):f with linespoints lt i \
        lw (s eq "0.3" ? 2 : 1) title label(word(rates, i)) \
        . (s eq "0.3" ? ", uniform traffic" : ", 80 % to 3 ToRs")
unset multiplot
