# plots/sweep.gp -- any sweep: panels of curves, or heat maps.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Drawn for figures that have no script of their own. What goes where has been
# arranged (results/picture.h): here are only sizes and marks.
TABLE = ARG1; OUT = ARG2
min(a, b) = a < b ? a : b
max(a, b) = a > b ? a : b
LONGEST = 26
widest_x = 0; widest_y = 0; widest = 0
do for [i = 1:n_x_ticks] { widest_x = max(widest_x, strlen(x_tick[i])) }
do for [i = 1:n_y_ticks] { widest_y = max(widest_y, strlen(y_tick[i])) }
do for [i = 1:n_entries] { widest = max(widest, strlen(entry[i])) }
widest_x = min(widest_x, LONGEST); widest_y = min(widest_y, LONGEST)
cut(text, n) = strlen(text) > n ? text[1:n - 1] . "…" : text
# Names that do not fit beside each other stand aslant, below higher panels.
wide = n_across == 1 ? 1 : 0.7 * n_across
aslant = n_x_ticks * (widest_x + 1) * 0.0095 * n_across / wide > 0.75
n_down = panel_place[n_panels] / n_across + 1
tall = n_down * (0.72 + (aslant ? 0.009 * widest_x : 0)) + 0.28 + 0.1 * heatmap
load "style.gp"

# --- sizes, as shares of the figure -----------------------------------------
# A line of text, and a letter of the smallest.
LINE = 0.038 / tall
LETTER = 0.0095 / wide
LEFT = max(heatmap ? (widest_y + 7) * LETTER : 0, 0.13 / wide)
RIGHT = (heatmap ? 0.17 : 0.015) / wide
PANEL = (1 - n_across * (LEFT + RIGHT)) / n_across

has_title = 0
do for [i = 1:n_panels] { if (panel_title[i] ne "") { has_title = 1 } }
n_columns = 1; n_lines = 0
if (!heatmap && (n_entries > 1 || by_label ne "" || entry_is_algo[1])) {
	n_columns = max(1, int(0.96 / ((widest + 9) * LETTER)))
	n_lines = (n_entries + n_columns - 1) / n_columns + (by_label ne "")
}
about = ""; n_about = 0; said = ""
do for [i = 1:n_panels] {
	if (!strstrt(said, "|" . panel_metric[i] . "|")) {
		said = said . "|" . panel_metric[i] . "|"
		about = about . (n_about ? "\n" : "") . panel_about[i]
		n_about = n_about + 1
	}
}
TOP = (title eq "" ? 0.6 : paper eq "" ? 1.8 : 3) * LINE
ABOVE = (has_title ? 1.5 : 0.6) * LINE
TICKS = (aslant ? 1.2 + widest_x * 0.27 : 1.9) * LINE
NAME = 1.7 * LINE
BOTTOM = (0.9 + 0.75 * n_about) * LINE
LEGEND = n_lines * 0.85 * LINE
HEIGHT = (1 - TOP - NAME - BOTTOM - LEGEND) / n_down - ABOVE - TICKS

# Of more names than there is room for only some are there.
each_x = 1 + int(n_x_ticks * (aslant ? 2.8 : 1) * LETTER / PANEL)
each_y = 1 + int(n_y_ticks * 0.85 * LINE / HEIGHT)

# --- axes --------------------------------------------------------------------
set tics font small
if (n_x_ticks) {
	set xrange [-0.6:n_x_ticks - 0.4]
	set xtics ("" 0) scale 0.3
	if (aslant) { set xtics rotate by 40 right }
	do for [i = 1:n_x_ticks:each_x] {
		set xtics add (cut(x_tick[i], LONGEST) i - 1)
	}
} else {
	if (log_x) {
		set logscale x
		edge = x_high > x_low ? (x_high / x_low) ** 0.04 : 1.5
		set xrange [x_low / edge:x_high * edge]
	} else {
		edge = x_high > x_low ? 0.04 * (x_high - x_low) : \
		    0.5 + 0.1 * abs(x_low)
		set xrange [x_low - edge:x_high + edge]
	}
	set format x "%g"
}
if (log_y && !heatmap) { set logscale y; set format y "%g" }

