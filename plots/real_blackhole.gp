# plots/real_blackhole.gp -- ToRs named, simulated and by real connects.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Rows of the table: by type, by share of corrupt entries, sim before netns.
TABLE = ARG1; OUT = ARG2
tall = 1.15
load "style.gp"
array FABRIC[2] = ["simulated", "real connects"]
stats TABLE using "runs" nooutput
N = STATS_records / 2 # places on the x axis
stats TABLE using (strcol("faults.kind") eq "black_hole_1" ? 1 : NaN) nooutput
N_1 = STATS_records / 2
at(row, f) = floor(row / 2) + (f - 1.5) * 0.36 + (row < 2 * N_1 ? 0 : 0.6)
of(m, f) = strcol("fabric") eq (f == 1 ? "sim" : "netns") ? column(m) : NaN
fill(f) = f == 1 ? 0.25 : 0.7
array ENTRIES[N]
do for [i = 1:N] {
	stats TABLE every ::2 * i - 2::2 * i - 2 using \
	    (ENTRIES[i] = column("faults.entries"), 1) nooutput
}
set xrange [-0.6:N + 0.2]
set xtics ("" 0) scale 0
do for [i = 1:N] {
	set xtics add (sprintf("%g %%%%", 100 * ENTRIES[i]) at(2 * i - 2, 1.5))
}
set key at screen 0.98, 0.865 right bottom horizontal maxrows 1 width -2
set boxwidth 0.32
if (tty) {
	set ylabel "recall"
	set yrange [0:1.3]
	plot for [f = 1:2] TABLE using (at($0, f)): \
	    (of("blackhole:recall", f)) with boxes title FABRIC[f]
	exit
}
set multiplot title head
unset title
set label FOOT ""
set lmargin at screen 0.12; set rmargin at screen 0.98
set bmargin at screen 0.57; set tmargin at screen 0.86
set yrange [0:1.2]
set ytics 0, 0.5, 1
set ylabel "recall of bad ToRs" font small offset 1
said(f) = sprintf("%.0f/%.0f", of("n_candidates_true", f), \
    of("n_candidates", f))
R = "blackhole:recall"
plot for [f = 1:2] TABLE using (at($0, f)):(of(R, f)) with boxes lt f dt 1 \
        fs solid fill(f) border title FABRIC[f], \
    for [f = 1:2] TABLE using (at($0, f)):(of(R."_lo", f)):(0): \
        (of(R."_hi", f) - of(R."_lo", f)) with vectors heads \
        size screen 0.004, 90 lt 7 dt 1 lw 1 notitle, \
    for [f = 1:2] TABLE using (at($0, f)):(0 * of(R, f) + 1.1):(said(f)) \
        with labels font tiny notitle
unset key
note = "thin: exact 95 % intervals; above: bad ToRs of those named, " \
    . "connects that timed out"
set label FOOT note
set bmargin at screen 0.22; set tmargin at screen 0.49
set yrange [0:0.25]
set ytics 0, 0.1, 0.2
set ylabel "share timed out" font small offset 1
set xlabel "corrupt entries of 2 of 8 ToRs" offset 0, -1.2
set label 11 "type 1: address pairs" at (N_1 - 1) / 2.0, graph -0.28 center \
    font small
set label 12 "type 2: five-tuples" at (N_1 + N - 1) / 2.0 + 0.6, \
    graph -0.28 center font small
S = "unconnected_rate"
plot for [f = 1:2] TABLE using (at($0, f)):(of(S, f)) with boxes lt f dt 1 \
        fs solid fill(f) border notitle, \
    for [f = 1:2] TABLE using (at($0, f)):(of(S."_lo", f)):(0): \
        (of(S."_hi", f) - of(S."_lo", f)) with vectors heads \
        size screen 0.004, 90 lt 7 dt 1 lw 1 notitle, \
    for [f = 1:2] TABLE using (at($0, f)):(of(S."_hi", f)): \
        (sprintf("%.0f", of("n_unconnected", f))) with labels \
        offset 0, 0.6 font tiny notitle
unset multiplot
