# plots/vigil_sec73.gp -- two failed links in a test cluster, by its traffic.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.75; tall = 1.4
load "style.gp"
skews = "0.3 0.5 0.8"
skew(s) = s eq "0.3" ? "uniform traffic" : sprintf("%g %% to 3 ToRs", 100 * s)
at(r, s) = column("faults.1.rate") == r + 0 && \
    column("traffic.hot_share") == s + 0 ? column("traffic.conns") : NaN
set logscale x
set xtics (15, 60, 240, 960)
set xrange [11:1300]
quantity = "vote:accuracy_kept vote:accuracy_fault vote:worst_first_rate"
words = "'accuracy of flows kept' 'accuracy of flows hit' 'worse link first'"
stated(r, q) = q > 1 && r eq "0.0005" ? NaN : \
    r eq "0.0005" ? 0.9047 : q == 3 ? 1 : 0.98
if (tty) {
	set xlabel "connections a host and epoch"
	set ylabel "accuracy of flows kept"
	plot for [s in skews] TABLE using (at(0.001, s)):"vote:accuracy_kept" \
	    with linespoints title skew(s)
	exit
}
set multiplot title head
unset title
set label FOOT ""
unset key
set ytics 0.2, 0.2, 1
set yrange [0.2:1.04]
do for [r in "0.0005 0.001"] {
	low = r eq "0.001"
	set tmargin at screen low ? 0.48 : 0.86
	set bmargin at screen low ? 0.2 : 0.58
	set xlabel low ? "connections a host and epoch" : ""
	do for [q = 1:3] {
		m = word(quantity, q)
		set lmargin at screen q / 3.0 - 0.265
		set rmargin at screen q / 3.0 - 0.015
		set ylabel word(words, q)
		set title sprintf("0.2 %% and %g %%", 100 * r) font small \
		    offset 0, -0.6
		unset arrow
		if (stated(r, q) > 0) {
			set arrow from graph 0, first stated(r, q) \
			    to graph 1, first stated(r, q) nohead \
			    lc rgb CLAIM dt (2, 4) lw 1.5 back
		}
		if (low && q == 3) {
			set key at screen 0.5, 0.06 center bottom vertical \
			    Left reverse samplen 3 font small maxrows 1
			set label FOOT note . "; dotted: the paper, unconfirmed"
		}
		plot for [i = 1:3] TABLE using (at(r, word(skews, i))): \
		        m:m."_lo":m."_hi" with yerrorbars lt i notitle, \
		    for [i = 1:3] TABLE using (at(r, word(skews, i))):m \
		        with linespoints lt i title skew(word(skews, i))
	}
}
unset multiplot
