# plots/real_vs_sim.gp -- six scenes, simulated and on real TCP.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A scene is known by its rate of loss, of which no two have the same. On the
# left both stand beside each other, so that intervals can be told apart; on the
# right counts of both are held against each other.
TABLE = ARG1; OUT = ARG2
wide = 1.3; tall = 1.1
load "style.gp"
fabrics = "sim netns"
name(i) = word("'simulator' \"kernel's TCP\"", i)
on(i) = strcol("fabric") eq word(fabrics, i)
# What one row says, as the greatest of a column of which only that row is left;
# before there are ranges, as `stats` leaves out what is outside of them.
only(f, i, c) = on(f) && int(column(0)) % N == i - 1 ? column(c) : NaN
stats TABLE using (on(1) ? 1 : NaN) nooutput name "S"
N = int(S_records)
array rate[N]
array links[N]
counts = "n_drops n_failed_flows n_fault_flows n_traced n_full_traces n_icmp_sent"
set print $means
do for [i = 1:N] {
	stats TABLE using (only(1, i, "faults.rate")) nooutput name "R"
	stats TABLE using (only(1, i, "faults.count")) nooutput name "L"
	rate[i] = R_max
	links[i] = L_max
	do for [k = 1:words(counts)] {
		row = sprintf("%d", k)
		do for [f = 1:2] { do for [s in "_ _lo _hi"] {
			c = word(counts, k) . (s eq "_" ? "" : s)
			stats TABLE using (only(f, i, c)) nooutput name "S"
			row = row . sprintf("\t%g", S_max)
		} }
		print row
	}
}
unset print
scene(r) = sum [i = 1:N] (rate[i] == r ? i : 0)
at(i, metric) = on(i) ? column(metric) : NaN
set xrange [0.4:N + 0.6]
set yrange [0:1.05]
set xtics ("" 1)
do for [i = 1:N] {
	set xtics add (sprintf("%g %%%%\n%d", rate[i] * 100, links[i]) i)
}
set xtics font tiny
set xlabel "loss and number of failed links" font small
if (tty) {
	set ylabel "traced flows blamed right"
	plot for [i = 1:2] TABLE \
	    using (scene(column("faults.rate"))):(at(i, "vote:accuracy_all")) \
	    with points title name(i)
	exit
}
set key font tiny samplen 1
set multiplot layout 1, 2 title head
unset title
set label FOOT ""
metrics = "vote:accuracy_fault vote:accuracy_all alg1:precision"
says(k) = word("'flows a fault hit, blamed right' 'all traced flows' \
'accused links that failed'", k)
m(k) = word(metrics, k)
place(k, i) = scene(column("faults.rate")) + (k - 2) * 0.24 + (i - 1.5) * 0.1
set ylabel "share; left the simulator, right the kernel" font small
set yrange [0:1.22]
set ytics 0, 0.2, 1 font tiny
set key top left
plot for [k = 1:3] for [i = 1:2] TABLE \
    using (place(k, i)):(at(i, m(k))):(at(i, m(k) . "_lo")): \
    (at(i, m(k) . "_hi")) with yerrorbars lt k dt 1 lw 1.5 \
    title (i == 1 ? says(k) : "")
called(k) = word("'packets lost' 'flows that failed' 'of these, lost to a fault' \
'flows traced' 'traced in full' 'ICMP messages'", k)
set xtics autofreq nomirror out scale 0.6 font tiny
set ytics autofreq nomirror out scale 0.6 font tiny
set logscale xy
set xrange [4:1500]
set yrange [4:1500]
set key top left
note = sprintf("left: pooled over %d runs with exact 95 %% intervals; " \
    . "right: means of them with 95 %% intervals", runs)
set label FOOT note
set xlabel "counted in the simulator"
set ylabel "counted on the kernel's TCP"
set datafile nocolumnheaders
plot x lc rgb "#888888" dt 3 lw 1 notitle, \
    for [k = 1:words(counts)] $means using ($1 == k ? $2 : NaN):5:3:4:6:7 \
    with xyerrorbars lt k title called(k)
unset multiplot
