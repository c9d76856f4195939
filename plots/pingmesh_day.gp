# plots/pingmesh_day.gp -- a day of a large fleet: drop rate, and who is silent.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The incidents are shaded at their own times; colours say what the jobs made of
# each window.
TABLE = ARG1; OUT = ARG2
tall = 1.1
load "style.gp"
hour(s) = s / 3600.0
array FROM[2]; array TO[2]
do for [i = 1:2] {
	stats TABLE using sprintf("faults.%d.from", i - 1) nooutput
	FROM[i] = hour(STATS_max)
	stats TABLE using sprintf("faults.%d.to", i - 1) nooutput
	TO[i] = hour(STATS_max)
}
stats TABLE using "window_s" nooutput
WINDOW = STATS_min
END = hour(STATS_max)
middle(row) = hour(column("window_s") - WINDOW / 2)
set xrange [0:END]
set xtics 4
set logscale y
if (tty) {
	unset key
	set xlabel "hour"
	do for [m in "drop_rate unconnected_rate"] {
		set ylabel m
		plot TABLE using (middle(0)):m with points
	}
	exit
}
array COLOUR[4] = [0x0072b2, 0x777777, 0xe69f00, 0xd55e00]
tier(row) = COLOUR[int(column("tier")) + 1]
unset title
set label FOOT "points: windows of 10 minutes; drop rates with exact 95 % intervals"
do for [i = 1:2] {
	set object i rectangle from FROM[i], graph 0 to TO[i], graph 1 behind \
	    fc rgb "#dddddd" fs solid 1 noborder
}
set multiplot title head
set lmargin at screen 0.18
set key at screen 0.56, 0.905 center top horizontal maxrows 1 \
    font tiny samplen 1 width -3

set tmargin at screen 0.845; set bmargin at screen 0.52
set ylabel "drop rate"
set format x ""
set format y "%.0e"
set yrange [2e-5:2e-2]
set ytics ("0.01 %%" 1e-4, "0.1 %%" 1e-3, "1 %%" 1e-2)
set label 3 "one of 16 spine\nswitches drops 0.5 %" at TO[1] + 0.3, 2.5e-3 \
    font tiny
plot TABLE using (middle(0)):"drop_rate":"drop_rate_lo":"drop_rate_hi" \
    with yerrorbars lt 1 lw 1 pt 0 notitle, \
    TABLE using (middle(0)):"drop_rate":(tier(0)) with points pt 7 \
    lc rgb variable ps 0.3 notitle, \
    keyentry with points pt 7 lc rgb COLOUR[1] ps 0.4 title "tier found: none", \
    keyentry with points pt 7 lc rgb COLOUR[3] ps 0.4 title "pod", \
    keyentry with points pt 7 lc rgb COLOUR[4] ps 0.4 title "spine"

unset key; set label FOOT ""; unset label 3
set tmargin at screen 0.48; set bmargin at screen 0.145
set ylabel "failed connects"
set xlabel "hour" offset 0, 0.4
set format x "%g"
set yrange [1e-8:1]
set ytics ("1 ppm" 1e-6, "0.01 %%" 1e-4, "1 %%" 1e-2)
set label 3 "a pod is\nwithout power" at TO[2] + 0.3, 5e-3 font tiny
plot TABLE using (middle(0)):(column("unconnected_rate") > 0 ? \
    column("unconnected_rate") : NaN) with points pt 7 lc rgb "#0072b2" ps 0.3
unset multiplot
