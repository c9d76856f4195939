# plots/axes.gp -- the x axes that 007's figures share, by what is swept.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `across` is its label. Curves that coincide are told apart by their marks:
# beside(v, by) is BY marks to the right of V. Along another axis, as somebody's
# own sweep under a figure's name may have, they stand at V itself.
across = x
dodge = 0
beside(v, by) = v + dodge * by
if (x eq "faults.count" || x eq "faults.1.count") {
	across = "failed links"
	set xrange [1:15]
	set xtics 2, 2, 14
	dodge = 0.14
}
if (x eq "faults.rate") {
	across = "drop rate of the failed link"
	set logscale x
	set xtics ("0.01 %%" 1e-4, "0.03 %%" 3e-4, "0.1 %%" 1e-3, \
	    "0.3 %%" 3e-3, "1 %%" 1e-2)
	set xrange [0.8e-4:1.25e-2]
	dodge = 1.04
}
if (x eq "noise.scale") {
	across = "good links drop at rates up to"
	set logscale x
	set xtics ("10⁻⁷" 0.1, "10⁻⁶" 1, "10⁻⁵" 10, "10⁻⁴" 100)
	set xrange [0.08:130]
	dodge = 1.06
}
if (dodge > 1) { beside(v, by) = v * dodge ** by }
if (tty) set xlabel across
