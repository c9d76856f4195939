# plots/alg1_readings.gp -- precision and recall of all readings on all scenes.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A row a reading, those that reach most of the paper's values on top; a column
# a scene, by its `label`, "FIGURE: VALUE". In the table the scenes of a reading
# follow each other.
TABLE = ARG1; OUT = ARG2
tall = 2.35
load "style.gp"
micro = ext eq "png" ? ",13" : ext eq "pdf" ? ",7" : ",8"
least = ext eq "png" ? ",10.5" : ext eq "pdf" ? ",5.5" : ",6"

# --- from the table: readings, scenes, and what of each ---------------------
stats TABLE using "runs" nooutput
N = int(STATS_records)
array LABEL[N]; array TOTAL[N]; array ADJUST[N]; array FILTER[N]; array FLOOR[N]
array P[N]; array R[N]; array P_HI[N]; array R_HI[N]
do for [i = 1:N] { P[i] = NaN; R[i] = NaN; P_HI[i] = NaN; R_HI[i] = NaN }
stats TABLE using (i = int(column(0)) + 1, LABEL[i] = strcol("label"), \
    TOTAL[i] = strcol("algorithms.0.total"), \
    ADJUST[i] = strcol("algorithms.0.adjust"), \
    FILTER[i] = strcol("algorithms.0.noise_filter"), \
    FLOOR[i] = column("algorithms.0.floor"), 1) nooutput
stats TABLE using (i = int(column(0)) + 1, P[i] = column("alg1:precision"), \
    P_HI[i] = column("alg1:precision_hi"), 1) nooutput
stats TABLE using (i = int(column(0)) + 1, R[i] = column("alg1:recall"), \
    R_HI[i] = column("alg1:recall_hi"), 1) nooutput
array CLAIM_P[2]; array CLAIM_R[5]
stats TABLE every ::0::0 using (CLAIM_P[1] = column("claim:precision"), \
    CLAIM_P[2] = column("claim:precision_2"), \
    CLAIM_R[1] = column("claim:recall"), \
    CLAIM_R[2] = column("claim:recall_2"), \
    CLAIM_R[3] = column("claim:recall_3"), \
    CLAIM_R[4] = column("claim:recall_4"), \
    CLAIM_R[5] = column("claim:recall_5"), 1) nooutput
N_SCENES = N
do for [i = N:2:-1] { if (LABEL[i] eq LABEL[1]) { N_SCENES = i - 1 } }
N_READINGS = N / N_SCENES

# --- what the paper says of a scene: which claim, 0 for none ----------------
figure(label) = substr(label, 1, strstrt(label, ":") - 1)
what(label) = substr(label, strstrt(label, ":") + 2, strlen(label))
claim_p(l) = figure(l) eq "Fig. 4" ? 1 : \
    figure(l) eq "Fig. 10" && what(l) + 0 >= 0.05 ? 1 : \
    figure(l) eq "6.7" ? 2 : 0
claim_r(l) = figure(l) eq "Fig. 4" ? 1 : \
    figure(l) eq "Fig. 10" && what(l) + 0 >= 0.05 ? 2 : \
    figure(l) eq "Fig. 12" && what(l) + 0 <= 7 ? 3 : \
    figure(l) eq "6.7" ? (what(l) + 0 <= 6 ? 4 : 5) : 0
# Its wording, from whoever called, says whether that was read in the paper.
wording(m, k) = "claim_" . m . (k > 1 ? sprintf("_%d", k) : "")
unread(m, k) = k && exists(wording(m, k)) && \
    strstrt(value(wording(m, k)), "(unconfirmed)")
array PAPER_P[N_SCENES]; array PAPER_R[N_SCENES]
N_SAID = 0
do for [s = 1:N_SCENES] {
	k = claim_p(LABEL[s]); PAPER_P[s] = k ? CLAIM_P[k] : NaN
	N_SAID = N_SAID + (k > 0)
	k = claim_r(LABEL[s]); PAPER_R[s] = k ? CLAIM_R[k] : NaN
	N_SAID = N_SAID + (k > 0)
}

