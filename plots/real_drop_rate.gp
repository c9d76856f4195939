# plots/real_drop_rate.gp -- estimated drop rates by three sets of SYN timers.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Rows of the table: by rate, by timers, then as in KIND. With m waits an
# estimate is q (1 - q^m) / (1 - q^(m + 1)) where servers never repeat a SYN-ACK
# (algos/pingmesh/drop_rate.h).
TABLE = ARG1; OUT = ARG2
wide = 1.4
load "style.gp"
array KIND[3] = ["simulated, servers silent", \
    "simulated, SYN-ACKs again after 1, 3, 7 s", "real connects"]
array POINT[3] = [6, 4, 7]
array TIMERS[3] = ["1, 2, 3, 4, 5, 7 s\nLinux", "1, 3, 7 s\nnot linear", \
    "3, 9 s\nby eBPF"]
array WAITS[3] = [6, 3, 2]
lost(r) = 1 - (1 - r)**4
closed(q, m) = q * (1 - q**m) / (1 - q**(m + 1))
stats TABLE using "faults.rate" nooutput
N = STATS_records / 9
timers(row) = int(row / 3) % 3
at(row) = int(row / 9) * 3.5 + timers(row) + (int(row) % 3 - 1) * 0.22
of(m, k) = int($0) % 3 == k - 1 ? column(m) : NaN
array Q[N]
do for [i = 1:N] {
	stats TABLE every ::9 * i - 9::9 * i - 9 using \
	    (Q[i] = lost(column("faults.rate")), 1) nooutput
}
set xrange [-0.6:3.5 * N - 0.9]
set xtics ("" 0) scale 0 font tiny
do for [i = 1:N] { do for [k = 1:3] {
	set xtics add (TIMERS[k] 3.5 * (i - 1) + k - 1)
} }
set yrange [0:0.75]
set ylabel "drop rate"
set key top left font tiny samplen 2 spacing 1.05
if (tty) {
	plot for [k = 1:3] TABLE using (at($0)):(of("drop_rate", k)): \
	    (of("drop_rate_lo", k)):(of("drop_rate_hi", k)) with yerrorbars \
	    title KIND[k]
	exit
}
set label FOOT "bars: exact 95 % intervals; dotted: injected"
set xlabel "a SYN is sent again after" offset 0, -2
set bmargin 8
do for [i = 1:N] {
	set label 10 + i sprintf("injected %.3f", Q[i]) at \
	    3.5 * (i - 1) + 1, graph -0.23 center font tiny tc rgb CLAIM
	set arrow 10 + i from 3.5 * (i - 1) - 0.5, first Q[i] to \
	    3.5 * (i - 1) + 2.5, first Q[i] nohead lc rgb CLAIM dt (2, 4) lw 1.5 back
}
plot TABLE using (at($0) - 0.11):(closed(lost(column("faults.rate")), \
    WAITS[timers($0) + 1])):(int($0) % 3 == 0 ? 0.66 : NaN):(0) with vectors \
    nohead lt 7 dt 1 lw 1.5 title "closed form, servers silent", \
    for [k = 1:3] TABLE using (at($0)):(of("drop_rate", k)): \
    (of("drop_rate_lo", k)):(of("drop_rate_hi", k)) with yerrorbars lt k dt 1 \
    pt POINT[k] ps 0.7 title KIND[k]
