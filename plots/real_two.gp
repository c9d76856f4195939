# plots/real_two.gp -- two failed links in a cluster of real TCP.
# SPDX-License-Identifier: GPL-3.0-or-later
TABLE = ARG1; OUT = ARG2
load "style.gp"
set ylabel "share"
set key at graph 0.98, 0.03
set yrange [0:1.05]
set xrange [-0.5:3.5]
set xtics ("worse link\nfirst" 0, "both in\nthe top 2" 1, \
    "blamed right,\nflows hit" 2, "blamed right,\nall traced" 3) font small
cases = "0.0005 0.001"
label(r) = sprintf("0.2 %% and %g %%", 100 * r)
quantity = "vote:worst_first_rate vote:top_k_recall vote:accuracy_fault vote:accuracy_all"
at(r, q, m) = column("faults.1.rate") == r + 0 ? column(m) : NaN
set label FOOT note
plot for [c = 1:2] for [q = 1:4] TABLE using \
    (q - 1 + 0.16 * (c - 1.5)):(at(word(cases, c), q, word(quantity, q))): \
    (at(word(cases, c), q, word(quantity, q) . "_lo")): \
    (at(word(cases, c), q, word(quantity, q) . "_hi")) \
    with yerrorbars lt c title (q == 1 ? label(word(cases, c)) : "")
