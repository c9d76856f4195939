# plots/vigil_fig10.gp -- accused links against one link's drop rate.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5; tall = 1.25
load "style.gp"
load "accused.gp"
