# plots/style.gp -- what all figures share: terminal, palette, curves.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `culprit plot` runs a script as  gnuplot -c SCRIPT.gp TABLE OUT  with the
# table of `culprit table`; OUT ends in .svg, .pdf or .png, or is "-" for the
# terminal. It is told, as variables:
#
#	title, paper, runs
#	run_s     how long each run of a rack was; 0 on other planes
#	partial   "" or how many of the runs there are
#	x         the first axis, or what --x names
#	algos     labels of algorithms, as words
#	each      a pipe of `culprit table --runs`; rows(OPTIONS) is one of
#	          `culprit table OPTIONS`
#	claim_M   wording of what the paper states of metric M; claim_M_2 of the
#	          second on it
#
# and, if it is not a shipped figure's own, of the sweep as it is arranged
# (results/picture.h); sweep.gp is an example:
#
#	curves    a table: panel, metric, curve, x, at, y, lo, hi, each curve's
#	          rows one behind the other; of a heat map `value` for lo and hi
#	n_panels, n_across, n_entries, heatmap, log_x, log_y, x_low, x_high
#	x_label, y_label, by_label, bars, below
#	x_tick[n_x_ticks], y_tick[n_y_ticks]: formats of the marks at 0, 1, ...;
#	          none if the axis is one of numbers
#	panel_place (row * n_across + column), _title, _metric, _about, _first,
#	          _last (curves), _share (from 0 to 1), _from_0, _least, _most
#	          (values): [n_panels]
#	curve_first, curve_last (rows, for `every`), curve_entry: of each curve
#	entry, entry_is_algo: [n_entries] of the legend
#
# A script begins with TABLE = ARG1; OUT = ARG2, since `load` hides the
# arguments. `tall` and `wide`, set before, are factors on a figure's size. What
# an algorithm looks like says look(), below.

if (!exists("title")) title = ""
if (!exists("paper")) paper = ""
if (!exists("partial")) partial = ""
if (!exists("runs")) runs = 0
if (!exists("run_s")) run_s = 0
if (!exists("algos")) algos = ""
if (!exists("pipe_from")) pipe_from = ""; pipe_of = ""
rows(options) = pipe_from . options . pipe_of
if (!exists("tall")) tall = 1
if (!exists("wide")) wide = 1

ext = OUT[strlen(OUT) - 2:*]
tty = OUT eq "-"

small = ext eq "png" ? ",20" : ext eq "pdf" ? ",10" : ",11"
tiny = ext eq "png" ? ",16" : ext eq "pdf" ? ",8" : ",9"

# Letters and marks have the same share of a figure in all formats.
if (tty) {
	set terminal dumb 100 30 noenhanced
} else { if (ext eq "svg") {
	set terminal svg size 640 * wide,440 * tall noenhanced font "DejaVu Sans,13" \
	    background "#ffffff" linewidth 1.2
} else { if (ext eq "pdf") {
	set terminal pdfcairo size 16 * wide cm,11 * tall cm noenhanced font "DejaVu Sans,11" \
	    linewidth 1.5 fontscale 0.7 pointscale 0.8
} else {
	set terminal pngcairo size 1280 * wide,880 * tall noenhanced font "DejaVu Sans,24" \
	    linewidth 2.4 pointscale 1.6
} } }
if (!tty) set output OUT

# --- looks --------------------------------------------------------------------
# Linetypes 1 to 8 have Okabe and Ito's colours, but brown for their yellow,
# which is faint on white; 9 to 16 have eight more. The first 11 are told apart also
# without colour vision, and each has a mark and a dash of its own. From 17 on
# the colours come again, darker every other time, with other marks and dashes:
# no two of these pairs are alike, and first a filled mark comes again open.
HUES = "0x0072b2 0xd55e00 0x009e73 0xcc79a7 0xe69f00 0x56b4e9 0x000000" \
    . " 0x661100 0x8822cc 0x999933 0x332288 0x44aa99 0xee7799 0x888888" \
    . " 0x882255 0x117733"
MARKS = "7 5 9 13 11 6 4 8 12 10 2 15 14 3 1 0"
N_HUES = words(HUES)
set dashtype 11 solid
set dashtype 12 (8, 3)
set dashtype 13 (3, 3)
set dashtype 14 (10, 3, 2, 3)
set dashtype 15 (6, 2, 1, 2)
set dashtype 16 (2, 2)
set dashtype 17 (12, 4)
set dashtype 18 (10, 3, 2, 3, 2, 3)
set dashtype 19 (3, 1.5)
set dashtype 20 (5, 3)
set dashtype 21 (16, 3)
set dashtype 22 (6, 2, 6, 2, 1, 2)
set dashtype 23 (12, 2, 1, 2)
set dashtype 24 (1, 2)
set dashtype 25 (8, 2, 2, 2, 2, 2)
set dashtype 26 (4, 6)
look_dark(c) = ((c >> 16 & 255) * 11 / 20 << 16) \
    + ((c >> 8 & 255) * 11 / 20 << 8) + (c & 255) * 11 / 20
look_rgb(i, again) = again % 2 ? look_dark(int(word(HUES, i))) \
    : int(word(HUES, i))