# --- readings, by how many of these their intervals reach -------------------
scene(i) = (i - 1) % N_SCENES + 1
reading(i) = (i - 1) / N_SCENES + 1
array REACHED[N_READINGS]; array RANK[N_READINGS]; array BY_RANK[N_READINGS]
do for [r = 1:N_READINGS] { REACHED[r] = 0 }
do for [i = 1:N] {
	r = reading(i); s = scene(i)
	REACHED[r] = REACHED[r] + (P_HI[i] >= PAPER_P[s]) \
	    + (R_HI[i] >= PAPER_R[s])
}
do for [r = 1:N_READINGS] {
	k = 1
	do for [q = 1:N_READINGS] {
		k = k + (REACHED[q] > REACHED[r] || \
		    (REACHED[q] == REACHED[r] && q < r))
	}
	RANK[r] = k; BY_RANK[k] = r
}
first(r) = (r - 1) * N_SCENES + 1
word_of(r) = sprintf("%s %s %s %g", TOTAL[first(r)], ADJUST[first(r)], \
    FILTER[first(r)], FLOOR[first(r)])
known(r) = word_of(r) eq "initial expected false 0" ? "default" : \
    word_of(r) eq "current expected false 0" ? "pseudo-code" : \
    word_of(r) eq "initial removal false 0" ? "alg1_removal" : \
    word_of(r) eq "remaining removal false 0" ? "alg1_remaining" : \
    REACHED[r] == REACHED[BY_RANK[1]] ? "best" : ""
hue(r) = known(r) eq "best" ? "#007a33" : "#bb0000"

if (tty) {
	print sprintf("%d readings reach of %d values that the paper states:", \
	    N_READINGS, N_SAID)
	print "reached  total      adjust    filter  floor"
	do for [k = 1:N_READINGS] {
		r = BY_RANK[k]; i = first(r)
		print sprintf("%7d  %-9s  %-8s  %-6s  %5g  %s", REACHED[r], \
		    TOTAL[i], ADJUST[i], FILTER[i], FLOOR[i], known(r))
	}
	exit
}

# --- where things stand: a cell is 1 by 1, rows go down ---------------------
GAP = 1.2
array X[N_SCENES]
place = 0
do for [s = 1:N_SCENES] {
	X[s] = place
	place = place + 1 + \
	    (s < N_SCENES && figure(LABEL[s + 1]) ne figure(LABEL[s]) ? GAP : 0)
}
RIGHT = place + 3.4 # where recall begins
END = RIGHT + place
x_of(m, s) = X[s] + (m eq "recall" ? RIGHT : 0)
y_of(i) = RANK[reading(i)]
of(m, i) = m eq "recall" ? R[i] : P[i]
hi_of(m, i) = m eq "recall" ? R_HI[i] : P_HI[i]
paper_of(m, s) = m eq "recall" ? PAPER_R[s] : PAPER_P[s]

array COLOUR[6] = [0xb35806, 0xf1a340, 0xfee0b6, 0xd1e5f0, 0x67a9cf, 0x1b5c9e]
array MEANS[6] = ["< 0.25", "< 0.5", "< 0.75", "< 0.9", "< 0.98", "more"]
level(v) = v < 0.25 ? 1 : v < 0.5 ? 2 : v < 0.75 ? 3 : v < 0.9 ? 4 : \
    v < 0.98 ? 5 : 6
colour(v) = v != v ? 0xe4e4e4 : COLOUR[level(v)]
ink(v) = v == v && (level(v) == 1 || level(v) == 6) ? 0xffffff : 0x000000

