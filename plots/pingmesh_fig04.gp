# plots/pingmesh_fig04.gp -- tails of round trips, and quantiles of the paper.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
stats TABLE using (column("tail") == 0.5 ? 1 : NaN) nooutput
N_CURVES = STATS_records
stats TABLE using "tail" nooutput
N = STATS_records / N_CURVES
stats TABLE using "n_probes" nooutput
N_PROBES = STATS_max
N_ECHOES = STATS_min
array LABEL[N_CURVES]
do for [i = 1:N_CURVES] {
	stats TABLE every ::(i - 1) * N::(i - 1) * N using \
	    (LABEL[i] = strcol("label"), 1) nooutput
}
# The claims in the spec's order: whose share exceeds each.
TAILS = "0.5 0.01 0.5 0.01 0.001 0.0001 0.5 0.01 0.001 0.0001"
claim(i) = "claim:rtt_us" . (i > 1 ? sprintf("_%d", i) : "")
ms(name) = column(name) / 1000
set logscale xy
set xrange [0.1:2e4]
set yrange [1e-5:1]
set xlabel "round trip (ms)" offset 0, 0.4
set ylabel "percentile"
set format x "%g"
set ytics ("P50" 0.5, "P90" 0.1, "P99" 1e-2, "P99.9" 1e-3, "P99.99" 1e-4, \
    "P99.999" 1e-5)
set key bottom left font tiny samplen 3
if (tty) {
	plot for [i = 1:N_CURVES] TABLE every ::(i - 1) * N::i * N - 1 using \
	    (ms("rtt_us")):"tail" with points title LABEL[i]
	exit
}
set label FOOT sprintf("means of %d runs of %.2g billion probes and less; " \
    . "payloads of %.2g million", runs, N_PROBES / 1e9, N_ECHOES / 1e6)
set arrow 1 from 3000, 1e-5 to 3000, 1 nohead lc rgb "#bbbbbb" lw 1 back
set label 3 "a lost SYN is sent again" at 3000, 0.6 right offset -0.5, 0 \
    tc rgb "#777777" font tiny
plot for [i = 1:N_CURVES] TABLE every ::(i - 1) * N::i * N - 1 using \
    (ms("rtt_us")):"tail" with lines lt i title LABEL[i], \
    for [i = 1:words(TAILS)] TABLE every ::0::0 using (ms(claim(i))): \
    (word(TAILS, i) + 0) with points pt 2 ps 1.1 lw 1 lc rgb CLAIM \
    title (i == 1 ? claim_rtt_us : "")
