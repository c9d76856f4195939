# plots/flock_uniform.gp -- one failed link, by what it loses and what is seen.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 2.2; tall = 1.5
load "style.gp"
axis = "faults.rate"; across = "loss of the failed link, %"; scale = 100; apart = 0.012
set xtics 0, 0.4, 2
set xrange [0:2]
load "flock.gp"
