# plots/vigil_fig12.gp -- accused links when one drops far more than the others.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5; tall = 1.25
load "style.gp"
shift = 1
# Those that accuse all links with votes are for their ranking, not to be drawn.
drawn = ""
do for [a in algos] { if (!strstrt(a, "_all")) { drawn = drawn . " " . a } }
algos = drawn
load "accused.gp"