# The ends of a colour scale, which are never the same.
low(p) = panel_share[p] ? 0 : panel_least[p]
high(p) = panel_share[p] ? 1 : panel_most[p] > panel_least[p] ? panel_most[p] : \
    panel_least[p] + max(1e-9, 0.1 * abs(panel_least[p]))
part(p) = (column("value") - low(p)) / (high(p) - low(p))

# What is no algorithm has the colours in their order.
style(k) = entry_is_algo[k] ? look(entry[k]) : k

if (tty) {
	set key below
	set xlabel cut(x_label, 60)
	if (heatmap) {
		set yrange [n_y_ticks - 0.5:-0.5]
		set ytics ("" 0)
		do for [i = 1:n_y_ticks:1 + n_y_ticks / 20] {
			set ytics add (cut(y_tick[i], 20) i - 1)
		}
	}
	do for [p = 1:n_panels] {
		set title title . "\n" . panel_metric[p] . "  " . panel_title[p] \
		    . (heatmap ? "  by " . y_label : "")
		if (!heatmap) {
			set yrange [*:*]
			if (!log_y && panel_from_0[p]) { set yrange [0:*] }
			if (!log_y && panel_share[p]) { set yrange [0:1.05] }
		}
		k = panel_first[p]
		if (heatmap) {
			# Where cells are too small for numbers, parts of ten.
			digits = n_x_ticks > 12
			if (digits) {
				set title title . "\n" . panel_metric[p] . "  " \
				    . panel_title[p] . "  by " . y_label \
				    . sprintf(", 0: %.3g to 9: %.3g", low(p), high(p))
			}
			plot curves every ::curve_first[k]::curve_last[k] using \
			    "at":"y":(digits ? sprintf("%d", min(9, int(10 * part(p)))) \
			    : sprintf("%.3g", column("value"))) with labels notitle
		} else { if (n_x_ticks) {
			plot for [k = panel_first[p]:panel_last[p]] curves \
			    every ::curve_first[k]::curve_last[k] using "at":"y" \
			    with points pt curve_entry[k] title entry[curve_entry[k]]
		} else {
			plot for [k = panel_first[p]:panel_last[p]] curves \
			    every ::curve_first[k]::curve_last[k] using "at":"y" \
			    with linespoints pt curve_entry[k] \
			    title entry[curve_entry[k]]
		} }
	}
	exit
}

