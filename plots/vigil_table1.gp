# plots/vigil_table1.gp -- how busy switches are against failed links.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
M = "icmp_share_none icmp_share_low icmp_share_high"
text(m) = m eq "icmp_share_none" ? "T = 0" \
    : m eq "icmp_share_low" ? "0 < T <= 3" : "T > 3"
claim(m) = m eq "icmp_share_none" ? claim_icmp_share_none \
    : m eq "icmp_share_low" ? claim_icmp_share_low : claim_icmp_share_high
set xlabel "failed links"
set ylabel "share of switch-seconds"
set xrange [-0.5:21]
set yrange [0:1.05]
set key top right
if (tty) {
	plot for [m in M] TABLE using x:m with linespoints title text(m)
	exit
}
set label 2 "mean over " . runs . " epochs"
do for [i = 1:3] {
	c = word(M, i)
	stats TABLE using "claim:" . c nooutput
	set arrow i from graph 0, first STATS_max to graph 1, first STATS_max \
	    nohead lc rgb CLAIM dt (2, 4) lw 1.5 back
	set label 10 + i claim(c) at graph 0.98, first STATS_max right \
	    offset 0, 0.5 tc rgb CLAIM front font small
}
plot for [i = 1:3] TABLE using x:word(M, i) with linespoints lt i \
    title text(word(M, i))
