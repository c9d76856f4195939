# plots/everflow_cases.gp -- what is broken against what debuggers name.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Green: a debugger that is for the fault names it, and nothing else; the darker,
# the more often. Red: one that is not says something all the same. Both differ
# in lightness, too, and each place has its number with its interval.
TABLE = ARG1; OUT = ARG2
wide = 1.35; tall = 1.45
load "style.gp"
D = "latency drop loop ecmp rdma"
across(d) = int(sum [i = 1:5] (word(D, i) eq d ? i : 0))
down(dummy) = int(column(0) / 5)
due(dummy) = column("n_due") > 0
percent(c) = due(0) ? 100 * column("named_rate" . c) \
    : 100 * column("alarm_rate" . c)
# Shown is from -100, always a false alarm, to 100, always named.
shown(dummy) = due(0) ? percent("") : -percent("")
range(dummy) = sprintf("%.0f to %.0f", percent("_lo"), percent("_hi"))
stats TABLE using (1) nooutput
N = int(STATS_records / 5)
set xrange [0.5:5.5]
set yrange [N - 0.5:-0.5]
unset grid
if (tty) {
	unset xtics; unset ytics; unset key
	plot TABLE using (across(strcol("debugger"))):(down(0)): \
	    (sprintf("%.0f", shown(0))) with labels
	exit
}
set xtics ("latency" 1, "drop" 2, "loop" 3, "ecmp" 4, "rdma" 5) scale 0
set x2label "debugger" offset 0, -0.5
set ytics scale 0 font small
set lmargin 19
set border 0
set palette defined (-100 "#9e0d2a", -1 "#f4a582", 0 "#f7f7f7", 50 "#a6dba0", \
    100 "#2f9e4f")
set cbrange [-100:100]
unset colorbox
unset key
note = sprintf("%% of %d runs in which it is named, and nothing else (green), " \
    . "or anything is (red); below: exact 95 %% intervals", runs)
set label FOOT note
plot TABLE using (across(strcol("debugger"))):(down(0)):(shown(0)): \
        ytic(strcol("label")) with image pixels, \
    TABLE using (across(strcol("debugger"))):(down(0) - 0.14): \
        (sprintf("%.0f", percent(""))) with labels font small, \
    TABLE using (across(strcol("debugger"))):(down(0) + 0.22):(range(0)) \
        with labels font tiny tc rgb "#444444"
