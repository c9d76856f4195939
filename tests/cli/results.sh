#!/bin/bash
# tests/cli/results.sh -- what comes out: HDF5, tables, status, plots.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

make_results() {
	write_spec
	run_for 0 "$CULPRIT" run spec.yaml -q -o x.h5
}

needs_python() {
	local module
	for module; do
		/usr/bin/python3 -c "import $module" 2>/dev/null ||
			skip "no python3-$module"
	done
}

h5dump_shows_every_dataset() {
	command -v h5dump >/dev/null || skip "no h5dump"
	make_results
	run_for 0 h5dump -H x.h5
	for name in algorithm run faults.count faults.rate traffic.packets \
	    status n_flows accuracy_all; do
		says "DATASET \"$name\"" stdout
	done
	run_for 0 h5dump -d status x.h5
}

h5py_gives_the_numbers_of_the_table() {
	needs_python h5py
	make_results
	"$CULPRIT" table --all x.h5 >table.tsv
	run_for 0 /usr/bin/python3 "$tree/tests/cli/lib/same_numbers.py" \
	    h5py x.h5 table.tsv
}

xarray_gives_the_numbers_of_the_table() {
	needs_python xarray h5netcdf
	make_results
	"$CULPRIT" table --all x.h5 >table.tsv
	run_for 0 /usr/bin/python3 "$tree/tests/cli/lib/same_numbers.py" \
	    h5netcdf x.h5 table.tsv
}

netcdf4_gives_the_numbers_of_the_table() {
	needs_python xarray netCDF4
	make_results
	"$CULPRIT" table --all x.h5 >table.tsv
	run_for 0 /usr/bin/python3 "$tree/tests/cli/lib/same_numbers.py" \
	    netcdf4 x.h5 table.tsv
}

a_table_is_the_same_as_tsv_and_json() {
	make_results
	"$CULPRIT" table --all x.h5 >table.tsv
	run_for 0 "$CULPRIT" table --all x.h5 --json
	python3 -m json.tool stdout >/dev/null
	python3 - <<-'END'
		import json
		rows = [r.rstrip("\n").split("\t") for r in open("table.tsv")]
		head, rows = rows[0], rows[1:]
		objects = json.load(open("stdout"))
		assert len(objects) == len(rows) == 4, len(rows)
		for row, o in zip(rows, objects):
		    assert list(o) == head and len(row) == len(head)
		    for name, text in zip(head, row):
		        want = None if text == "NaN" else float(text)
		        assert o[name] == want, (name, text, o[name])
	END
	mkdir -p results/out
	mv x.h5 results/out/small.h5
	run_for 0 "$CULPRIT" table --all small
	same stdout table.tsv
}

