# plots/real_pingmesh_heatmap.gp -- matrices of P99 of real connects.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
tall = 0.9
load "style.gp"
array PATTERN[5] = ["normal", "unclear", "pod down", "pod failure", \
    "spine failure"]
stats TABLE using "from" nooutput
N = int(STATS_max) + 1
array LABEL[2]
array FOUND[2]
do for [i = 1:2] {
	stats TABLE every ::(i - 1) * N**2::(i - 1) * N**2 using \
	    (LABEL[i] = strcol("label"), column("pattern")) nooutput
	FOUND[i] = PATTERN[int(STATS_max) + 1]
}
unset title; unset grid; set label FOOT ""; unset key
set xrange [-0.5:N - 0.5]
set yrange [N - 0.5:-0.5]
set xtics 1 font small; set ytics 1 font small
if (tty) {
	set terminal dumb 9 * N + 8, N + 6 noenhanced
	do for [i = 1:2] {
		set title LABEL[i] . ", found: " . FOUND[i] . "; P99 in us"
		plot TABLE every ::(i - 1) * N**2::i * N**2 - 1 using \
		    "to":"from":(sprintf("%.0f", column("p99_us"))) with labels
	}
	exit
}
# Cividis: dark is fast; alike in any vision, and in print.
set palette defined (0 "#00224e", 0.25 "#35456c", 0.5 "#7d7c78", \
    0.75 "#c0ac6b", 1 "#fee838")
set logscale cb
set cbrange [50:20000]
set cbtics ("50 us" 50, "100" 100, "200" 200, "500" 500, "1 ms" 1000, \
    "2" 2000, "5" 5000, "10 ms" 10000, "20" 20000) font tiny
set border 15 lw 0.8
set style fill solid
set multiplot title title
do for [i = 1:2] {
	left = i == 1 ? 0.11 : 0.53
	set lmargin at screen left; set rmargin at screen left + 0.335
	set bmargin at screen 0.16; set tmargin at screen 0.77
	set title "injected: " . LABEL[i] . "\nfound: " . FOUND[i] \
	    font small offset 0, -0.4
	set xlabel "to ToR" font small offset 0, 0.8
	set ylabel (i == 1 ? "from ToR" : "") font small offset 0.5
	if (i == 2) { set colorbox user origin 0.89, 0.16 size 0.02, 0.61 } \
	else { unset colorbox }
	plot TABLE every ::(i - 1) * N**2::i * N**2 - 1 using \
	    "to":"from":"p99_us" with image pixels
}
unset multiplot
