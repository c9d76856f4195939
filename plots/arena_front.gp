# plots/arena_front.gp -- accuracy against what telemetry costs, with its front.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Of `culprit arena --plot`, from its front.tsv.
TABLE = ARG1; OUT = ARG2
wide = 1.35
load "style.gp"
stats TABLE using "host_bytes_s" nooutput
of(a, c) = strcol("algorithm") eq a ? column(c) : NaN
shift(i) = 1.02 ** (i - (words(algos) + 1) / 2.)
in_front(c) = column("in_front") == 1 ? column(c) : NaN
set logscale x
set xlabel "bytes that a host sends for it, a second"
set ylabel "F, mean of all families"
set yrange [0:1.04]
set rmargin at screen 0.74
set key at screen 0.98, 0.9 right top
set xrange [STATS_min / 1.6:STATS_max * 2.2]
set label FOOT told
plot TABLE using (in_front("host_bytes_s")):(in_front("f")) smooth unique \
        with steps lc rgb CLAIM dt 2 lw 1.5 title "front", \
    for [i = 1:words(algos)] TABLE using \
        (column("host_bytes_s") * shift(i)):(of(word(algos, i), "f")): \
        (of(word(algos, i), "f_lo")):(of(word(algos, i), "f_hi")) \
        with yerrorbars lt look(word(algos, i)) ps 1 title word(algos, i), \
    TABLE using (in_front("host_bytes_s") * 1.06):(in_front("f")): \
        (strcol("telemetry")) with labels left offset 0.3, 0.6 \
        font tiny noenhanced notitle
