# plots/style.gp -- what all figures share: terminal, palette, curves.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `culprit plot` runs a script as  gnuplot -e VARS -c SCRIPT.gp TABLE OUT  with
# the table of `culprit table`; OUT ends in .svg, .pdf or .png, or is "-" for the
# terminal. VARS: title, paper, partial, runs, x (the first axis), algos,
# each (a pipe of `culprit table --runs`), and the wording of what the paper
# states: claim_<metric>, of several on a metric claim_<metric>_2 for the second.
# A script begins with TABLE = ARG1; OUT = ARG2, since `load` hides the
# arguments. `tall` and `wide`, set before, are factors on a figure's size.

if (!exists("title")) title = ""
if (!exists("paper")) paper = ""
if (!exists("partial")) partial = ""
if (!exists("runs")) runs = 0
if (!exists("algos")) algos = ""
if (!exists("tall")) tall = 1
if (!exists("wide")) wide = 1

ext = OUT[strlen(OUT) - 2:*]
tty = OUT eq "-"

small = ext eq "png" ? ",20" : ext eq "pdf" ? ",10" : ",11"
tiny = ext eq "png" ? ",16" : ext eq "pdf" ? ",8" : ",9"

if (tty) {
	set terminal dumb 100 30 noenhanced
} else { if (ext eq "svg") {
	set terminal svg size 640 * wide,440 * tall noenhanced font "DejaVu Sans,13" \
	    background "#ffffff" linewidth 1.2
} else { if (ext eq "pdf") {
	set terminal pdfcairo size 16 * wide cm,11 * tall cm noenhanced font "DejaVu Sans,11" \
	    linewidth 1.5
} else {
	set terminal pngcairo size 1280 * wide,880 * tall noenhanced font "DejaVu Sans,24" \
	    linewidth 2.4
} } }
if (!tty) set output OUT

# Okabe and Ito's eight colours, told apart also without colour vision; each
# with its own point and dash.
set linetype 1 lc rgb "#0072b2" pt 7 dt 1 lw 2
set linetype 2 lc rgb "#d55e00" pt 5 dt (8, 3) lw 2
set linetype 3 lc rgb "#009e73" pt 9 dt (3, 3) lw 2
set linetype 4 lc rgb "#cc79a7" pt 13 dt (10, 3, 2, 3) lw 2
set linetype 5 lc rgb "#e69f00" pt 11 dt (6, 2) lw 2
set linetype 6 lc rgb "#56b4e9" pt 6 dt (2, 2) lw 2
set linetype 7 lc rgb "#000000" pt 4 dt (12, 4) lw 2
set linetype 8 lc rgb "#f0e442" pt 8 dt 1 lw 2
CLAIM = "#666666"

set datafile separator "\t"
set datafile missing "NaN"
set datafile columnheaders
set border 3 lw 0.8
set tics nomirror out scale 0.6
set grid y lc rgb "#d8d8d8" lw 0.6 dt 1
set key inside bottom right vertical Left reverse samplen 3 spacing 1.15 \
    opaque fillcolor rgb "#ffffff" noenhanced font small
set style fill transparent solid 0.14 noborder
set pointsize 0.7
set bars 0.6

if (title ne "") set title title . (paper eq "" ? "" : "\n" . paper)
if (partial ne "") set label 1 partial at graph 0.5,0.5 center \
    tc rgb "#bb0000" front
note = sprintf("points: pooled over %d runs with exact 95 %% intervals; " \
    . "bands: 10 %% to 90 %% of runs", runs)
if (!tty) {
	set label 2 note at screen 0.985,0.02 right tc rgb "#777777" \
	    font tiny
	set bmargin 5
	set rmargin 2
}
