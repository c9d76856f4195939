# plots/pingmesh_bias.gp -- the drop rate read from connect times, over the truth.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
TIMERS = "windows linux linux_linear"
# SYNs that agents wait for after the first; as many rungs are read.
name(i) = i == 1 ? "Windows (3, 9 s)" : i == 2 ? "Linux (1, 3, 7, 15 s)" : \
    "Linux 6.5 (1 to 5, 7, 11, 19 s)"
m(i) = i == 1 ? 2 : i == 2 ? 4 : 8
bias(q, m) = (1 - q**m) / (1 - q**(m + 1))
of(i, on) = strcol("pingmesh.connect.timers") eq word(TIMERS, i) && \
    strcol("pingmesh.connect.synack_timer") eq (on ? "true" : "false") ? \
    column("true_drop_rate") : NaN
over(v) = column(v) / column("true_drop_rate")
set logscale x
set xrange [7e-5:0.4]
set yrange [0.4:1.3]
set xlabel "true loss of round trips, q"
set ylabel "estimate / q"
if (tty) {
	plot for [i = 1:3] TABLE using (of(i, 1)):(over("drop_rate")) \
	    with points title word(TIMERS, i) . ", server repeats SYN-ACKs"
	exit
}
unset label 2
set samples 400
set bmargin 8
set xtics ("10⁻⁴" 1e-4, "10⁻³" 1e-3, "10⁻²" 1e-2, "10⁻¹" 0.1)
set multiplot layout 1, 2 title title . "\n" . paper
unset title
unset key
shift(i) = 1.06 ** (i - 2)
do for [on = 0:1] {
	set label 3 on ? "servers repeat SYN-ACKs too" : \
	    "clients alone repeat SYNs" at graph 0.97, 0.96 right font small
	if (!on) {
		set label 4 "read by 3 s and 9 s Linux would show\n" \
	    . "q² in place of q, and Linux 6.5 q³" at 9e-5, 0.65 font tiny
	}
	if (on) {
		set ylabel ""
		set label 4 "Windows reads half: after a lost SYN-ACK\n" \
		    . "the server sends again, before the client" \
		    at 9e-5, 0.75 font tiny tc lt 1
		set key at screen 0.5, 0.06 center bottom horizontal Left \
		    reverse samplen 2 font tiny maxcols 3
		set label 2 sprintf("points: %d runs, exact 95 %% intervals; " \
		    . "lines: (1 - q^m) / (1 - q^(m+1)), m SYNs sent again, " \
		    . "servers without a timer", runs) \
		    at screen 0.985, 0.02 right tc rgb "#777777" font tiny
	}
	plot for [i = 1:3] bias(x, m(i)) with lines lt i lw 1 notitle, \
	    for [i = 1:3] TABLE using (of(i, on) * shift(i)): \
	        (over("drop_rate")):(over("drop_rate_lo")): \
	        (over("drop_rate_hi")) with yerrorbars lt i dt 1 lw 1.2 \
	        title name(i)
	unset label 4
}
unset multiplot
