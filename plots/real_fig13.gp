# plots/real_fig13.gp -- the votes' lead in a cluster of real TCP.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
rates = "0.0005 0.001 0.01"
label(r) = sprintf("%g %% dropped", 100 * r)
lead(r) = column("faults.rate") == r + 0 ? column("vote:lead") : NaN
set xlabel "votes of the failed link less those of the best good link"
set ylabel "share of epochs"
set yrange [0:1.02]
set arrow 9 from 0, graph 0 to 0, graph 1 nohead lc rgb CLAIM dt (2, 4) lw 1.5 back
note = sprintf("%d epochs a rate; left of 0 a good link leads", runs)
set label FOOT note
set xrange [-1:*]
set key at graph 0.34, 0.97 left top
plot for [i = 1:3] each using (lead(word(rates, i))):(1.0 / runs) \
    smooth cumulative with steps lt i title label(word(rates, i))
