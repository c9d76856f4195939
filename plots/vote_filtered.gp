# plots/vote_filtered.gp -- 007 when failed flows are congestion's, and without these.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Columns are faults, rows what is measured. The grey line is 007 on the same
# flows and faults without congestion: who knew all causes would have that.
TABLE = ARG1; OUT = ARG2
wide = 1.75; tall = 1.6
load "style.gp"
COUNTS = "1 1 5 5"
RATES = "0.01 0.001 0.001 0.0001"
faults = "'1 link, 1 %' '1 link, 0.1 %' '5 links, 0.1 %' '5 links, 0.01 %'"
METRICS = "accuracy_fault top_k_recall precision"
PLAIN = "vote vote alg1"
LEFT = "vote_filtered vote_filtered alg1_filtered"
says = "'flows of faults blamed\non the right link' 'bad links among the k\nbest ranked of k' 'accused links that are\nbad (Algorithm 1)'"
EVERY = "2 30"
x_here(f, e) = column("faults.count") == word(COUNTS, f) + 0 && \
    column("faults.rate") == word(RATES, f) + 0 && \
    column("samples.every") == e + 0 ? \
    (column("congestion.ports") == 0 ? 0 : column("n_buffer_flows") \
    / (column("n_buffer_flows") + column("n_fault_flows"))) : NaN
alone(f) = column("congestion.ports") == 0 ? x_here(f, 2) : NaN
set xrange [-0.03:0.97]
set yrange [0:1.06]
if (tty) {
	set xlabel "flows that failed in full buffers"
	set ylabel "bad links among the best ranked"
	plot TABLE using (x_here(3, 2)):"vote:top_k_recall" with linespoints \
	    title "007", \
	    TABLE using (x_here(3, 2)):"vote_filtered:top_k_recall" \
	    with linespoints title "filtered"
	exit
}
set xtics ("" 0, "" 0.25, "" 0.5, "" 0.75, "" 0.9) font small
set ytics 0, 0.5, 1 font small
set ylabel font small
set multiplot title head
unset title
set label FOOT ""
unset key
do for [r = 1:3] { do for [f = 1:4] {
	m = ":" . word(METRICS, r)
	p = word(PLAIN, r) . m
	q = word(LEFT, r) . m
	set lmargin at screen 0.1 + (f - 1) * 0.225
	set rmargin at screen 0.1 + (f - 1) * 0.225 + 0.2
	set tmargin at screen 0.865 - (r - 1) * 0.235
	set bmargin at screen 0.865 - (r - 1) * 0.235 - 0.2
	set label 9 (r == 1 ? word(faults, f) : "") at graph 0.5, 1.06 center \
	    font small
	set ylabel f == 1 ? word(says, r) : ""
	if (f == 1) { set format y "%g" } else { set format y "" }
	if (r == 3) {
		set xlabel "failed flows that are congestion's" offset 0,0.3 font tiny
		set xtics ("0" 0, "" 0.25, "1/2" 0.5, "" 0.75, "0.9" 0.9)
	}
	last = r == 3 && f == 4
	if (last) {
		set label FOOT sprintf("pooled over %d runs, with exact 95 %% intervals", \
		    runs)
		set key at screen 0.54, 0.065 center bottom vertical Left reverse \
		    samplen 3 font tiny maxrows 2 noopaque
	}
	plot TABLE using (alone(f)):(column(p)):(0.93):(0) with vectors nohead \
	        lc rgb CLAIM dt 3 lw 1.5 notitle, \
	    TABLE using (x_here(f, 2)):(column(p)): \
	        (col(p . "_lo")):(col(p . "_hi")) with yerrorbars \
	        lt 1 notitle, \
	    TABLE using (x_here(f, 2)):(column(p)) with linespoints lt 1 notitle, \
	    for [e = 1:2] TABLE using (x_here(f, word(EVERY, e)) + 0.008 * e): \
	        (column(q)):(col(q . "_lo")):(col(q . "_hi")) with yerrorbars lt e + 1 notitle, \
	    for [e = 1:2] TABLE using (x_here(f, word(EVERY, e)) + 0.008 * e): \
	        (column(q)) \
	        with linespoints lt e + 1 notitle, \
	    keyentry with linespoints lt 1 title last ? "007" : "", \
	    keyentry with lines lc rgb CLAIM dt 3 lw 1.5 title last ? \
	        "007 without congestion, same flows and faults" : "", \
	    keyentry with linespoints lt 2 title last ? \
	        "without flows of full buffers, hosts sample all the time" : "", \
	    keyentry with linespoints lt 3 title last ? \
	        "hosts sample once in 30 s" : ""
} }
unset multiplot
