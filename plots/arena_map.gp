# plots/arena_map.gp -- F of each algorithm and telemetry in each family.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Of `culprit arena --plot`, from its map.tsv. Where nothing fails it is the share
# of windows without an accusation.
TABLE = ARG1; OUT = ARG2
set datafile separator "\t"
set datafile columnheaders
stats TABLE using "row" name "R" nooutput
stats TABLE using "column" name "C" nooutput
wide = 0.6 + 0.075 * (C_max + 1)
if (wide < 1.1) { wide = 1.1 }
tall = 0.46 + 0.026 * (R_max + 1)
if (tall < 0.8) { tall = 0.8 }
load "style.gp"
set palette defined (0 "#d55e00", 0.5 "#f7f3e3", 1 "#0072b2")
set cbrange [0:1]
set title title . "\nF by family of faults; where nothing fails, the share of windows without an accusation" font small
set lmargin at screen 0.31 / wide
set rmargin at screen 1 - 0.16 / wide
set tmargin at screen 1 - 0.16 / tall
set bmargin at screen 0.2 / tall
unset grid
set border 0
set tics scale 0
set yrange [R_max + 0.5:-0.5]
set xrange [-0.5:C_max + 0.5]
set ytics font tiny
set xtics font tiny rotate by 40 right
set cbtics font tiny
unset key
set label FOOT sprintf("means of %d runs; white: no answer, which counts as 0 in means", runs)
set style fill solid 1 noborder
dark(v) = v < 0.2 || v > 0.8 ? 0xffffff : 0x222222
# Two digits behind the point, which are enough of what is no more than 1.
short(v) = v > 0.995 ? "1" : v < 0.005 ? "0" : sprintf("%.2f", v)[2:*]
plot TABLE using "column":"row":(column("column") - 0.48): \
        (column("column") + 0.48):(column("row") - 0.46): \
        (column("row") + 0.46):"value" with boxxyerror fc palette fs solid 1, \
    TABLE using "column":"row":(short(column("value"))): \
        (dark(column("value"))):ytic(strcol("entry")):xtic(strcol("family")) \
        with labels font tiny tc rgb variable
