# plots/arena_scaling.gp -- how algorithms' time grows with the network.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Of `culprit arena --plot`, from its scaling.tsv: a panel a telemetry.
TABLE = ARG1; OUT = ARG2
set datafile separator "\t"
set datafile columnheaders
telemetries = pairs = ""
has(list, w) = strstrt(" " . list, " " . w . " ") > 0
add(t, a) = (has(telemetries, t) ? 0 : (telemetries = telemetries . t . " "), \
    has(pairs, t . ":" . a) ? 0 : (pairs = pairs . t . ":" . a . " "), 1)
stats TABLE using (add(strcol("telemetry"), strcol("algorithm"))) nooutput
n = words(telemetries)
# One more place is the key's.
n_across = n < 3 ? n + 1 : 4
n_down = (n + n_across) / n_across
wide = 0.3 + 0.36 * n_across
tall = 0.3 + (n_down > 1 ? 0.52 : 0.7) * n_down
load "style.gp"
stats TABLE using "links" name "L" nooutput
stats TABLE using (1e3 * column("cpu_s")) name "T" nooutput
of(t, a) = strcol("telemetry") eq t && strcol("algorithm") eq a ? \
    1e3 * column("cpu_s") : NaN

set logscale xy
set xrange [L_min / 1.2:L_max * 1.2]
# From the power of ten below to that above.
set yrange [10 ** floor(log10(T_min > 0 ? T_min : 1e-4)):10 ** ceil(log10(T_max))]
set format y "%g"
set tics font tiny
set xtics (50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000)
set mytics 1
unset title
left = 0.11 / wide; right = 0.02 / wide
top = 0.26 / tall; bottom = 0.16 / tall
w = (1 - left - right) / n_across
h = (1 - top - bottom) / n_down
set multiplot
do for [k = 0:n - 1] {
	t = word(telemetries, k + 1)
	column_of = k % n_across; row_of = k / n_across
	set lmargin at screen left + column_of * w + 0.05 * w
	set rmargin at screen left + (column_of + 1) * w - 0.03 * w
	set tmargin at screen 1 - top - row_of * h - 0.14 * h
	set bmargin at screen 1 - top - (row_of + 1) * h + 0.06 * h
	unset label
	set label FOOT ""
	if (k == 0) {
		set label 1 title at screen 0.5, screen 1 - 0.07 / tall center
		set label 3 "CPU of an algorithm for a window, ms" at screen 0.5, \
		    screen 1 - 0.15 / tall center font small tc rgb CLAIM
		set label 4 "directed links of the network" at screen 0.5, \
		    screen 0.055 / tall center font small
		set label FOOT "measured once; one link fails" at screen 0.985, \
		    screen 0.02 right tc rgb "#777777" font tiny
	}
	set label 5 t at graph 0.03, 1.06 left font small
	if (column_of == 0) { set format y "%g" } else { set format y "" }
	if (k + n_across > n - 1) { set format x "%g" } else { set format x "" }
	last = k == n - 1
	if (last) {
		kc = n % n_across
		set key at screen left + (kc + 0.12) * w, \
		    screen 1 - top - (n_down - 1) * h - 0.14 * h left top samplen 2 maxrows 12
	} else { unset key }
	there = ""
	all = ""
	do for [a in algos] {
		if (strstrt(pairs, ":" . a . " ")) { all = all . "\"" . a . "\" " }
		if (has(pairs, t . ":" . a)) { there = there . "\"" . a . "\" " }
	}
	plot for [a in there] TABLE using "links":(of(t, a)) smooth unique \
	        with linespoints lt look(a) ps 0.7 notitle, \
	    for [a in all] NaN with linespoints lt look(a) ps 0.7 title a
}
unset multiplot