a_summary_says_what_was_done() {
	write_spec
	run_for 0 "$CULPRIT" run spec.yaml -o x.h5
	says '^small: 12 of 12 cells done -> x.h5$' stdout
	says 'small .*12/12 cells'
	run_for 0 "$CULPRIT" run spec.yaml -o "it's \"x\".h5" --json -q
	[[ ! -s stderr ]]
	[[ $(json stdout 'd["file"]') = "it's \"x\".h5" ]]
	[[ $(json stdout '(d["cells"], d["done"], d["failed"], d["crashed"],
	    d["before"], d["stopped"])') = "(12, 12, 0, 0, 0, False)" ]]
	python3 -m json.tool x.run.json >/dev/null
}

# It is stopped while it is asked about, so that it does not end meanwhile.
status_counts_while_a_sweep_runs_and_after() {
	write_spec
	setsid "$CULPRIT" run spec.yaml -q -o x.h5 -j 1 --runs 300 \
	    --set traffic.conns=200 --set plane=exact >log 2>&1 &
	local pid=$! n last=0 seen=0
	# It does not stand there for ever if something else is said.
	# shellcheck disable=SC2064 # the number is known now
	trap "kill -KILL -- -$pid 2>/dev/null || :" EXIT
	within 30 grown || fail "no journal"
	while ((seen < 3)); do
		kill -STOP -- -$pid
		run_for 3 "$CULPRIT" status --json x.h5
		n=$(number_in stdout 'done')
		((n >= last)) || fail "$n cells after $last"
		((n == last)) || seen=$((seen + 1))
		last=$n
		kill -CONT -- -$pid
		sleep 0.02
	done
	wait $pid
	run_for 0 "$CULPRIT" status x.h5
	says '^small: 1200 of 1200 cells done -> x.h5$' stdout
	run_for 0 "$CULPRIT" status --json x.h5 x.h5
	[[ $(wc -l <stdout) = 2 ]]
	sed -n 1p stdout >one
	[[ $(json one '(d["figure"], d["cells"], d["done"])') = \
	    "('small', 1200, 1200)" ]]
}

status_reads_a_journal_alone() {
	write_spec
	setsid "$CULPRIT" run spec.yaml -q -o x.h5 -j 1 --runs 300 \
	    --set traffic.conns=200 --set plane=exact >log 2>&1 &
	local pid=$!
	within 30 grown || fail "no journal"
	kill -KILL $pid
	wait $pid || true
	run_for 3 "$CULPRIT" status --json x.h5
	local n
	n=$(number_in stdout 'done')
	((n > 0 && n < 1200))
	rm x.h5
	run_for 3 "$CULPRIT" status x.h5
	says "^x.journal: $n cells done, no results yet -> x.h5" stdout
	run_for 3 "$CULPRIT" status --json x.h5
	[[ $(json stdout '(d["done"], d["cells"])') = "($n, None)" ]]
}
grown() { [[ $(stat -c %s x.journal 2>/dev/null || echo 0) -gt 10000 ]]; }

merge_takes_what_only_a_journal_has() {
	write_spec
	setsid "$CULPRIT" run spec.yaml -q -o x.h5 -j 1 --runs 300 \
	    --set traffic.conns=200 --set plane=exact >log 2>&1 &
	local pid=$!
	within 30 grown || fail "no journal"
	kill -KILL $pid
	wait $pid || true
	run_for 3 "$CULPRIT" status --json x.h5
	local n
	n=$(number_in stdout 'done')
	run_for 3 "$CULPRIT" merge --partial -o out/y.h5 x.h5
	local lack="not done: $((1200 - n)) of 1200 cells"
	says "^small: $n of 1200 cells done, partial \($lack\) -> out/y.h5" \
	    stdout
	run_for 3 "$CULPRIT" status --json out/y.h5
	[[ $(json stdout 'd["partial"]') = "$lack" ]]
	run_for 2 "$CULPRIT" status
	says 'which FILE\?'
}

points_end_when_an_interval_is_narrow() {
	write_spec
	local until=(--until-ci 0.08 --metric accuracy_fault --runs 300)
	run_for 0 "$CULPRIT" run spec.yaml -q -o x.h5 -j 1 "${until[@]}"
	says '^small: ([0-9]+) of \1 cells done; until 0.08 accuracy_fault: ' \
	    stdout
	cp stdout want
	run_for 0 "$CULPRIT" run spec.yaml -q -o y.h5 -j 3 "${until[@]}"
	same x.h5 y.h5
	run_for 0 "$CULPRIT" status x.h5
	same stdout want
	run_for 0 "$CULPRIT" status --json x.h5
	[[ $(json stdout '(d["until_ci"], d["met"] + d["not_met"],
	    d["undecided"])') = "('0.08 accuracy_fault', 4, 0)" ]]
	# The runs that count, and the interval that ended them: wider than one
	# that is looked at once.
	"$CULPRIT" table x.h5 --json >table.json
	run_for 0 "$CULPRIT" run spec.yaml -q -o plain.h5 --runs 300
	"$CULPRIT" table plain.h5 --json >plain.json
	python3 - <<-'END'
		import json
		early = 0
		for row, whole in zip(json.load(open("table.json")),
		                      json.load(open("plain.json"))):
		    n = row["runs"]
		    assert n <= whole["runs"] == 300
		    early += n < 300
		    for a in "vote", "it's one", "cover":
		        lo, x, hi = (row[a + ":accuracy_fault" + s]
		                     for s in ("_lo", "", "_hi"))
		        assert lo <= x <= hi
		        assert n == 300 or (hi - lo) / 2 <= 0.08, (n, lo, hi)
		        # No run that is all wrong was seen in n, but could come.
		        assert x - lo >= min(x, 3.6 / n), (x, lo, n)
		assert 0 < early, early
	END
	# It is another sweep than one without, or with another criterion.
	run_for 2 "$CULPRIT" run spec.yaml -q -o x.h5 --runs 300
	says_once 'x.h5 holds .*criteria of --until-ci differ'
	run_for 2 "$CULPRIT" run spec.yaml -q -o x.h5 --shard 1/2 "${until[@]}"
	says_once '--until-ci looks at all runs of a point, and --shard has a'
	run_for 2 "$CULPRIT" run spec.yaml -q -o z.h5 --until-ci 0.1
	says_once '--until-ci and --metric go together'
	for half in 0 0.5 -0.1 nan 5%; do
		run_for 2 "$CULPRIT" run spec.yaml -q -o z.h5 \
		    --until-ci "$half" --metric recall
		says "--until-ci \"$half\" is no number in \(0, 0.5\)"
	done
	run_for 0 "$CULPRIT" run spec.yaml -q -o z.h5 --until-ci 0.01 \
	    --metric recall --algorithm cover --runs 20
	says_once 'an interval of 0.01 to either side takes 1[0-9]* runs at least'
	says 'until 0.01 recall cover: 4 not in 20 -> z.h5' stdout
}

plots_are_whole_or_not_there() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	make_results
	cat >draw.gp <<-'END'
		set datafile separator "\t"
		if (ARG2 eq "-") { set terminal dumb 60 15 } else {
			set terminal svg
			set output ARG2
		}
		set title title . " by " . paper . partial
		set xlabel x
		plot for [a in algos] ARG1 using (column(x)): \
		    (column(a . ":accuracy_all")) title a . claim_accuracy_fault
	END
	run_for 0 "$CULPRIT" plot x.h5 --script draw.gp --format svg
	[[ $(cat stdout) = plots/out/x.svg ]]
	says "it's one.*it's said.*unconfirmed|it&#39;s one" plots/out/x.svg
	says 'faults.count' plots/out/x.svg
	if command -v xmllint >/dev/null; then xmllint --noout plots/out/x.svg; fi
	cp plots/out/x.svg want
	cp plots/out/x.tsv table.tsv
	"$CULPRIT" table --all x.h5 >want.tsv
	# Behind its columns are those of where it comes from.
	cut -f "-$(awk -F '\t' '{ print NF; exit }' want.tsv)" table.tsv >cut.tsv
	same cut.tsv want.tsv
	run_for 0 "$CULPRIT" plot x.h5 --script draw.gp --term
	says "test" stdout
	# It draws a part and fails.
	cp draw.gp bad.gp
	echo 'plot nothing_of_that_name' >>bad.gp
	run_for 3 "$CULPRIT" plot x.h5 --script bad.gp --format svg
	says 'the script bad.gp failed'
	same plots/out/x.svg want
	run_for 3 "$CULPRIT" plot x.h5 --script nowhere.gp
	says 'nowhere.gp'
	[[ $(cd plots/out && echo *) = "x.curves.tsv x.svg x.tsv" ]]
	mkdir empty
	code=0
	PATH=$PWD/empty "$CULPRIT" plot x.h5 --script draw.gp 2>stderr ||
		code=$?
	[[ $code = 3 ]]
	says 'gnuplot is not installed'
}

each_claim_has_a_wording_of_its_own() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	write_spec
	local more='metric: accuracy_fault, value: 1, confirmed: true'
	sed -i "/said/a\\  - { $more, text: again }" spec.yaml
	sed -i '/said/a\  - { metric: recall, value: 1, text: other }' spec.yaml
	run_for 0 "$CULPRIT" run spec.yaml -q -o x.h5
	echo 'print claim_accuracy_fault, "|", claim_recall, "|", \
	    claim_accuracy_fault_2' >say.gp
	run_for 0 "$CULPRIT" plot x.h5 --script say.gp --term
	says "^it's said .unconfirmed. [|] other .unconfirmed. [|] again$"
}

# What planes print of a cell, by its row of the sweep.
a_cell_is_printed_as_its_row_has_it() {
	cat >head <<-'END'
		seed: 7
		runs: 2
		topology: { n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2 }
		noise: { rate: 0 }
		faults: { count: 1, rate: 0.1 }
	END
	printf '%s\n' 'figure: planner' 'plane: planner' \
	    'algorithms: [sieve]' | cat head - >planner.yaml
	printf '%s\n' 'figure: everflow' 'plane: everflow' \
	    'traffic: { conns: 20, packets: 50, epoch: 10 }' \
	    'algorithms: [vote]' | cat head - >everflow.yaml
	sed -i 's/rate: 0.1/&, from: 1/' everflow.yaml
	printf '%s\n' 'figure: bulk' 'plane: pingmesh_bulk' \
	    'pingmesh: { duration: 1200, window: 600 }' \
	    'algorithms: [blackhole]' | cat head - >bulk.yaml
	printf '%s\n' 'figure: agents' 'plane: agents' \
	    'traffic: { conns: 40, packets: 50 }' \
	    'agents: { c_t: 100, icmp: { t_max: 1, burst: 1 } }' \
	    'algorithms: [vote]' | cat head - >agents.yaml
	local cell agents='--set planner.agents.on=true'
	for cell in "planner 1" "planner 1 $agents" "everflow 0" "bulk 0" \
	    "agents 1"; do
		# shellcheck disable=SC2086 # words are meant
		set -- $cell
		run_for 0 "$CULPRIT" run $1.yaml --point 0 --run $2 "${@:3}"
		mv stdout printed
		run_for 0 "$CULPRIT" run $1.yaml -q -o x.h5 --force "${@:3}"
		"$CULPRIT" table x.h5 --runs --json >rows.json
		/usr/bin/python3 - "$@" <<-'END' || fail "$cell: $(cat printed)"
			import json, re, sys
			kind, run = sys.argv[1], int(sys.argv[2])
			row = json.load(open('rows.json'))[run]
			text = open('printed').read()
			def words(pattern, *names):
			    for m in [re.search(pattern, text)]:
			        assert m, pattern
			        for got, name in zip(m.groups(), names, strict=True):
			            want = row[name]
			            assert abs(float(got) - want) <= 5e-3 * abs(want), name
			if kind == 'planner':
			    for word, key in ('planned', 'plan_'), ('in turn', 'turn_'):
			        words(word + r': right after (\d+) probes, done after '
			            r'(\d+), stating (\S+) wrong links; (\d+) were\n',
			            *(key + x for x in ('right', 'stop', 'stated', 'wrong')))
			    by = 'connects' if len(sys.argv) > 3 else 'packets'
			    assert f'probes of 40 {by}\n' in text
			    link = re.search(r'\n1 faults\n  (\S+)', text)[1]
			    said = re.search(r'\n  (\S+) loses (\S+) %, with chance (\S+)\n'
			        r'(  or .*\n)*1 faults\n', text)
			    # 10 %, by some 350 connects: 1.6 % is the deviation over 24 seeds.
			    assert said[1] == link and 3.5 < float(said[2]) < 16.5, said[0]
			    assert .97 < float(said[3]) <= 1
			elif kind == 'everflow':
			    words(r'(\d+) flows; (\d+) copies of (\d+) packets, (\d+) of '
			        r'them lost; (\d+) guided', 'n_flows', 'n_mirrored',
			        'n_assembled', 'n_mirrors_lost', 'n_guided')
			    words(r'drops (\d+) \(right (\d+)\): confirmed (\d+) \((\d+)\), '
			        r'refuted (\d+) \((\d+)\); loops (\d+) \((\d+)\)\n',
			        *(f'n_{x}{y}' for x in
			        ('suspect', 'confirmed', 'refuted', 'loops')
			        for y in ('', '_right')))
			    said = re.findall(r'\n *(\S+) s  drop: random drop (\S+)', text)
			    assert len(said) == row['n_named'] == 1
			    assert abs(float(said[0][0]) - 1 - row['name_s']) < .06
			    assert re.search(r'\n1 faults\n  ' + said[0][1] + ' ', text)
			elif kind == 'agents':
			    words(r'agents traced (\d+) flows, (\d+) in full; (\d+) ICMP '
			        r'messages, (\d+) kept back\n', 'n_traced', 'n_full_traces',
			        'n_icmp_sent', 'n_icmp_suppressed')
			    assert 0 < row['n_full_traces'] < row['n_traced']
			    assert row['n_icmp_suppressed'] > 0
			else:
			    n = int(re.search(r'drawn\n +(\d+) rows\n', text)[1])
			    assert n == row['n_drop'] + row['n_unconnected'] > 0
		END
	done
}

# Each debugger has a row; what is not its own stands in all of them.
of_a_debugger_that_does_not_look_nothing_is_measured() {
	cat >ev.yaml <<-'END'
		figure: ev
		plane: everflow
		seed: 7
		runs: 1
		topology: { n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2 }
		traffic: { conns: 20, packets: 50, epoch: 10 }
		noise: { rate: 0 }
		faults: { count: 1, rate: 0.1, from: 1 }
		everflow: { along: debugger, debug: [drop, ecmp] }
		algorithms: [vote]
	END
	run_for 0 "$CULPRIT" run ev.yaml -q -o x.h5 -j 1
	run_for 0 "$CULPRIT" table x.h5 --runs --json
	/usr/bin/python3 - <<-'END'
		import json
		rows = {r['debugger']: r for r in json.load(open('stdout'))}
		assert list(rows) == ['latency', 'drop', 'loop', 'ecmp', 'rdma']
		own = ['n_due', 'n_named', 'n_cause', 'n_misnamed', 'n_quiet',
		    'n_alarms']
		want = {'drop': [1, 1, 1, 0, 0, 0], 'ecmp': [0, 0, 0, 0, 1, 0]}
		for name, r in rows.items():
		    assert [r[k] for k in own] == want.get(name, [None] * 6), r
		    assert (r['name_s'] is None) == (name != 'drop')
		    for k in 'n_flows', 'n_mirrored', 'mirror_bytes', 'n_guided':
		        assert r[k] == rows['drop'][k] > 0
	END
}

run_tests h5dump_shows_every_dataset h5py_gives_the_numbers_of_the_table \
    xarray_gives_the_numbers_of_the_table \
    netcdf4_gives_the_numbers_of_the_table \
    a_table_is_the_same_as_tsv_and_json a_summary_says_what_was_done \
    status_counts_while_a_sweep_runs_and_after status_reads_a_journal_alone \
    merge_takes_what_only_a_journal_has \
    points_end_when_an_interval_is_narrow plots_are_whole_or_not_there \
    each_claim_has_a_wording_of_its_own \
    a_cell_is_printed_as_its_row_has_it \
    of_a_debugger_that_does_not_look_nothing_is_measured
