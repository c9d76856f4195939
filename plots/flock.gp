# plots/flock.gp -- F, precision and recall: Flock by telemetry; all by theirs.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Told by whoever loads it, before style.gp is: `axis`, the column along x, and
# what it is called, `across`; `scale`, 100 for a share in percent. A point of a
# sweep is named by its telemetry, as `label`.
#
# F is 2pr / (p + r) of pooled precision p and recall r, its bars the same of both
# lower and of both upper ends of their intervals.
TELES = "INT A1+A2+P A2+P A2 A1+P A1 P"
name(a) = a eq "flock" ? "Flock" : a eq "sieve" ? "Sieve" : \
    a eq "netbouncer" ? "NetBouncer" : \
    a eq "netbouncer_packets" ? "NetBouncer by packets" : \
    a eq "netbouncer_a1" ? "NetBouncer, A1" : \
    a eq "vote_flock" ? "007" : a eq "vote_flock_skewed" ? "007, for skew" : \
    a eq "vote_flock_switches" ? "007 of switches" : \
    a eq "score" ? "Score" : a eq "score_passive" ? "Score-passive" : \
    a eq "sherlock" ? "Sherlock" : a
of_tele(a) = a eq "netbouncer_a1" ? "A1" : "INT"
of_algo(a) = a eq "netbouncer_a1" ? "netbouncer" : a
CURVES = algos . (strstrt(algos, "netbouncer") ? " netbouncer_a1" : "")
kind(a) = a eq "netbouncer_a1" ? 16 : look(a)

has(t, c) = strcol("label") eq t ? column(c) : NaN
f(p, r) = r == 0 ? 0 : 2 * p * r / (p + r)
# Whoever accused nobody has no precision; its bars reach to what it may have.
least(p) = p == p ? p : 0
most(p) = p == p ? p : 1
p_of(a, t, e) = has(t, a . ":precision" . e)
r_of(a, t, e) = has(t, a . ":found_rate" . e)
y(a, t, q) = q == 1 ? f(p_of(a, t, ""), r_of(a, t, "")) : \
    q == 2 ? p_of(a, t, "") : r_of(a, t, "")
low(a, t, q) = q == 1 ? f(least(p_of(a, t, "_lo")), r_of(a, t, "_lo")) : \
    q == 2 ? p_of(a, t, "_lo") : r_of(a, t, "_lo")
high(a, t, q) = q == 1 ? f(most(p_of(a, t, "_hi")), r_of(a, t, "_hi")) : \
    q == 2 ? p_of(a, t, "_hi") : r_of(a, t, "_hi")
at(i, n) = scale * column(axis) * (1 + (i - (n + 1) / 2.0) * apart)

set yrange [0:1.05]
set xlabel across
if (tty) {
	set ylabel "F of Flock"
	plot for [t in TELES] TABLE using (scale * column(axis)): \
	    (y("flock", t, 1)) with linespoints title t
	exit
}
texts = "'F' 'precision' 'recall'"
set multiplot title head
unset title
set label FOOT ""
set ytics 0, 0.2, 1
set xtics font small
unset key
n = words(TELES)
unset xlabel
do for [q = 1:3] {
	set lmargin at screen 0.06 + 0.265 * (q - 1)
	set rmargin at screen 0.268 + 0.265 * (q - 1)
	set tmargin at screen 0.89; set bmargin at screen 0.555
	set ylabel word(texts, q) offset 0.3
	if (q == 3) {
		set key at screen 0.83, 0.89 left top vertical Left reverse \
		    samplen 3 font small noopaque maxcols 1 title "Flock, with"
	}
	plot for [i = 1:n] TABLE using (at(i, n)):(y("flock", word(TELES, i), q)): \
	        (low("flock", word(TELES, i), q)): \
	        (high("flock", word(TELES, i), q)) with yerrorbars lt 8 + i notitle, \
	    for [i = 1:n] TABLE using (at(i, n)):(y("flock", word(TELES, i), q)) \
	        with linespoints lt 8 + i notitle, \
	    for [i = 1:n] keyentry with linespoints lt 8 + i \
	        title q == 3 ? word(TELES, i) . \
	            (word(TELES, i) eq "P" ? ", beam of 50" : "") : ""
}
set xlabel across
unset key
n = words(CURVES)
curve(i) = word(CURVES, i)
do for [q = 1:3] {
	set lmargin at screen 0.06 + 0.265 * (q - 1)
	set rmargin at screen 0.268 + 0.265 * (q - 1)
	set tmargin at screen 0.47; set bmargin at screen 0.135
	set ylabel word(texts, q) offset 0.3
	if (q == 3) {
		set key at screen 0.83, 0.47 left top vertical Left reverse \
		    samplen 3 font small noopaque maxcols 1 \
		    title "with INT, if not said"
		set label FOOT sprintf("pooled over %d runs; bars: exact 95 %% " \
		    . "intervals, of F by both of theirs", runs)
	}
	plot for [i = 1:n] TABLE using (at(i, n)): \
	        (y(of_algo(curve(i)), of_tele(curve(i)), q)): \
	        (low(of_algo(curve(i)), of_tele(curve(i)), q)): \
	        (high(of_algo(curve(i)), of_tele(curve(i)), q)) with yerrorbars \
	        lt kind(curve(i)) notitle, \
	    for [i = 1:n] TABLE using (at(i, n)): \
	        (y(of_algo(curve(i)), of_tele(curve(i)), q)) with linespoints \
	        lt kind(curve(i)) notitle, \
	    for [i = 1:n] keyentry with linespoints lt kind(curve(i)) \
	        title q == 3 ? name(curve(i)) : ""
}
unset multiplot
