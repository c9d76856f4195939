# plots/vigil_fig06a.gp -- per-flow accuracy against noise, one failed link.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
set xlabel "good links drop at rates up to"
set logscale x
set xtics ("10⁻⁷" 0.1, "10⁻⁶" 1, "10⁻⁵" 10, "10⁻⁴" 100)
set xrange [0.08:130]
set yrange [0:1.03]
set key bottom left
load "accuracy.gp"
