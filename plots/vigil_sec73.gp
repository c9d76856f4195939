# plots/vigil_sec73.gp -- two failed links in a test cluster, by its traffic.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 2; tall = 1.6
load "style.gp"
skews = "0.3 0.5 0.8"
skew(s) = s eq "0.3" ? "uniform traffic" : sprintf("%g %% to 3 ToRs", 100 * s)
at(r, s) = column("faults.1.rate") == r + 0 && \
    column("traffic.hot_share") == s + 0 ? column("traffic.conns") : NaN
set logscale x
set xlabel "connections a host and epoch"
set xtics (15, 60, 240, 960)
set xrange [11:1300]
quantity = "vote:accuracy_kept vote:accuracy_fault vote:worst_first_rate"
words = "\"flows that 007 keeps\" \"flows that a fault hit\" \"worse link first\""
stated(r, q) = q > 1 && r eq "0.0005" ? NaN : \
    r eq "0.0005" ? 0.9047 : q == 3 ? 1 : 0.98
if (tty) {
	plot for [s in skews] TABLE using (at(0.001, s)):"vote:accuracy_kept" \
	    with linespoints title skew(s)
	exit
}
head = title . "\n" . paper
unset title
unset label 2
set multiplot layout 2, 3 title head
set key font tiny samplen 2
set yrange [0.2:1.03]
do for [r in "0.0005 0.001"] {
	do for [q = 1:3] {
		m = word(quantity, q)
		set ylabel word(words, q) . sprintf(", 0.2 %% and %g %%", 100 * r)
		set ylabel font small
		unset arrow
		if (stated(r, q) > 0) { set arrow from graph 0, first stated(r, q) to graph 1, first stated(r, q) nohead lc rgb CLAIM dt (2, 4) }
		if (r eq "0.001" && q == 3) { set label 2 "exact 95 % intervals; grey: the paper's, unconfirmed" at screen 0.985,0.012 right tc rgb "#777777" font tiny }
		plot for [i = 1:3] TABLE using (at(r, word(skews, i))):m:m."_lo":m."_hi" \
		    with yerrorlines lt i title skew(word(skews, i))
	}
}
unset multiplot
