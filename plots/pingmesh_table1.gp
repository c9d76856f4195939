# plots/pingmesh_table1.gp -- drop rates of data centres, injected and measured.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
GROUPS = "intra_tor inter_pod"
array NAME[2] = ["intra-pod (one ToR)", "inter-pod"]
N_GROUPS = 5 # in the table, of each data centre
at(row, g) = floor(column(0) / N_GROUPS) + 1 + (g - 1.5) * 0.36
of(m, g) = strcol("group") eq word(GROUPS, g) ? column(m) : NaN
claim(i) = "claim:drop_rate" . (i > 1 ? sprintf("_%d", i) : "")
stats TABLE using "runs" nooutput
N = STATS_records / N_GROUPS
array LABEL[N]
do for [i = 1:N] {
	stats TABLE every ::(i - 1) * N_GROUPS::(i - 1) * N_GROUPS using \
	    (LABEL[i] = strcol("label"), 1) nooutput
}
array N_PROBES[2]
do for [g = 1:2] {
	stats TABLE using (of("drop_rate_trials", g)) nooutput
	N_PROBES[g] = STATS_min / 1e6
}
set xrange [0.5:N + 0.5]
set xtics ("" 0)
do for [i = 1:N] { set xtics add (LABEL[i] i) }
set yrange [0:1.2e-4]
set ylabel "drop rate"
set ytics ("0" 0, "2e-5" 2e-5, "4e-5" 4e-5, "6e-5" 6e-5, "8e-5" 8e-5, \
    "1e-4" 1e-4)
set key top right font tiny samplen 2
if (tty) {
	plot for [g = 1:2] TABLE using (at(0, g)):(of("drop_rate", g)): \
	    (of("drop_rate_lo", g)):(of("drop_rate_hi", g)) with yerrorbars \
	    title NAME[g]
	exit
}
set label FOOT sprintf("%.1f and %.1f million probes a bar; " \
    . "error bars: exact 95 %% intervals", N_PROBES[1], N_PROBES[2])
set boxwidth 0.3
plot for [g = 1:2] TABLE using (at(0, g)):(of("drop_rate", g)) with boxes \
    lt g dt 1 fs solid 0.35 border title NAME[g], \
    for [g = 1:2] TABLE using (at(0, g)):(of("drop_rate_lo", g)):(0): \
    (of("drop_rate_hi", g) - of("drop_rate_lo", g)) with vectors heads \
    size screen 0.005, 90 lt g dt 1 lw 1.5 notitle, \
    for [g = 1:2] TABLE using (at(0, g) - 0.17):(of("true_drop_rate", g)): \
    (0.34):(0) with vectors nohead lt 7 dt 1 lw 1.5 \
    title (g == 1 ? "injected" : ""), \
    for [i = 1:10] TABLE every ::0::0 using \
    (floor((i + 1) / 2) + ((i + 1) % 2 - 0.5) * 0.36):claim(i) with points \
    pt 2 ps 1.1 lw 1 lc rgb CLAIM title (i == 1 ? claim_drop_rate : "")