unset title; unset grid; unset xtics; unset ytics; unset key; set label FOOT ""
unset border
set lmargin at screen 0.01; set rmargin at screen 0.995
set tmargin at screen 0.995; set bmargin at screen 0.005
LEFT = -20.8
set xrange [LEFT:END + 13]
set yrange [N_READINGS + 5:-12.5]
set style fill solid 1 noborder

set label head at LEFT, -11.7 left
do for [m in "precision recall"] {
	set label m at x_of(m, 1), -8 left font tiny
	do for [s = 1:N_SCENES] {
		l = LABEL[s]
		if (s == 1 || figure(l) ne figure(LABEL[s - 1])) {
			set label figure(l) at x_of(m, s), -6.6 left font least
		}
		set label what(l) at x_of(m, s) + 0.5, -2.6 left rotate \
		    font least
		v = paper_of(m, s)
		if (v == v) {
			set object rectangle from x_of(m, s), -2.3 \
			    to x_of(m, s) + 0.92, 0.4 fc rgb colour(v) \
			    fs solid noborder
			k = m eq "recall" ? claim_r(l) : claim_p(l)
			set label sprintf("%g%s", v, unread(m, k) ? "?" : "") \
			    at x_of(m, s) + 0.5, 0.3 left rotate font least \
			    tc rgb ink(v) front
		}
	}
}
set label "what the paper has" at -0.5, -0.8 right font tiny
set label "reached\nof " . N_SAID at END + 0.5, -1.2 left font micro
set label "total" at LEFT, 0.3 left font micro tc rgb CLAIM
set label "adjust" at LEFT + 6.7, 0.3 left font micro tc rgb CLAIM
set label "noise" at LEFT + 13.4, 0.3 left font micro tc rgb CLAIM
set label "floor" at -0.5, 0.3 right font micro tc rgb CLAIM
do for [k = 1:N_READINGS] {
	r = BY_RANK[k]; i = first(r); y = k + 0.5
	set label TOTAL[i] at LEFT, y left font micro
	set label ADJUST[i] at LEFT + 6.7, y left font micro
	set label FILTER[i] eq "true" ? "filtered" : "" at LEFT + 13.4, y left \
	    font micro
	set label sprintf("%g", FLOOR[i]) at -0.5, y right font micro
	set label sprintf("%d", REACHED[r]) at END + 1.8, y right font micro
	if (known(r) ne "") {
		set label known(r) at END + 2.2, y left font micro \
		    tc rgb hue(r)
		set object rectangle from LEFT - 0.2, k to END + 12.8, k + 1 \
		    fs empty border rgb hue(r) front
	}
}
y = N_READINGS + 2.6
STEP = (END - LEFT + 8) / 7.0
do for [n = 1:7] {
	at = LEFT + 0.5 + (n - 1) * STEP
	set object rectangle from at, y - 0.5 to at + 1, y + 0.5 \
	    fc rgb n < 7 ? COLOUR[n] : colour(NaN) fs solid noborder
	set label n < 7 ? MEANS[n] : "none accused" at at + 1.4, y left font micro
}
set label sprintf("pooled over %d runs; dot: the exact 95 %% interval ends " \
    . "below the paper's value; ?: unconfirmed", runs) \
    at END + 12.8, N_READINGS + 4.2 right tc rgb "#777777" font micro

missed(m, i) = hi_of(m, i) < paper_of(m, scene(i))
plot for [m in "precision recall"] TABLE using \
        (i = int(column(0)) + 1, x_of(m, scene(i)) + 0.5):(y_of(i) + 0.5): \
        (x_of(m, scene(i))):(x_of(m, scene(i)) + 0.92): \
        (y_of(i) + 0.06):(y_of(i) + 0.98):(colour(of(m, i))) \
        with boxxyerror lc rgb variable, \
    for [m in "precision recall"] TABLE using \
        (i = int(column(0)) + 1, x_of(m, scene(i)) + 0.46): \
        (missed(m, i) ? y_of(i) + 0.52 : NaN):(ink(of(m, i))) \
        with points pt 7 ps 0.22 lc rgb variable
