# plots/sieve_vs.gp -- F of Sieve and of Flock by telemetry, and the limit.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
wide = 1.7
tall = 1.5
load "style.gp"
ALGOS = "sieve flock flock_tuned"
TEXTS = "Sieve Flock 'Flock, tuned'"
# Points come by faults first; sets of groups with `switches` are the second.
second(x) = strstrt(strcol("faults"), "switches") > 0
is(k) = second(0) == k - 1
n = 7
spot(i) = column(0) - n * (second(0) ? 1 : 0) + (i - 2) * 0.16
row(k, c) = is(k) ? col(c) : NaN
of(k, i, end) = row(k, word(ALGOS, i) . ":f" . end)
set xrange [-0.6:n - 0.4]
set yrange [0:1.03]
set ytics 0, 0.2, 1
set ylabel "F of a window"
if (tty) {
	plot for [i = 1:3] TABLE using (spot(i)):(row(1, word(ALGOS, i) . ":f")): \
	    xtic(is(1) ? strcol("label") : "") with points title word(TEXTS, i)
	exit
}
set multiplot layout 2, 2 title head
unset title
heads = "'three links, 0.1 to 1 %, and two, 0.1 to 0.2 %' 'half of a switch, and two links, 0.1 to 1 %'"
set label FOOT ""
set xtics ("INT" 0, "A1+A2+P" 1, "A2+P" 2, "A2" 3, "A1+P" 4, "A1" 5, "P" 6)
set xtics font small
do for [k = 1:2] {
	set title word(heads, k) font small
	if (k == 1) { set key bottom left } else { unset key }
	if (k == 1) {
		# Who knows what no algorithm does, as a line over all of them.
		plot for [i = 1:3] TABLE using (spot(i)):(of(k, i, "")): \
		        (of(k, i, "_lo")):(of(k, i, "_hi")) with yerrorbars \
		        lt look(word(ALGOS, i)) title word(TEXTS, i), \
		    TABLE using (spot(2) - 0.42):(row(k, "limit_f")):(0.84):(0) \
		        with vectors nohead dt (4,2) lw 2 lc rgb "#555555" notitle, \
		    keyentry with lines dt (4,2) lw 2 lc rgb "#555555" \
		        title "limit: no algorithm"
	} else {
		plot for [i = 1:3] TABLE using (spot(i)):(of(k, i, "")): \
		        (of(k, i, "_lo")):(of(k, i, "_hi")) with yerrorbars \
		        lt look(word(ALGOS, i)) notitle
	}
}
unset key
unset title
set ylabel "F less that of Sieve"
set yrange [-0.4:0.4]
set ytics -0.4, 0.2, 0.4
set label 9 "Sieve is better" at graph 0.98, 0.08 right font small
do for [k = 1:2] {
	if (k == 2) {
		set label FOOT sprintf("means of %d runs, with 95 %% intervals " \
		    . "between runs; below: paired by run", runs)
	}
	plot 0 with lines lc rgb "#999999" notitle, \
	    for [i = 2:3] TABLE using (spot(i)): \
	        (row(k, word(ALGOS, i) . ":f_less")): \
	        (row(k, word(ALGOS, i) . ":f_less_lo")): \
	        (row(k, word(ALGOS, i) . ":f_less_hi")) with yerrorbars \
	        lt look(word(ALGOS, i)) notitle
}
unset multiplot
