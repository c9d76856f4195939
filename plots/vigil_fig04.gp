# plots/vigil_fig04.gp -- precision and recall of accused links.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5; tall = 1.25
load "style.gp"
load "accused.gp"
