#!/bin/bash
# tests/cli/arena.sh -- the arena: same bytes, kills, phrases, mistakes.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh
. "$tree/tests/cli/lib/plug.sh"

# A quarter of size s.
few=(--size s --telemetries a2,p,a2_p --families single,many,none
	--algorithms alg1,flock --set runs=2)

# What is measured aside.
numbers() { # FOLDER
	(cd "$1" && sha256sum ./*.h5 scores.csv pairs.csv front.tsv map.tsv \
	    cd.tsv standing.tsv)
}

prepare() {
	cd "$top" || exit
	"$CULPRIT" arena "${few[@]}" -q -j 1 -o whole >whole.out || exit
	numbers whole >whole.sums
	cd "$tree" || exit
}

the_bytes_are_the_same_for_any_number_of_jobs() {
	run_for 0 "$CULPRIT" arena "${few[@]}" -q -j 2 -o two
	numbers two >sums
	same sums ../whole.sums
	# Nothing is left to do, and nothing is done.
	run_for 0 "$CULPRIT" arena "${few[@]}" -q -o two
	numbers two >sums
	same sums ../whole.sums
}

a_kill_loses_nothing() {
	for wait in 0.05 0.15 0.3; do
		"$CULPRIT" arena "${few[@]}" -q -j 1 -o cut >/dev/null 2>&1 &
		pid=$!
		sleep "$wait"
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" || true
	done
	# Workers end with their parent, and with them its lock; but not at once.
	within 60 "$CULPRIT" arena "${few[@]}" -q -j 1 -o cut >/dev/null 2>&1 ||
	    fail "it does not go on"
	numbers cut >sums
	same sums ../whole.sums
}

# Each telemetry has those that read what it has; of all it says how they did.
what_a_telemetry_lacks_is_not_asked_of_it() {
	grep -q '^a2 *alg1 ' ../whole.out || fail "no alg1 on a2"
	if grep -q '^p *alg1 ' ../whole.out; then fail "alg1 on p"; fi
	grep -q '^p *flock ' ../whole.out || fail "no flock on p"
	says 'Best is .* on .*: F .*, .* bytes/s of a host. ' ../whole.out
	# Without a fault there is no F, and with one no false alarm.
	if grep -qE '^none,[^,]*,[^,]*,(f|recall|exact),' ../whole/scores.csv ||
	    grep -qE '^single,[^,]*,[^,]*,alarms,' ../whole/scores.csv; then
		fail "scores of what there is not"
	fi
	[[ $(grep -c '^all,.*,f,' ../whole/scores.csv) = 5 ]]
	[[ $(wc -l <../whole/pairs.csv) = 11 ]]
}

# No false alarm in 2 runs on 3 networks: at most 1 - 0.025^(1/6) of a day's windows.
false_alarms_a_day_have_exact_bounds() {
	awk -F, '$1 == "none" && $3 == "flock" && $4 == "alarms_a_day" {
		if ($5 != 0 || $6 != 0 || $7 < 1322.6 || $7 > 1322.8)
			print "not the bound:", $0
		n++
	} END { if (n == 0) print "no line" }' ../whole/scores.csv >wrong
	[[ ! -s wrong ]] || { cat wrong; fail "other bounds"; }
}

# What there is now is what is expected, until it is not.
the_standing_is_held_against_an_earlier_one() {
	mkdir -p results/out results/expected
	cp -r ../whole results/out/arena
	printf 'claims: []\n' >results/expected/vigil.yaml
	run_for 0 "$CULPRIT" verify --claims ./results/expected/vigil.yaml \
	    --write arena
	same results/expected/arena.tsv results/out/arena/standing.tsv
	run_for 0 "$CULPRIT" verify --claims ./results/expected/vigil.yaml
	says '^arena +PASS +[0-9]+ of [0-9]+ numbers exactly as' stdout
	# One number is another, one row is gone.
	awk -F'\t' -v OFS='\t' '$3 == "flock:f" && !n++ { $7 *= 1.001 } { print }' \
	    ../whole/standing.tsv >results/out/arena/standing.tsv
	run_for 1 "$CULPRIT" verify --claims ./results/expected/vigil.yaml
	says '^arena +FAIL' stdout
	says 'flock:f'
	grep -v 'alg1:recall' ../whole/standing.tsv \
	    >results/out/arena/standing.tsv
	run_for 1 "$CULPRIT" verify --claims ./results/expected/vigil.yaml
	says 'missing' stdout
	# What could not be read is not written.
	awk -F'\t' -v OFS='\t' '$3 == "flock:f" && !n++ { $5 = $4 + 1 } { print }' \
	    ../whole/standing.tsv >results/out/arena/standing.tsv
	run_for 3 "$CULPRIT" verify --claims ./results/expected/vigil.yaml \
	    --write arena
	says 'not a point, a metric'
	same results/expected/arena.tsv ../whole/standing.tsv
	# Another build is not to be expected.
	sed '1s/, build [0-9a-f]*/, build 0123456789abcdef/' \
	    ../whole/standing.tsv >results/out/arena/standing.tsv
	run_for 3 "$CULPRIT" verify --claims ./results/expected/vigil.yaml \
	    --write arena
	says 'another build'
}

# Its F by hand, of the runs' metrics.
scores_are_those_of_the_runs() {
	run_for 0 "$CULPRIT" table --runs --tsv ../whole/many.a2_p.h5 --all
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{
		p = $at["flock:n_flagged"] > 0 ? \
		    $at["flock:n_flagged_true"] / $at["flock:n_flagged"] : 1
		r = $at["flock:n_found"] / $at["flock:n_to_find"]
		f += p + r > 0 ? 2 * p * r / (p + r) : 0
		n++
	}
	END { printf "many,a2_p,flock,f,%.6g\n", f / n }' stdout >want
	grep '^many,a2_p,flock,f,' ../whole/scores.csv | cut -d, -f1-5 >got
	same got want
}

# Of all windows of both families, by the chances of each run.
stated_chances_are_held_against_what_failed() {
	run_for 0 "$CULPRIT" arena --size s --families single,none -q -o out \
	    --telemetries a2 --algorithms flock,sieve --set runs=3
	says 'ECE' stdout
	for f in single none; do
		run_for 0 "$CULPRIT" table --runs --tsv --all out/$f.a2.h5
		cp stdout $f.tsv
	done
	awk -F'\t' 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{
		for (b = 1; b <= 5; b++) {
			n += $at["sieve:n_stated_" b]
			gap[b] += $at["sieve:stated_" b] - \
			    $at["sieve:n_stated_true_" b]
		}
	}
	END {
		for (b in gap) sum += gap[b] < 0 ? -gap[b] : gap[b]
		printf "all,a2,sieve,ece,%.4g\n", sum / n
	}' single.tsv none.tsv >want
	awk -F, '$1 == "all" && $4 == "ece" {
		printf "%s,%s,%s,%s,%.4g\n", $1, $2, $3, $4, $5
	}' out/scores.csv >got
	same got want
	grep -qE '^all.a2.sieve:ece.3.3.' out/standing.tsv
}

