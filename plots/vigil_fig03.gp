# plots/vigil_fig03.gp -- per-flow accuracy against failed links, theorem 2 holds.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
set xlabel "failed links"
set xrange [1:15]
set xtics 2
set yrange [0.8:1.01]
set ytics 0.05
load "accuracy.gp"
