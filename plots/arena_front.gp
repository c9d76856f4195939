# plots/arena_front.gp -- accuracy against what telemetry costs, with its front.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Of `culprit arena --plot`, from its front.tsv.
TABLE = ARG1; OUT = ARG2
wide = 1.5
tall = 1.15
load "style.gp"
# Algorithms of one telemetry stand side by side, within a tenth.
n = words(algos)
shift(i) = n > 1 ? 1.11 ** ((i - (n + 1) / 2.) / n) : 1
# Whoever reads none of these telemetries has no row.
there = " "
add(a) = strstrt(there, " \"" . a . "\" ") ? 0 : \
    (there = there . "\"" . a . "\" ", 1)
stats TABLE using (add(strcol("algorithm"))) nooutput
stats TABLE using "host_bytes_s" nooutput
of(a, c) = strcol("algorithm") eq a ? column(c) : NaN
nth(a) = sum [i = 1:n] (word(algos, i) eq a ? i : 0)
place(c) = column(c) * shift(nth(strcol("algorithm")))
in_front(c) = column("in_front") == 1 ? column(c) : NaN
answers(c) = strcol("answer") eq "-" ? NaN : column(c)
# No F is beyond these, though its interval may be.
least(v) = v < 0 ? 0 : v
most(v) = v > 1 ? 1 : v
# Names of telemetries take turns in three lines, in the order of what they cost.
last = ""
new(t) = t eq last ? 0 : (last = t, 1)
high(c) = 1.05 + 0.055 * (int(column("order")) % 3)

set title "Which localiser finds the fault with the least telemetry?\n" . title
set logscale x
set xlabel "bytes that a host sends for its telemetry, a second"
set ylabel "F, mean of all families of faults"
set yrange [0:1.2]
set ytics 0, 0.2, 1
set rmargin at screen 0.715
set key at screen 0.995, 0.86 right top
set xrange [STATS_min / 1.5:STATS_max * 1.9]
set label FOOT told at screen 0.985, 0.02
plot last = "", TABLE using "host_bytes_s":(0):(0): \
        (new(strcol("telemetry")) ? high(0) - 0.025 : 0) with vectors nohead \
        lc rgb "#d0d0d0" lw 0.7 dt 3 notitle, \
    last = "", TABLE using "host_bytes_s":(high(0)): \
        (new(strcol("telemetry")) ? strcol("telemetry") : "") with labels \
        center font tiny tc rgb CLAIM noenhanced notitle, \
    TABLE using (in_front("host_bytes_s")):(in_front("f")) smooth unique \
        with steps lc rgb CLAIM dt 2 lw 1.5 title "nothing is better for less", \
    for [a in there] TABLE using \
        (column("host_bytes_s") * shift(nth(a))):(of(a, "f")): \
        (least(of(a, "f_lo"))):(most(of(a, "f_hi"))) \
        with yerrorbars lt look(a) ps 1 notitle, \
    for [a in there] NaN with points lt look(a) ps 1 title a, \
    TABLE using (answers("host_bytes_s") * place("f") / column("f")): \
        (answers("f")) with points pt 6 ps 2.2 lw 1.6 lc rgb "#222222" \
        title "the best; least telemetry", \
    TABLE using (in_front("host_bytes_s") * place("f") / column("f") * 1.05): \
        (in_front("f")):(strcol("algorithm")) with labels left offset 0.2, 0.55 \
        font tiny noenhanced notitle
