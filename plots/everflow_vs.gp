# plots/everflow_vs.gp -- the same faults for Everflow, 007 and Pingmesh.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Found: by Everflow's debuggers, the fault and nothing else; by Algorithm 1, of
# the links that fail those that it accuses, whatever else it does; of black holes
# by Pingmesh's job, the ToR.
TABLE = ARG1; OUT = ARG2
wide = 1.5
load "style.gp"
NAMES = "Everflow 007 Pingmesh"
EPOCH = 30
PLANES = "everflow everflow pingmesh"
on(i) = strcol("plane") eq word(PLANES, i)
is_hole(dummy) = strcol("label")[1:4] eq "hole"
found(i, e) = !on(i) ? NaN : i == 1 ? column("named_rate" . e) : \
    i == 3 && is_hole(0) ? column("n_candidates_true" . e) : \
    column("alg1:recall" . e)
after(i, e) = !on(i) ? NaN : i == 1 ? column("name_s" . e) : \
    i == 2 ? (e eq "" && column("alg1:recall") > 0 ? EPOCH : NaN) : \
    column("alg1:detect_s" . (e eq "_lo" ? "_p10" : e eq "_hi" ? "_p90" : e))
stats TABLE using (on(1) ? 1 : NaN) nooutput
N = int(STATS_records)
# Before there are ranges, as `stats` leaves out what is outside.
stats TABLE using (column("guided_bytes_max")) nooutput name "G"
stats TABLE using (column("n_probes")) nooutput name "P"
place(i) = int(column(0)) % N + (i - 2) * 0.16
set xrange [-0.5:N - 0.5]
set yrange [0:1.08]
set ylabel "found"
if (tty) {
	plot for [i = 1:3] TABLE using (place(i)):(found(i, "")) with points \
	    title word(NAMES, i)
	exit
}
set multiplot layout 1, 2 title head
unset title
set label FOOT ""
set tmargin 4
set xtics rotate by 20 right font tiny scale 0
set bmargin 6
unset key
plot for [i = 1:3] TABLE using (place(i)):(found(i, "")):(found(i, "_lo")): \
    (found(i, "_hi")) with yerrorbars lt i, \
    TABLE using (int(column(0)) % N):(0):xtic(strcol("label")) with points ps 0
set ylabel "seconds until then"
set logscale y
set yrange [5:1000]
set key top left
note = sprintf("points: %d runs with 95 %% intervals, Pingmesh's times 10 to 90 %% of runs; 007 tells at the end of " \
    . "its epoch; guided probes: %.0f kB a host at most; Pingmesh: %.0f probes", \
    runs, G_max / 1000.0, P_max)
set label FOOT note
plot for [i = 1:3] TABLE using (place(i)):(after(i, "")):(after(i, "_lo")): \
    (after(i, "_hi")) with yerrorbars lt i notitle, \
    TABLE using (int(column(0)) % N):(5):xtic(strcol("label")) with points \
    ps 0 notitle, \
    for [i = 1:3] TABLE using (place(i)):(after(i, "")) with points lt i \
    title word(NAMES, i)
unset multiplot