look_turn(i, k) = (i - 1 + k) % N_HUES + 1
do for [again = 0:N_HUES - 1] { do for [i = 1:N_HUES] {
	set linetype again * N_HUES + i lc rgb look_rgb(i, again) \
	    pt int(word(MARKS, look_turn(i, 5 * again))) \
	    dt 10 + look_turn(i, again) lw 2
} }

# look(a) is the linetype of an algorithm by its label, the same in all figures:
# the n-th name here has the n-th colour; so have the names below, but darker and
# with other marks and dashes if `algos` hold both. Where one name begins with another the
# longest that fits counts. A label that begins with a name is a variant: it has
# that name's look, or if the figure's `algos` hold several such, its colour with
# another mark and dash. Labels that begin with no name take the colours that are
# left, in the order of `algos`.
LOOKS = "vote cover integer binary alg1 vote_ecmp blackhole hop_trace" \
    . " everflow_drop everflow_loop everflow_latency" \
    . " loss_cause nic_stall sync_burst vote_filtered"
LOOKS_TOO = "sieve - - - - - - netbouncer flock score_passive score sherlock" \
    . " detector vote_flock"
N_LEFT = N_HUES - words(LOOKS)
look_of = look_long = 0
look_fits(a, name) = a[1:strlen(name)] eq name && strlen(name) > look_long
look_try(a, name, i) = look_fits(a, name) ? \
    (look_long = strlen(name), look_of = i) : 0
# The place of the name in the two lists, one behind the other.
look_name(a) = (look_of = 0, look_long = 0, \
    sum [i = 1:words(LOOKS)] look_try(a, word(LOOKS, i), i), \
    sum [i = 1:words(LOOKS_TOO)] \
        look_try(a, word(LOOKS_TOO, i), N_HUES + i), look_of)
look_hue(a) = look_name(a) > N_HUES ? look_of - N_HUES : look_of
look_named(a) = look_name(a) && (look_of > N_HUES ? \
    word(LOOKS_TOO, look_of - N_HUES) : word(LOOKS, look_of)) eq a
look_place(a) = sum [i = 1:words(algos)] (word(algos, i) eq a ? i : 0)
# What is called by the name itself goes before its variants.
look_before(b, a) = !look_named(a) && look_name(b) == look_name(a) && \
    (look_named(b) || look_place(b) < look_place(a))
look_met(a, b) = look_name(a) == look_name(b) + N_HUES
look_is_met(a) = sum [i = 1:words(algos)] look_met(a, word(algos, i))
look_nth(a) = (look_is_met(a) > 0) + \
    sum [i = 1:words(algos)] look_before(word(algos, i), a)
look(a) = look_hue(a) ? look_nth(a) % N_HUES * N_HUES + look_hue(a) : \
    look_nth(a) / N_LEFT % N_HUES * N_HUES + words(LOOKS) + 1 \
    + look_nth(a) % N_LEFT
CLAIM = "#666666"

set datafile separator "\t"
set datafile missing "NaN"
set datafile columnheaders
# What has no number in a row is read as nothing, or as it stands.
given(c) = strcol(c) ne "" && strcol(c) ne "NaN"
# Column C or, where that has no number, D.
or(c, d) = given(c) ? column(c) : column(d)
# A column; where it is the end of an interval, which one run has not, the middle:
# else not even the point would be drawn.
is_end(c) = c[strlen(c) - 2:*] eq "_lo" || c[strlen(c) - 2:*] eq "_hi"
col(c) = is_end(c) ? or(c, c[1:strlen(c) - 3]) : column(c)
set border 3 lw 0.8
set tics nomirror out scale 0.6
# By default a blank comes first, and the number stands beside its mark.
set format "%h"
if (tty) { set grid y } else { set grid y lt 1 lc rgb "#e4e4e4" lw 0.6 dt 1 }
set key inside bottom right vertical Left reverse samplen 3 spacing 1.15 \
    opaque fillcolor rgb "#ffffff" noenhanced font small
set style fill transparent solid 0.14 noborder
set pointsize 0.5
# Else bars had gaps, and ends cut off, where their curve has a dash. Their key
# would lose it, too: curves are drawn with linespoints, bars without a title.
set errorbars 0.6 dt 1

head = title . (paper eq "" ? "" : "\n" . paper)
if (title ne "") set title head
if (partial ne "") set label 1 partial at graph 0.5,0.5 center \
    tc rgb "#bb0000" front
# The foot says what is drawn, so whoever draws more than ratios says more than
# `note`. These are labels that know their place: `set label FOOT note` is all;
# FOOT2 is a line above, FOOT_LEFT on the other side. A multiplot sets them for
# its last panel alone, as each panel draws them anew, and "" before.
note = sprintf("points: pooled over %d runs with exact 95 %% intervals", runs)
FOOT = 2; FOOT2 = 102; FOOT_LEFT = 202
if (!tty) {
	set label FOOT note at screen 0.985, 0.02 right tc rgb "#777777" \
	    font tiny
	set label FOOT2 "" at screen 0.985, 0.05 right tc rgb "#777777" \
	    font tiny
	set label FOOT_LEFT "" at screen 0.015, 0.02 left tc rgb "#777777" \
	    font tiny
	set bmargin 5
	set rmargin 2
}
