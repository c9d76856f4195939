# plots/pingmesh_ports.gp -- type 2 black holes found, by the order of ports.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.2; tall = 1.2
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
kind(o) = o eq "pair" ? 1 : 2
lasts(dummy) = column("pingmesh.duration")
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
set ytics 0, 0.5, 1
set multiplot title head
unset title
set label FOOT ""
unset key
shift(o) = o eq "pair" ? -0.07 : 0.07
do for [a in "blackhole paper"] {
	R = a . ":recall"
	top = a eq "blackhole"
	set tmargin at screen top ? 0.79 : 0.5
	set bmargin at screen top ? 0.58 : 0.29
	set lmargin at screen 0.12
	set rmargin at screen 0.52
	unset logscale
	set xrange [7.5:16.5]
	set xtics 8, 1, 16
	set xlabel top ? "" : "entries of a server's list"
	set ylabel "recall,\n" . rule(a)
	if (top) {
		set label 3 sprintf("one entry in %.0f corrupt, 300 probes of a " \
		    . "pair\nports of a pair by one count for the list:", \
		    1 / FEW) at graph 0, 1.4 font tiny
		do for [m = 8:16] {
			set label 10 + m sprintf("%d", seen(m)) \
			    at first m, graph 1.1 center font tiny
		}
	}
	plot for [o in ORDERS] TABLE using (entries(0) + shift(o)): \
	        (of(o, FEW, R)):(of(o, FEW, R."_lo")):(of(o, FEW, R."_hi")) \
	        with yerrorbars lt kind(o), \
	    for [o in ORDERS] TABLE using (entries(0) + shift(o)): \
	        (of(o, FEW, R)) with linespoints lt kind(o), \
	    TABLE using (entries(0)):(met(FEW, seen(entries(0))) + \
	        0 * of("list", FEW, R)) with lines lt 7 lw 1
	do for [m = 8:16] { unset label 10 + m }
	set lmargin at screen 0.61
	set rmargin at screen 0.985
	set xrange [100:1000]
	set logscale x
	set xtics (120, 200, 300, 500, 900)
	set xlabel top ? "" : "probed each 10 s for (s)"
	set ylabel ""
	if (top) {
		set label 3 sprintf("one entry in %.0f corrupt, 12 entries of a " \
		    . "list,\nso 8 ports by one count for the list", 1 / MORE) \
		    at graph 0, 1.4 font tiny
	} else {
		set key at screen 0.5, 0.06 center bottom vertical Left \
		    reverse samplen 3 font tiny noopaque
		set label FOOT note
	}
	plot for [o in ORDERS] TABLE using (lasts(0) * (1 + shift(o) / 5)): \
	        (of(o, MORE, R)):(of(o, MORE, R."_lo")):(of(o, MORE, R."_hi")) \
	        with yerrorbars lt kind(o) notitle, \
	    for [o in ORDERS] TABLE using (lasts(0) * (1 + shift(o) / 5)): \
	        (of(o, MORE, R)) with linespoints lt kind(o) title name(o), \
	    keyentry with lines lt 7 lw 1 title "pairs of that ToR that ever " \
	        . "meet a corrupt five-tuple, by one count for the list"
	unset label 3
}
unset multiplot
