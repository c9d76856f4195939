# plots/scale.gp -- size against cost: CPU and peak memory of one process.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Of `make scale`, from its table (tests/scale.sh).
TABLE = ARG1; OUT = ARG2
set datafile separator "\t"
set datafile columnheaders
wide = 1.5
load "style.gp"
title = "What size costs one process"
kinds = "cells hosts probes"
says(k) = k eq "cells" ? "cells of a sweep" : \
    k eq "hosts" ? "hosts of an epoch" : "probes in bulk"
of(k, name) = strcol("kind") eq k ? column(name) : NaN
made = system("sed -n '1s/^# \\(version [^,]*\\),.*; /\\1; /p' '" . TABLE . "'")

set logscale xy
unset title
set format y "%g"
set tics font small
set ylabel font small
set xtics nomirror ("10³" 1e3, "10⁵" 1e5, "10⁷" 1e7, "10⁹" 1e9, "10¹¹" 1e11)
set mytics 1
set xrange [500:5e11]
set label 1 title at screen 0.5, 0.955 center
set label FOOT made at screen 0.985, 0.03 right tc rgb "#777777" font tiny
set label 4 "cells, hosts, probes" at screen 0.53, 0.1 center font small
set multiplot
set tmargin at screen 0.9; set bmargin at screen 0.2
unset key
do for [p = 1:2] {
	set lmargin at screen p == 1 ? 0.085 : 0.585
	set rmargin at screen p == 1 ? 0.48 : 0.98
	what = p == 1 ? "cpu_s" : "peak_mib"
	set ylabel p == 1 ? "CPU, s" : "peak memory, MiB" offset 0.5
	if (p == 2) {
		unset label
		set label FOOT ""
		set key at graph 1, 0.72 right center samplen 3 font tiny noopaque
	}
	plot for [i = 1:words(kinds)] TABLE using "size":(of(word(kinds, i), what)) \
	    with linespoints lt i title says(word(kinds, i))
}
unset multiplot