# When an answer is right is asked of parts of windows; it changes no other number,
# and a link that loses half of all packets is found at once.
answers_are_asked_for_early() {
	local spec=$tree/experiments/arena/single.yaml
	some=(-q -s runs=3 -s 'algorithms=[flock, sieve]')
	run_for 0 "$CULPRIT" run "$spec" "${some[@]}" -o whole.h5
	run_for 0 "$CULPRIT" run "$spec" "${some[@]}" -o early.h5 \
	    -s telemetry.early.halvings=3
	for f in whole early; do
		run_for 0 "$CULPRIT" table --runs --tsv --all "$f.h5"
		awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++)
			no[i] = $i ~ /right_share/ }
		    { for (i = 1; i <= NF; i++) if (!no[i]) printf "%s\t", $i
		    print "" }' stdout >$f
	done
	same early whole
	run_for 0 "$CULPRIT" table --runs --tsv -c '*right_share' early.h5
	[[ $(grep -cE '^(0\.125|0\.25|0\.5|1)'$'\t''(0\.125|0\.25|0\.5|1)$' \
	    stdout) = 9 ]] || { cat stdout; fail "other shares"; }
	run_for 0 "$CULPRIT" run "$spec" "${some[@]}" -o sure.h5 \
	    -s telemetry.early.halvings=3 -s faults.rate=0.5
	run_for 0 "$CULPRIT" table --runs --tsv -c flock:right_share sure.h5
	[[ $(grep -cx 0.125 stdout) = 9 ]] || { cat stdout; fail "not found"; }
	run_for 0 "$CULPRIT" run "$tree/experiments/arena/none.yaml" \
	    "${some[@]}" -o none.h5 -s telemetry.early.halvings=3
	run_for 0 "$CULPRIT" table --runs --tsv --all none.h5
	! head -1 stdout | grep -q right_share || fail "right about nothing"
	# Half a minute is a window's, which the arena asks about in sixteenths.
	grep -qE '^single,a2_p,flock,right_s,[0-9.]+,' ../whole/scores.csv
	not grep -qE '^none,.*,right_s,' ../whole/scores.csv
}

