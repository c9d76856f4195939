# plots/everflow_vs.gp -- the same faults for Everflow, 007 and Pingmesh.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Found: by Everflow's debuggers, the fault and nothing else; by Algorithm 1, of
# the links that fail those that it accuses, whatever else it does; of black holes
# by Pingmesh's job, the ToR. Costs are of operations that were counted, each worth
# what the spec's `cost` says.
TABLE = ARG1; OUT = ARG2
wide = 1.5
tall = 2.1
load "style.gp"
NAMES = "Everflow 007 Pingmesh"
EPOCH = 30
PLANES = "everflow everflow pingmesh"
on(i) = strcol("plane") eq word(PLANES, i)
is_hole(dummy) = strcol("label")[1:4] eq "hole"
found(i, e) = !on(i) ? NaN : i == 1 ? col("named_rate" . e) : \
    i == 3 && is_hole(0) ? col("n_candidates_true" . e) : \
    col("alg1:recall" . e)
after(i, e) = !on(i) ? NaN : i == 1 ? col("name_s" . e) : \
    i == 2 ? (e eq "" && column("alg1:recall") > 0 ? EPOCH : NaN) : \
    column("alg1:detect_s" . (e eq "_lo" ? "_p10" : e eq "_hi" ? "_p90" : e))
# Of plane everflow 007 looks at the same connections.
cost(i, name, e) = !on(i) ? NaN : col((i == 2 ? "retx_" : "") . name . e)
stats TABLE using (on(1) ? 1 : NaN) nooutput
N = int(STATS_records)
place(i) = int(column(0)) % N + (i - 2) * 0.16
set xrange [-0.5:N - 0.5]
set yrange [0:1.08]
set ylabel "found"
if (tty) {
	plot for [i = 1:3] TABLE using (place(i)):(found(i, "")) with points \
	    title word(NAMES, i)
	exit
}
set multiplot layout 3, 2 title head
unset title
set label FOOT ""
set tmargin 1.5
set xtics rotate by 20 right font tiny scale 0
set bmargin 4.5
unset key
plot for [i = 1:3] TABLE using (place(i)):(found(i, "")):(found(i, "_lo")): \
    (found(i, "_hi")) with yerrorbars lt i, \
    TABLE using (int(column(0)) % N):(0):xtic(strcol("label")) with points ps 0
set ylabel "seconds until then"
set logscale y
set yrange [5:1000]
set key top left
plot for [i = 1:3] TABLE using (place(i)):(after(i, "")):(after(i, "_lo")): \
    (after(i, "_hi")) with yerrorbars lt i notitle, \
    TABLE using (int(column(0)) % N):(5):xtic(strcol("label")) with points \
    ps 0 notitle, \
    for [i = 1:3] TABLE using (place(i)):(after(i, "")) with points lt i \
    title word(NAMES, i)
unset key
COSTS = "host_bytes_s switch_bytes_s host_cpu switch_cpu"
SAYS = "'bytes a host and second' 'bytes a switch and second' \
    'CPU of a host, 1e-6' 'CPU of a switch, 1e-6'"
note = sprintf("points: %d runs with 95 %% intervals, Pingmesh's times 10 to 90 %% of runs; 007 tells at the end of its epoch", runs)
says = "CPU: operations times costs, of which 100 us an ICMP answer and 5 us a resend are ours, unconfirmed; what hardware forwards costs none and is drawn at the bottom"
do for [k = 1:4] {
	name = word(COSTS, k)
	set ylabel word(SAYS, k)
	least = word("1 10 0.1 0.1", k) + 0
	set yrange [least:*]
	if (k == 4) { set label FOOT note; set label FOOT2 says at screen 0.985, 0.035 }
	plot for [i = 1:3] TABLE using (place(i)):(cost(i, name, "") > least ? \
	    cost(i, name, "") : least): \
	    (cost(i, name, "_lo") > least ? cost(i, name, "_lo") : \
	    least):(cost(i, name, "_hi")) with yerrorbars lt i, \
	    TABLE using (int(column(0)) % N):(least):xtic(strcol("label")) with points ps 0
}
unset multiplot
