# plots/pingmesh_fig08.gp -- matrices of P99, and what is read from them.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Green, yellow and red are the paper's; they differ in lightness too, red being
# the darkest, so that they are told apart in any vision and in print.
TABLE = ARG1; OUT = ARG2
tall = 1.6
load "style.gp"
array PATTERN[5] = ["normal", "unclear", "podset down", "podset failure", \
    "spine failure"]
stats TABLE using "from" nooutput
N = int(STATS_max) + 1
N_PANELS = int(STATS_records / N**2)
array INJECTED[N_PANELS]
array FOUND[N_PANELS]
do for [i = 1:N_PANELS] {
	stats TABLE every ::(i - 1) * N**2::(i - 1) * N**2 using \
	    (INJECTED[i] = strcol("label"), column("pattern")) nooutput
	FOUND[i] = PATTERN[int(STATS_max) + 1]
}
level(us) = us != us ? 3 : us < 4000 ? 0 : us <= 5000 ? 1 : 2
unset title; unset grid; set label FOOT ""
set xtics 0, 10; set ytics 0, 10
set xrange [-0.5:N - 0.5]
set yrange [N - 0.5:-0.5]
if (tty) {
	set terminal dumb N + 7, N + 6 noenhanced
	unset xtics; unset ytics
	unset key
	mark(us) = word(". + #", level(us) + 1)
	do for [i = 1:N_PANELS] {
		set title INJECTED[i] . ", found: " . FOUND[i]
		plot TABLE every ::(i - 1) * N**2::i * N**2 - 1 using \
		    "to":"from":(mark(column("p99_us"))) with labels
	}
	print "P99  .  below 4 ms   +  to 5 ms   #  above   blank  no data"
	exit
}
array COLOUR[4] = ["#4daf6d", "#f7e34b", "#9e0d2a", "#ffffff"]
array MEANING[4] = ["P99 below 4 ms", "4 to 5 ms", "above 5 ms", "no data"]
set palette maxcolors 4 defined (0 COLOUR[1], 1 COLOUR[2], 2 COLOUR[3], \
    3 COLOUR[4])
set cbrange [-0.5:3.5]
unset colorbox
set border 15 lw 0.8
set multiplot title head
set lmargin at screen 0.02; set rmargin at screen 0.98
set bmargin at screen 0.01; set tmargin at screen 0.05
set key center center horizontal maxrows 1 font tiny samplen 1 width 1
unset border; unset xtics; unset ytics
plot for [i = 1:4] NaN with boxes lt 1 lc rgb COLOUR[i] \
    fs solid 1 border lc rgb "#444444" title MEANING[i]
unset key
set border 15 lw 0.8
set xtics 0, 10 out nomirror font tiny offset 0, 0.4
set ytics 0, 10 out nomirror font tiny offset 0.6
do for [i = 1:N_PANELS] {
	left = i % 2 ? 0.1 : 0.6
	low = i < 3 ? 0.55 : 0.11
	set lmargin at screen left; set rmargin at screen left + 0.365
	set bmargin at screen low; set tmargin at screen low + 0.305
	set title "injected: " . INJECTED[i] . "\nfound: " . FOUND[i] \
	    font small offset 0, -0.6
	set xlabel "to pod" offset 0, 1 font small
	set ylabel "from pod" offset 2 font small
	plot TABLE every ::(i - 1) * N**2::i * N**2 - 1 using \
	    "to":"from":(level(column("p99_us"))) with image pixels
}
unset multiplot
