# plots/arena_map.gp -- F of each algorithm and telemetry in each family.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Of `culprit arena --plot`, from its map.tsv. Where nothing fails it is the share
# of windows without an accusation.
TABLE = ARG1; OUT = ARG2
wide = 1.3
tall = 1.4
load "style.gp"
set palette defined (0 "#d55e00", 0.5 "#f7f3e3", 1 "#0072b2")
set cbrange [0:1]
set cblabel "F; where nothing fails, windows without an accusation" font small
set lmargin 22
set rmargin 12
unset grid
set border 0
set tics scale 0
stats TABLE using "row" name "R" nooutput
stats TABLE using "column" nooutput
set yrange [R_max + 0.5:-0.5]
set xrange [-0.5:STATS_max + 0.5]
set ytics font tiny
set xtics font small
set cbtics font small
unset key
set label FOOT told
set style fill solid 1 noborder
dark(v) = v < 0.2 || v > 0.8 ? 0xffffff : 0x222222
plot TABLE using "column":"row":(column("column") - 0.48): \
        (column("column") + 0.48):(column("row") - 0.46): \
        (column("row") + 0.46):"value" with boxxyerror fc palette fs solid 1, \
    TABLE using "column":"row":(sprintf("%.2f", column("value"))): \
        (dark(column("value"))):ytic(strcol("entry")):xtic(strcol("family")) \
        with labels font tiny tc rgb variable
