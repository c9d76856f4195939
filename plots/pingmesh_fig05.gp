# plots/pingmesh_fig05.gp -- a service's level through a week, and the verdict.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The incident is shaded at its own times, not at those when it was found.
TABLE = ARG1; OUT = ARG2
tall = 1.2
load "style.gp"
day(s) = s / 86400.0
stats TABLE using "faults.0.from" nooutput
FROM = day(STATS_max)
stats TABLE using "faults.0.to" nooutput
TO = day(STATS_max)
stats TABLE using "claim:p99_us" nooutput
P99_LO = STATS_max / 1000
stats TABLE using "claim:p99_us_2" nooutput
P99_HI = STATS_max / 1000
stats TABLE using "claim:drop_rate" nooutput
RATE = STATS_max
stats TABLE using "window_s" nooutput
WINDOW = STATS_min
END = day(STATS_max)
middle(row) = day(column("window_s") - WINDOW / 2)
stats TABLE using (middle(0) > FROM && middle(0) < TO ? column("tier") : NaN) \
    nooutput
array TIER[4] = ["none", "unclear", "podset", "spine"]
SUSPECT = TIER[int(STATS_max) + 1]
verdict(row) = int(column("verdict")) + 1
# What is no alarm is drawn far below.
alarm(what) = column("alert_" . what) > 0 ? 1 : 1e-12
set xrange [0:END]
set xtics END > 2 ? 1 : 0.1
set logscale y
if (tty) {
	unset key
	set xlabel "day;  . not the network   N the network   S the servers"
	do for [m in "p99_us drop_rate"] {
		set format y m eq "p99_us" ? "%.0f" : "%.0e"
		set ylabel m
		plot TABLE using (middle(0)):m:(word("? . N S", verdict(0))) \
		    with labels
	}
	exit
}
array POINT[4] = [6, 7, 5, 9]
array COLOUR[4] = [0x777777, 0x0072b2, 0xd55e00, 0x009e73]
ALERT = "#bb0000"
unset title
note = "points: windows of " . gprintf("%g", WINDOW / 3600) \
    . sprintf(" h of %d runs, of drop rates with exact 95 %% intervals", runs)
set label FOOT note
set object 1 rectangle from FROM, graph 0 to TO, graph 1 behind \
    fc rgb "#dddddd" fs solid 1 noborder
set multiplot title head
set lmargin at screen 0.18
set key at screen 0.56, 0.905 center top horizontal maxrows 1 \
    font tiny samplen 1 width -5

set tmargin at screen 0.845; set bmargin at screen 0.52
set ylabel "P99 (ms)"
set format x ""
set yrange [0.4:20]
set ytics ("0.5" 0.5, "1" 1, "2" 2, "5" 5, "10" 10, "20" 20)
set label 3 "one of 16 spine switches drops\n2 %; tier found: " . SUSPECT \
    at TO + 0.009 * END, 2.6 font tiny
set label 4 "alert above 5 ms" at 0.008 * END, 5 offset 0, 0.5 tc rgb ALERT font tiny
set arrow 1 from 0, 5 to END, 5 nohead lc rgb ALERT dt (4, 3) lw 1 back
set arrow 2 from 0, P99_LO to END, P99_LO nohead lc rgb CLAIM dt (2, 4) \
    lw 1.5 back
set arrow 3 from 0, P99_HI to END, P99_HI nohead lc rgb CLAIM dt (2, 4) \
    lw 1.5 back
set label 5 claim_p99_us at END, P99_HI right offset 0, 0.5 \
    tc rgb CLAIM font tiny
plot TABLE using (middle(0)):(column("p99_us") / 1000) with lines lt 1 lw 1 \
    notitle, \
    TABLE using (middle(0)):(column("p99_us") / 1000):(POINT[verdict(0)]): \
    (COLOUR[verdict(0)]) with points pt variable lc rgb variable ps 0.35 \
    notitle, \
    TABLE using (middle(0)):(alarm("p99") * column("p99_us") / 1000) \
    with points pt 6 ps 1 lw 1 lc rgb ALERT title "alert", \
    keyentry with points pt POINT[2] lc rgb COLOUR[2] ps 0.35 \
    title "verdict: not the network", \
    keyentry with points pt POINT[3] lc rgb COLOUR[3] ps 0.35 \
    title "the network", \
    keyentry with points pt POINT[4] lc rgb COLOUR[4] ps 0.35 \
    title "the servers"

unset key; unset arrow 3; set label FOOT ""; unset label 3
set tmargin at screen 0.48; set bmargin at screen 0.145
set ylabel "drop rate"
set xlabel "day" offset 0, 0.4
set format x "%g"
set yrange [3e-6:1e-2]
set ytics ("0.001 %%" 1e-5, "0.01 %%" 1e-4, "0.1 %%" 1e-3, "1 %%" 1e-2)
set label 4 "alert above 0.1 %" at 0.008 * END, 1e-3
set arrow 1 from 0, 1e-3 to END, 1e-3
set arrow 2 from 0, RATE to END, RATE nohead lc rgb CLAIM dt (2, 4) lw 1.5 back
set label 5 claim_drop_rate at END, 1.2e-4
plot TABLE using (middle(0)):"drop_rate":"drop_rate_lo":"drop_rate_hi" \
    with yerrorbars lt 1 lw 1 pt 0, \
    TABLE using (middle(0)):"drop_rate":(POINT[verdict(0)]): \
    (COLOUR[verdict(0)]) with points pt variable lc rgb variable ps 0.35, \
    TABLE using (middle(0)):(alarm("drop") * column("drop_rate")) \
    with points pt 6 ps 1 lw 1 lc rgb ALERT
unset multiplot
