# plots/vigil_fig08a.gp -- one failed link, skewed traffic.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
set xlabel "drop rate of the failed link"
set logscale x
set xtics ("0.01 %%" 1e-4, "0.03 %%" 3e-4, "0.1 %%" 1e-3, "0.3 %%" 3e-3, "1 %%" 1e-2)
set xrange [0.8e-4:1.25e-2]
set yrange [0:1.03]
load "accuracy.gp"
