# plots/vigil_fig07b.gp -- failed links, few connections.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5; tall = 1.25
load "style.gp"
set yrange [*<0.945:1.003]
low = 0.88
load "accuracy.gp"
