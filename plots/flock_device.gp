# plots/flock_device.gp -- a failed switch, by the share of its links.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 2.2; tall = 1.5
load "style.gp"
axis = "faults.share"; across = "share of the failed switch's links, %"; scale = 100; apart = 0.012
set xtics 25
set xrange [18:107]
load "flock.gp"
