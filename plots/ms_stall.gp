# plots/ms_stall.gp -- NICs that stall, found in buckets of three widths.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
WIDTHS = "[100us] [1ms] [10ms]"
SAYS = "'buckets of 100 us' 'of 1 ms' 'of 10 ms'"
of(i, k, c) = strcol("rack.widths") eq word(WIDTHS, i) && \
    (column("rack.stall.least") > 0) == (k == 2) ? col(c) : NaN
# Curves that lie on each other stand side by side.
shift(i) = 1.06 ** (i - 2)
set logscale x
set xrange [0.4:25]
set yrange [-0.03:1.04]
set xlabel "length of the stall, ms"
if (tty) {
	set ylabel "stalls found"
	set key outside
	plot for [i = 1:3] TABLE using "rack.stall.lasts": \
	    (of(i, 2, "nic_stall:recall")) with linespoints \
	    title word(SAYS, i)
	exit
}
set xtics (0.5, 1, 2, 5, 10, 20)
set multiplot layout 1, 2 title head
unset title
set label FOOT ""
set key at graph 0.98, 0.45
texts = "'stalls found, of all within bursts' 'of those that held 164 kB'"
do for [k = 1:2] {
	set ylabel word(texts, k)
	if (k == 2) {
		unset key
		set label FOOT sprintf("pooled over %d runs of 184 hosts and %g s," \
		    . " with exact 95 %% intervals; 164 kB: 1.05 x the line's" \
		    . " in 100 us", runs, run_s)
	}
	plot for [i = 1:3] TABLE using \
	        (column("rack.stall.lasts") * shift(i)): \
	        (of(i, k, "nic_stall:recall")): \
	        (of(i, k, "nic_stall:recall_lo")): \
	        (of(i, k, "nic_stall:recall_hi")) with yerrorbars lt i notitle, \
	    for [i = 1:3] TABLE using \
	        (column("rack.stall.lasts") * shift(i)): \
	        (of(i, k, "nic_stall:recall")) with linespoints lt i \
	        title word(SAYS, i)
}
unset multiplot