# Over families, as printed there.
costs_are_the_means_of_what_was_measured() {
	awk -F, 'NR > 1 { k = $2 "," $3; n[k]++; s[k] += $5; m[k] += $6 }
	END { for (k in n) printf "%s,%.3g,%.3g\n", k, s[k] / n[k], m[k] / n[k]
	}' ../whole/cpu.csv | sort >want
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ printf "%s,%s,%s,%s\n", $1, $2, $at["cpu_s"], $at["memory_bytes"] }' \
	    ../whole/table.tsv | sort >got
	[[ -s want ]]
	same got want
}

another_phrase_is_another_draw() {
	run_for 0 "$CULPRIT" arena "${few[@]}" -q -o other \
	    --seed-phrase "other words"
	says 'phrase "other words", seed [0-9]+' stdout
	numbers other >sums
	if cmp -s sums ../whole.sums; then fail "the phrase is not heard"; fi
	run_for 0 "$CULPRIT" arena "${few[@]}" -q -o again \
	    --seed-phrase "other words"
	numbers again >sums2
	same sums2 sums
	# A folder is of one phrase, unless one insists.
	run_for 2 "$CULPRIT" arena "${few[@]}" -q -o other
	says "other/single.a2.h5 holds results of another spec"
	run_for 0 "$CULPRIT" arena "${few[@]}" -q -o other --force
	numbers other >sums
	same sums ../whole.sums
}

figures_are_drawn() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	cp -r ../whole mine
	run_for 0 "$CULPRIT" arena "${few[@]}" -q -o mine --plot
	[[ ! -s stderr ]] || { cat stderr; fail "gnuplot said something"; }
	for f in front map cd scaling; do
		for ext in svg pdf png; do [[ -s mine/arena_$f.$ext ]]; done
	done
	grep -q 'flock' mine/arena_front.svg
}

mistakes_are_named() {
	run_for 2 "$CULPRIT" arena --algorithms alg1,flok -o bad
	says 'flok.*flock'
	run_for 2 "$CULPRIT" arena --algorithms '{name: flock, beem: 2}' -o bad
	says 'beem'
	run_for 2 "$CULPRIT" arena --algorithms flock,flock -o bad
	says 'two are labelled "flock"'
	run_for 2 "$CULPRIT" arena --algorithms flock, -o bad
	run_for 2 "$CULPRIT" arena --families singel -o bad
	says '"singel"; did you mean "single"'
	run_for 2 "$CULPRIT" arena --telemetries int,b2 -o bad
	says '"b2"'
	run_for 2 "$CULPRIT" arena --telemetries int --algorithms \
	    flock,detector -o bad
	says 'detector reads none of --telemetries; int has no probes along known'
	run_for 2 "$CULPRIT" arena -o bad --algorithms \
	    "$(seq -f '{name: flock, label: f%g}' -s, 33)"
	says_once 'more than 32 --algorithms'
	run_for 2 "$CULPRIT" arena -o bad --algorithms \
	    "$(seq -f '{name: flock, label: f%g}' -s, 32),flok"
	says_once 'more than 32 --algorithms'
	run_for 2 "$CULPRIT" arena --telemetries x -o bad --algorithms \
	    "$(seq -f '{name: flock, label: f%g}' -s, 32)"
	says_once '[-]-telemetries'
	run_for 2 "$CULPRIT" arena -o bad --algorithms "$(printf '%04096d' 0)"
	says_once '[-]-algorithms is longer than 4095 bytes'
	run_for 2 "$CULPRIT" arena --size xl -o bad
	says '"xl" is not s, m or l'
	[[ ! -e bad ]] || fail "something was written"
	run_for 0 "$CULPRIT" arena -q -o bad --families none --telemetries a1 \
	    --algorithms 'flock,{name: flock, label: "a, b", beam: 2}' \
	    --set runs=1
}