# --- panels ------------------------------------------------------------------
unset label 2
head = title . (paper eq "" ? "" : "\n" . paper)
if (title ne "") {
	set multiplot title head
} else {
	set multiplot
}
unset title
unset key
set ylabel offset 0.8, 0
do for [p = 1:n_panels] {
	column_ = panel_place[p] % n_across
	row_ = panel_place[p] / n_across
	set lmargin at screen column_ * (LEFT + PANEL + RIGHT) + LEFT
	set rmargin at screen column_ * (LEFT + PANEL + RIGHT) + LEFT + PANEL
	t = 1 - TOP - row_ * (ABOVE + HEIGHT + TICKS) - ABOVE
	set tmargin at screen t
	set bmargin at screen t - HEIGHT
	# The last panel of a column has the name of what goes across. It is no
	# xlabel, whose place depends on the names of ticks.
	last_ = 1
	do for [q = p + 1:n_panels] {
		if (panel_place[q] % n_across == column_) { last_ = 0 }
	}
	unset label 5
	if (last_) {
		set label 5 cut(x_label, 60) at graph 0.5, \
		    screen t - HEIGHT - TICKS - 0.7 * LINE center
	}
	set label 4 panel_title[p] at graph 0.5, 1 center offset 0, 0.7 font small
	if (p == 2) { unset label 1 }
	if (heatmap) {
		set yrange [n_y_ticks - 0.5:-0.5]
		set ytics ("" 0) scale 0.3
		do for [i = 1:n_y_ticks:each_y] {
			set ytics add (cut(y_tick[i], LONGEST) i - 1)
		}
		set label 6 y_label at \
		    screen column_ * (LEFT + PANEL + RIGHT) + 2.5 * LETTER, \
		    graph 0.5 center rotate by 90
		set xrange [-0.5:n_x_ticks - 0.5]
		unset grid
		set style fill solid 1 noborder
		# From pale to dark, without a hue that means good or bad.
		set palette defined (0 "#fff7ec", 0.4 "#fdbb84", 0.7 "#d7301f", \
		    1 "#5b0000")
		set cbrange [low(p):high(p)]
		set format cb "%.3g"
		set label 7 panel_metric[p] at \
		    screen (column_ + 1) * (LEFT + PANEL + RIGHT) - 2 * LETTER, \
		    graph 0.5 center rotate by 90 font small
		set cbtics font tiny
		set colorbox user origin screen column_ * (LEFT + PANEL + RIGHT) \
		    + LEFT + PANEL + 0.015 / wide, screen t - HEIGHT \
		    size screen 0.022 / wide, screen HEIGHT
		k = panel_first[p]
		# Cells that are wide enough have their value.
		if (n_x_ticks <= 12 && n_y_ticks <= 16) {
			plot curves every ::curve_first[k]::curve_last[k] \
			    using "at":"y":(0.5):(0.5):"value" with boxxyerror \
			    fill solid 1 noborder lc palette z, \
			    curves every ::curve_first[k]::curve_last[k] \
			    using "at":"y":(sprintf("%.3g", column("value"))): \
			    (part(p) > 0.6 ? 0xffffff : 0) with labels font tiny \
			    tc rgb variable
		} else {
			plot curves every ::curve_first[k]::curve_last[k] \
			    using "at":"y":(0.5):(0.5):"value" with boxxyerror \
			    fill solid 1 noborder lc palette z
		}
	} else {
		set ylabel panel_metric[p]
		set yrange [*:*]
		if (!log_y && panel_from_0[p]) { set yrange [0:*] }
		if (!log_y && panel_share[p]) { set yrange [0:1.05] }
		if (n_x_ticks) {
			plot for [k = panel_first[p]:panel_last[p]] curves \
			    every ::curve_first[k]::curve_last[k] \
			    using "at":"y":"lo":"hi" with yerrorbars \
			    lt style(curve_entry[k]) dt 1 lw 1.2 ps 1
		} else {
			plot for [k = panel_first[p]:panel_last[p]] curves \
			    every ::curve_first[k]::curve_last[k] \
			    using "at":"y" with linespoints \
			    lt style(curve_entry[k]), \
			    for [k = panel_first[p]:panel_last[p]] curves \
			    every ::curve_first[k]::curve_last[k] \
			    using "at":"y":"lo":"hi" with yerrorbars \
			    lt style(curve_entry[k]) dt 1 lw 1.2
		}
	}
}

# --- what holds for all of them ----------------------------------------------
# A panel without axes has all the width for the legend.
unset label
unset border
unset tics
unset xlabel
unset ylabel
unset logscale
unset grid
unset colorbox
set xrange [0:1]
set yrange [0:1]
set lmargin at screen 0.02
set rmargin at screen 0.98
set tmargin at screen BOTTOM + LEGEND
set bmargin at screen BOTTOM
set label 1 about at screen 0.015, BOTTOM - 0.9 * LINE left tc rgb "#777777" \
    font tiny
set label 2 bars . below at screen 0.985, 0.6 * LINE right tc rgb "#777777" \
    font tiny
if (n_lines) {
	if (by_label ne "") { set key title by_label font tiny }
	set key at screen 0.5, BOTTOM + LEGEND center top horizontal Left reverse \
	    samplen 3 font tiny maxcols n_columns noopaque
	plot -1 notitle, for [k = 1:n_entries] keyentry with linespoints \
	    lt style(k) title entry[k]
} else {
	plot -1 notitle
}
unset multiplot
