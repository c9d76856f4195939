# plots/vigil_fig05a.gp -- per-flow accuracy against one link's drop rate.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5; tall = 1.25
load "style.gp"
set yrange [0:1.03]
low = 0
load "accuracy.gp"