# Values found on other runs stand beside the paper's. They are found in the same
# way by any number of jobs, and what stands in the file is what is run.
rivals_are_tuned_on_other_runs() {
	local entry judged
	some=(--size s --telemetries int,a1 --families single,none --set runs=2)
	run_for 0 "$CULPRIT" arena "${some[@]}" --algorithms flock,sieve -q \
	    -j 1 --tune one.tsv
	run_for 0 "$CULPRIT" arena "${some[@]}" --algorithms flock,sieve -q \
	    -j 2 --tune two.tsv
	same one.tsv two.tsv
	[[ $(grep -c '^[a-z]' one.tsv) = 3 ]] # with the head
	awk -F'\t' 'NR > 2 && $6 < $5 { exit 1 }' one.tsv ||
	    fail "its own values do better"
	mkdir -p experiments/arena
	# Of a1 there is none, and it takes no part there.
	grep -v '^a1' one.tsv >experiments/arena/tuned.tsv
	run_for 0 "$CULPRIT" arena "${some[@]}" -q -o both \
	    --algorithms flock,flock_tuned
	[[ $(grep -cE '^int +flock(_tuned)? ' stdout) = 2 ]]
	[[ $(grep -cE '^a1 +flock' stdout) = 1 ]]
	says '^2 runs of seed [0-9]+ at size s' stdout
	entry=$(sed -n 's/^int\tflock\t\([^\t]*\).*/\1/p' one.tsv)
	run_for 0 "$CULPRIT" arena "${some[@]}" -q -o hand \
	    --telemetries int --algorithms "$entry"
	grep '^single,int,flock_tuned' both/scores.csv >want
	grep '^single,int,flock_tuned' hand/scores.csv >got
	same got want
	run_for 2 "$CULPRIT" arena "${some[@]}" -q -o bad --telemetries a1 \
	    --algorithms flock_tuned
	says 'no values of flock_tuned for any of --telemetries'
	run_for 2 "$CULPRIT" arena -q -o bad --algorithms sieve_tuned
	says 'no values for "sieve"'
	run_for 2 "$CULPRIT" arena "${some[@]}" -q --algorithms sieve \
	    --tune no.tsv
	says 'none has parameters that are usually tuned'
	# Nobody is judged on what it was tuned on.
	judged=$(sed -nE '1s/.*seed ([0-9]+).*/\1/p' both/standing.tsv)
	sed -i "1s/seed [0-9]*/seed $judged/" experiments/arena/tuned.tsv
	run_for 2 "$CULPRIT" arena "${some[@]}" -q -o bad \
	    --algorithms flock_tuned
	says 'tuned.tsv: was found on runs of this very seed'
	[[ ! -e bad && ! -e no.tsv ]] || fail "something was written"
}

prepare
# One in C and one in Python, named from where the user stands, read the same rows
# and equal paths, and stand in the table.
algorithms_from_outside_take_part() {
	local python out
	find_numpy
	cp "$tree/tests/cli/lib/rows_algo.py" .
	${CC:-cc} -O2 -shared -fPIC -I"$tree" -o rows.so \
	    "$tree/tests/cli/lib/rows_plugin.c"
	out="flock,{exec: '$python rows_algo.py', audit: 4},"
	out+="{plugin: rows.so, audit: 1}"
	run_for 0 "$CULPRIT" arena --size s --families single,none -q -o out \
	    --telemetries int,a1,a2,p,a1_a2_p --set runs=2 --algorithms "$out"
	[[ $(grep -cE '^(int|a1|a2|p|a1_a2_p) +rows ' stdout) = 5 ]]
	[[ $(grep -cE '^int +rows(_c)? +1\.000 ' stdout) = 2 ]]
	grep ',rows,' out/scores.csv | sed s/,rows,/,rows_c,/ >python
	grep ',rows_c,' out/scores.csv >c
	same python c
	grep -qE '^single,int,rows,[0-9]+,0' out/cpu.csv
	# Of memory outside of this program nothing is known.
	! grep -E ',rows(_c)?,' out/cpu.csv | grep -qvE ',-?nan$' ||
	    fail "memory of others"
	# One that crashes costs its own numbers, of time too.
	run_for 0 "$CULPRIT" arena --size s --families single -q -o flock \
	    --telemetries int --set runs=2 --algorithms flock
	grep flock flock/scores.csv >want
	${CC:-cc} -shared -fPIC -I"$tree" -DCRASH -o rows.so \
	    "$tree/tests/cli/lib/rows_plugin.c"
	run_for 3 "$CULPRIT" arena --size s --families single -q -o crash \
	    --telemetries int --set runs=2 \
	    --algorithms 'flock,{plugin: rows.so}'
	grep flock crash/scores.csv >got
	same got want
	says '^single,int,rows_c,[^,]*,-?nan' crash/cpu.csv
	# What it does not answer is said, and has found nothing.
	says 'rows_c on int did not answer 6 of 6 windows of single; F of' stdout
	says '^int +rows_c +0.000 ' stdout
	grep -q '^all,int,rows_c,recall,0,' crash/scores.csv
	grep -q '^single,int,rows_c,answered,0,' crash/scores.csv
	grep -q '^single,int,flock,answered,1,' crash/scores.csv
	says '^all.int.rows_c:f.2.2.2.0.0$' crash/standing.tsv
	says 'rows_c, int.0.single.-?nan$' crash/map.tsv
}

run_tests the_bytes_are_the_same_for_any_number_of_jobs \
    a_kill_loses_nothing what_a_telemetry_lacks_is_not_asked_of_it \
    scores_are_those_of_the_runs false_alarms_a_day_have_exact_bounds \
    the_standing_is_held_against_an_earlier_one another_phrase_is_another_draw \
    stated_chances_are_held_against_what_failed answers_are_asked_for_early \
    figures_are_drawn costs_are_the_means_of_what_was_measured \
    mistakes_are_named rivals_are_tuned_on_other_runs \
    algorithms_from_outside_take_part
