# plots/pingmesh_bias.gp -- the drop rate read from connect times, over the truth.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.4
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
set yrange [0.3:1.5]
set xlabel "true loss of round trips, q"
set ylabel "estimate / q"
if (tty) {
	plot for [i = 1:3] TABLE using (of(i, 1)):(over("drop_rate")) \
	    with points title word(TIMERS, i) . ", server repeats SYN-ACKs"
	exit
}
set samples 400
set xtics ("10⁻⁴" 1e-4, "10⁻³" 1e-3, "10⁻²" 1e-2, "10⁻¹" 0.1)
set ytics 0.4, 0.2, 1.4
set multiplot title head
unset title
set label FOOT ""
unset key
set tmargin at screen 0.86
set bmargin at screen 0.34
shift(i) = 1.1 ** (i - 2)
do for [on = 0:1] {
	set lmargin at screen on ? 0.57 : 0.1
	set rmargin at screen on ? 0.98 : 0.51
	set label 3 on ? "servers repeat SYN-ACKs too" : \
	    "clients alone repeat SYNs" at graph 0.97, 0.95 right font small
	set label 4 on ? "Windows reads half: after a lost SYN-ACK the\n" \
	    . "server sends again, before the client does" : \
	    "read by 3 s and 9 s Linux would show\n" \
	    . "q² in place of q, and Linux 6.5 q³" \
	    at graph 0.04, on ? 0.41 : 0.25 font tiny
	if (on) {
		set ylabel ""
		set key at screen 0.54, 0.1 center bottom vertical Left \
		    reverse samplen 2 font tiny maxrows 2 noopaque
		note = sprintf("points: %d runs with exact 95 %% intervals, " \
		    . "side by side; lines: m SYNs sent again, servers " \
		    . "without a timer", runs)
		set label FOOT note
	}
	plot for [i = 1:3] bias(x, m(i)) with lines lt i lw 1 notitle, \
	    for [i = 1:3] TABLE using (of(i, on) * shift(i)): \
	        (over("drop_rate")):(over("drop_rate_lo")): \
	        (over("drop_rate_hi")) with yerrorbars lt i \
	        title name(i), \
	    keyentry with lines lt 7 lw 1 dt 11 \
	        title "(1 - q^m) / (1 - q^(m + 1))"
}
unset multiplot
