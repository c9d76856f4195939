# plots/vigil_fig10.gp -- accused links against one link's drop rate.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
set xlabel "drop rate of the failed link"
set logscale x
set xtics ("0.01 %%" 1e-4, "0.1 %%" 1e-3, "1 %%" 1e-2)
set xrange [0.8e-4:1.25e-2]
load "accused.gp"
