# plots/pair.gp -- two quantities side by side, and below how far runs differ.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Told by whoever loads it: `pair`, the two, and says(q) of each; `curves`, and
# of each of them the column of(c, q), its place at(c) along x, its kind(c) of
# line and its name(c); of the axis what axes.gp says. yrange and
# arrows are of the upper panels; `low` is where the lower ones begin. `aside` is
# for the foot, on its left.
n_curves = words(curves)
curve(i) = word(curves, i)
place(i) = beside(at(curve(i)), i - (n_curves + 1) / 2.0)
put(i, q, what) = column(of(curve(i), q) . what)

set multiplot title head
unset title
set label FOOT ""
unset key
set ytics font small
set ylabel font small
do for [p = 1:2] {
	q = word(pair, p)
	set lmargin at screen p == 1 ? 0.085 : 0.585
	set rmargin at screen p == 1 ? 0.48 : 0.98
	set tmargin at screen 0.88; set bmargin at screen 0.515
	set ylabel says(q) offset 0.5
	plot for [i = 1:n_curves] TABLE using (place(i)):(put(i, q, "")): \
	        (put(i, q, "_lo")):(put(i, q, "_hi")) with yerrorbars \
	        lt kind(curve(i)), \
	    for [i = 1:n_curves] TABLE using (place(i)):(put(i, q, "")) \
	        with linespoints lt kind(curve(i))
}
unset arrow
set xlabel across
set yrange [*<low:1 + (1 - low) / 15.0]
set ytics low, (1 - low) / 2.0, 1
# One key over the whole width.
set key at screen 0.53, 0.055 center bottom vertical Left reverse samplen 3 \
    font tiny maxrows 2 noopaque
do for [p = 1:2] {
	q = word(pair, p)
	set lmargin at screen p == 1 ? 0.085 : 0.585
	set rmargin at screen p == 1 ? 0.48 : 0.98
	set tmargin at screen 0.435; set bmargin at screen 0.25
	set ylabel p == 1 ? "10 to 90 %\nof runs" : "" offset 1
	if (p == 2) {
		set label FOOT note . ", side by side; below: medians of runs"
		if (exists("aside")) { set label FOOT_LEFT aside }
	}
	plot for [i = 1:n_curves] TABLE using (place(i)):(put(i, q, "_p50")): \
	        (put(i, q, "_p10")):(put(i, q, "_p90")) with yerrorbars \
	        lt kind(curve(i)) notitle, \
	    for [i = 1:n_curves] keyentry with linespoints \
	        lt kind(curve(i)) title p == 2 ? name(curve(i)) : ""
}
unset multiplot
