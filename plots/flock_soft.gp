# plots/flock_soft.gp -- links that lose little more than good ones, and Sherlock.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 2.2; tall = 1.5
load "style.gp"
axis = "faults.rate"; across = "loss of both failed links, %"; scale = 100; apart = 0.03
set logscale x
set xtics (0.02, 0.05, 0.1, 0.2, 0.5)
set xrange [0.017:0.6]
load "flock.gp"
