# plots/pingmesh_ports.gp -- type 2 black holes found, by the order of ports.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
tall = 1.15
load "style.gp"
N_PORTS = 96 # of the spec
FEW = 0.001
MORE = 0.01
ORDERS = "pair list"
gcd(a, b) = b == 0 ? a : gcd(b, a % b)
seen(m) = N_PORTS / gcd(N_PORTS, int(m)) # with one count for the list
met(e, n) = 1 - (1 - e)**(2 * n)
entries(dummy) = column("topology.n_hosts") + 2
name(o) = o eq "pair" ? "each pair takes all ports in turn" : \
    "one count for the whole list"
rule(a) = a eq "paper" ? "paper's rule" : "likelihood"
of(o, e, v) = strcol("pingmesh.agent.ports") eq o && \
    abs(column("faults.entries") / e - 1) < 1e-6 ? column(v) : NaN
set yrange [0:1.05]
if (tty) {
	set ylabel "recall"
	set xlabel "entries of a server's list"
	plot for [o in ORDERS] TABLE using \
	    (entries(0)):(of(o, FEW, "blackhole:recall")) with points \
	    title name(o)
	exit
}
unset label 2
set ytics 0, 0.5, 1
set multiplot title title . "\n" . paper
unset title
unset key
shift(o) = o eq "pair" ? -0.07 : 0.07
do for [a in "blackhole paper"] {
	R = a . ":recall"
	top = a eq "blackhole"
	set tmargin at screen top ? 0.79 : 0.49
	set bmargin at screen top ? 0.58 : 0.28
	set lmargin at screen 0.14
	set rmargin at screen 0.53
	unset logscale
	set xrange [7.5:16.5]
	set xtics 8, 1, 16
	if (!top) { set format x "%g" } else { set format x "" }
	set xlabel top ? "" : "entries of a server's list"
	set ylabel "recall,\n" . rule(a)
	if (top) {
		set label 3 sprintf("one entry in %.0f corrupt, 300 probes of a " \
		    . "pair\nports of a pair by one count for the list:", \
		    1 / FEW) at graph 0, 1.36 font tiny
		do for [m = 8:16] {
			set label 10 + m sprintf("%d", seen(m)) \
			    at first m, graph 1.08 center font tiny
		}
	}
	plot for [i = 1:2] o = word(ORDERS, i) TABLE using \
	        (entries(0) + shift(o)):(of(o, FEW, R)): \
	        (of(o, FEW, R."_lo")):(of(o, FEW, R."_hi")) \
	        with yerrorlines lt i, \
	    TABLE using (entries(0)):(met(FEW, seen(entries(0))) + \
	        0 * of("list", FEW, R)) with lines lt 7 lw 1
	do for [m = 8:16] { unset label 10 + m }
	set lmargin at screen 0.62
	set rmargin at screen 0.985
	set xrange [100:1000]
	set logscale x
	set xtics (120, 200, 300, 500, 900)
	set xlabel top ? "" : "probed each 10 s for (s)"
	set ylabel ""
	if (top) {
		set label 3 sprintf("one entry in %.0f corrupt, 12 entries of a " \
		    . "list,\nso 8 ports by one count for the list", 1 / MORE) \
		    at graph 0, 1.36 font tiny
	}
	plot for [i = 1:2] o = word(ORDERS, i) TABLE using \
	        (column("pingmesh.duration") * (1 + shift(o) / 5)): \
	        (of(o, MORE, R)):(of(o, MORE, R."_lo")): \
	        (of(o, MORE, R."_hi")) with yerrorlines lt i
	unset label 3
}
# A panel without axes has all the width for the key.
set lmargin at screen 0.02
set rmargin at screen 0.98
set tmargin at screen 0.17
set bmargin at screen 0.06
unset border
unset tics
unset xlabel
unset ylabel
unset logscale
set label 2 sprintf("pooled over %d runs, exact 95 %% intervals", runs) \
    at screen 0.985, 0.02 right tc rgb "#777777" font tiny
set key at screen 0.5, 0.055 center bottom vertical Left reverse samplen 3 \
    font tiny noopaque
plot [0:1] for [i = 1:2] -1 with linespoints lt i title \
        name(word(ORDERS, i)), \
    -1 with lines lt 7 lw 1 title "pairs of that ToR that ever meet a " \
        . "corrupt five-tuple, by one count for the list"
unset multiplot
