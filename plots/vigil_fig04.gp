# plots/vigil_fig04.gp -- precision and recall of accused links.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
set xlabel "failed links"
set xrange [1:15]
set xtics 2
load "accused.gp"
