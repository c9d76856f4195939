# plots/arena_cd.gp -- mean ranks by telemetry, and what chance would not make.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Of `culprit arena --plot`, from its cd.tsv: a critical-difference diagram (Demsar
# 2006) for each telemetry. Ranks are spread alike, whatever their number is.
TABLE = ARG1; OUT = ARG2
set datafile separator "\t"
set datafile columnheaders
stats TABLE using "panel" name "N" nooutput
n_panels = N_records ? N_max + 1 : 0
n_across = n_panels > 1 ? 2 : 1
n_down = ceil(n_panels / real(n_across))
wide = 1.75
stats TABLE using "rivals" name "K" nooutput
n_rows = ceil(K_max / 2.)
stats TABLE using (strcol("kind") eq "group" ? column("place") + 1 : 0) \
    name "G" nooutput
tall = 0.26 + n_down * (0.1 + 0.06 * n_rows)
load "style.gp"
rivals = tasks = groups = 0; critical = p = 0.; telemetry = ""
at(r) = (r - 1) / (rivals - 1.)
here(k, kind) = column("panel") == k && strcol("kind") eq kind
take(k) = here(k, "rank") ? (rivals = column("rivals"), tasks = column("tasks"), \
    critical = column("critical"), p = column("p"), \
    telemetry = strcol("telemetry"), 1) : \
    here(k, "group") ? (groups = groups + 1, 1) : NaN
# The better half is told on the left, downwards, the other on the right, upwards.
on_left(i) = i < ceil(rivals / 2.)
line(i) = on_left(i) ? i : rivals - 1 - i
deep(i) = -0.75 - 0.42 * groups - line(i)
side(i) = on_left(i) ? -0.06 : 1.06
rank(k, v) = here(k, "rank") ? v : NaN
# Without a group one is drawn beyond the edge: gnuplot complains of none.
bar(k, v) = here(k, "group") ? v : groups == 0 && here(k, "rank") ? 9 : NaN
chance(p) = p < 1e-4 ? "p < 0.0001" : sprintf("p = %.2g", p)

unset border
unset tics
unset grid
unset key
unset title
set label FOOT ""
set xrange [-0.8:1.8]
set yrange [-n_rows - 0.25 - 0.42 * G_max:3]
set lmargin 0
set rmargin 0
set tmargin 0
set bmargin 0
top = 0.2 / tall
set multiplot
do for [k = 0:n_panels - 1] {
	groups = 0
	stats TABLE using (take(k)) nooutput
	down = k / n_across
	set origin (k % n_across) * 1. / n_across, \
	    0.05 + (0.95 - top) * (n_down - 1 - down) / n_down
	set size 1. / n_across, (0.95 - top) / n_down
	unset label
	unset arrow
	if (k == 0) {
		set label 1 title at screen 0.5, screen 1 - 0.06 / tall center
		set label 3 "mean ranks by F, 1 is the best; a thick bar joins those that the test does not tell apart" \
		    at screen 0.5, screen 1 - 0.13 / tall center font small tc rgb CLAIM
		set label FOOT "tasks: families of faults on kinds of networks; bracket: critical difference (Nemenyi, 5 %); p: Friedman" at screen 0.985, 0.02 right tc rgb "#777777" \
		    font tiny
	}
	set label 11 telemetry at 0, 2.35 left font small
	set label 12 sprintf("%d tasks, %s", tasks, chance(p)) at 1, 2.35 right \
	    font tiny tc rgb CLAIM
	# The critical difference, as long as it is.
	wide_cd = critical / (rivals - 1.)
	cd_to = wide_cd < 1 ? wide_cd : 1
	set arrow 1 from 0, 1.4 to cd_to, 1.4 heads size 0.012, 90 lc rgb CLAIM lw 1
	set label 13 sprintf("%.2f", critical) at cd_to + 0.02, 1.4 left font tiny tc rgb CLAIM
	plot "+" using (0):(0):(1):(0) every ::0::0 with vectors nohead lc rgb "#222222" lw 1.2 dt 1, \
	    for [r = 1:rivals] "+" using (at(r)):(0):(0):(0.16) every ::0::0 \
	        with vectors nohead lc rgb "#222222" lw 1.2 dt 1, \
	    for [r = 1:rivals] "+" using (at(r)):(0.5):(sprintf("%d", r)) every ::0::0 \
	        with labels font tiny tc rgb "#222222", \
	    TABLE using (rank(k, at(column("rank")))):(0):(0): \
	        (deep(column("place"))) with vectors nohead lc rgb CLAIM lw 0.8 dt 1, \
	    TABLE using (rank(k, at(column("rank")))):(deep(column("place"))): \
	        (side(column("place")) - at(column("rank"))):(0) \
	        with vectors nohead lc rgb CLAIM lw 0.8 dt 1, \
	    TABLE using (bar(k, at(column("rank")) - 0.012)): \
	        (-0.4 - 0.42 * column("place")): \
	        (at(column("to")) - at(column("rank")) + 0.024):(0) \
	        with vectors nohead lc rgb "#222222" lw 4 dt 1, \
	    TABLE using (rank(k, at(column("rank")))):(0): \
	        (look(strcol("algorithm"))) with points pt 7 ps 1 lc variable, \
	    TABLE using (rank(k, on_left(column("place")) ? -0.08 : NaN)): \
	        (deep(column("place"))): \
	        (sprintf("%s  %.2f", strcol("algorithm"), column("rank"))) \
	        with labels right font tiny noenhanced, \
	    TABLE using (rank(k, on_left(column("place")) ? NaN : 1.08)): \
	        (deep(column("place"))): \
	        (sprintf("%.2f  %s", column("rank"), strcol("algorithm"))) \
	        with labels left font tiny noenhanced
}
unset multiplot
