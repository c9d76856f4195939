#!/bin/bash
# tests/cli/table.sh -- results as tables: which rows, which columns, which form.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

prepare() {
	cd "$top" || exit
	write_spec
	"$CULPRIT" run spec.yaml -q -o small.h5 >/dev/null || exit
	cd "$tree" || exit
}
table() {
	run_for 0 "$CULPRIT" table ../small.h5 "$@"
}

# As help has it; 200 columns are asked for.
few_columns_are_the_default() {
	table
	head -1 stdout | tr '\t' '\n' >columns
	[[ $(wc -l <columns) -lt 60 ]] || fail "$(wc -l <columns) columns"
	[[ $(head -4 columns | xargs) = \
		"faults.count faults.rate traffic.packets runs" ]]
	"$CULPRIT" table --help >help
	grep -vE '^(faults|traffic|runs)' columns |
		sed -E 's/.*://; s/_(lo|hi)$//' | sort -u >metrics
	while read -r m; do
		says "\\b$m\\b" help
	done <metrics
	says '^cover:recall_hi$' columns
	grep -q '^vote:recall' columns && fail "vote accuses nobody"
	table --all
	[[ $(head -1 stdout | tr '\t' '\n' | wc -l) -gt 200 ]]
	table --columns "$(head -1 stdout | cut -f1-4 | tr '\t' ',')"
	[[ $(awk -F'\t' '{ print NF }' stdout | sort -u) = 4 ]]
}

# The label "it's one" is a name like others.
columns_are_named_or_matched() {
	table -c '*:accuracy_fault,faults.*' -c runs
	[[ $(head -1 stdout) = "$(printf '%s\t' "vote:accuracy_fault" \
	    "it's one:accuracy_fault" cover:accuracy_fault \
	    claim:accuracy_fault faults.count \
	    faults.rate)runs" ]] || { cat stdout; fail "other columns"; }
	run_for 2 "$CULPRIT" table ../small.h5 -c vote:acuracy_fault
	says_once 'there is no column "vote:acuracy_fault"; did you mean "vote:accuracy_fault"'
	[[ ! -s stdout ]]
	run_for 2 "$CULPRIT" table ../small.h5 -c 'nobody:*'
	says_once 'no column matches "nobody:\*"'
	run_for 2 "$CULPRIT" table ../small.h5 --tidy -c vote:recal
	says_once 'there is no metric "vote:recal"; did you mean "vote:recall"'
	run_for 2 "$CULPRIT" table ../small.h5 -c a, -c b
	says 'name that is empty'
	run_for 2 "$CULPRIT" table ../small.h5 --all -c a
	says 'one of --all and --columns'
	run_for 2 "$CULPRIT" table ../small.h5 --csv --json
	says 'one of --tsv, --csv and --json'
	run_for 2 "$CULPRIT" table ../small.h5 --runs --tidy
	says 'one of --runs, --tidy and --trend'
	run_for 2 "$CULPRIT" table ../small.h5 --trend n_drops
	says 'takes two names with a comma between'
	run_for 2 "$CULPRIT" table ../small.h5 --by faults.count
	says 'by is for --trend'
	run_for 2 "$CULPRIT" table ../small.h5 --trend n_drops,faults.count \
	    --by faults.rate,
	says 'by takes 1 to 16 keys that are swept'
	for more in --all '--columns runs'; do
		# shellcheck disable=SC2086
		run_for 2 "$CULPRIT" table ../small.h5 $more \
		    --trend n_drops,faults.count
		says '--all and --columns are not for --trend'
	done
	for rows in --runs --tidy '--trend n_drops,faults.count'; do
		# shellcheck disable=SC2086
		run_for 2 "$CULPRIT" table ../small.h5 --between $rows
		says '--between is for a row a point'
	done
	run_for 2 "$CULPRIT" table ../small.h5 \
	    -c "$(seq -s, 257)"
	says '--columns takes at most 256 names'
	run_for 2 "$CULPRIT" table ../small.h5 -c "$(seq -s, 256)"
	says_once 'there is no column "1"'
	run_for 2 "$CULPRIT" table ../small.h5 --trend n_drops,fault.rate
	says_once 'there is no quantity "fault.rate"'
}

# Read by another program, all forms are one table.
the_forms_say_the_same() {
	for rows in --all --runs --tidy --between; do
		for form in tsv csv json; do
			table "$rows" "--$form"
			cp stdout "t.$form"
		done
		/usr/bin/python3 - <<-END || fail "$rows: forms differ"
			import csv, json
			rows = json.load(open("t.json"))
			text = lambda x: "NaN" if x is None else str(x)
			def same(a, b):  # a field, and what JSON has
			    if b is None:
			        return a in ("NaN", "")
			    return a == b if isinstance(b, str) else float(a) == b
			for name, dialect in (("t.tsv", csv.excel_tab), ("t.csv", csv.excel)):
			    got = list(csv.DictReader(open(name, newline=""), dialect=dialect))
			    assert len(got) == len(rows) > 0
			    for g, r in zip(got, rows):
			        assert list(g) == list(r), name
			        assert all(same(g[k], r[k]) for k in r), name
		END
	done
}

# A row a point, algorithm and metric, and what it says is what the wide table
# says.
tidy_rows_are_complete() {
	table --tidy --json
	cp stdout tidy.json
	table --all --json
	/usr/bin/python3 - <<-END || fail "tidy and wide differ"
		import json
		tidy, wide = json.load(open("tidy.json")), json.load(open("stdout"))
		axes = ["faults.count", "faults.rate", "traffic.packets"]
		assert list(tidy[0]) == axes + ["algorithm", "metric", "unit", "value",
		    "lo", "hi", "interval", "se", "n", "trials", "runs"]
		seen = set()
		for t in tidy:
		    at = tuple(t[a] for a in axes)
		    key = at + (t["algorithm"], t["metric"])
		    assert key not in seen
		    seen.add(key)
		    w = next(w for w in wide if tuple(w[a] for a in axes) == at)
		    name = (t["algorithm"] + ":" if t["algorithm"] else "") + t["metric"]
		    if name in w:
		        assert w[name] == t["value"], name
		    assert t["runs"] == 3 and t["n"] <= 3
		    assert t["interval"] in ("binomial_runs", "binomial", "t", "none")
		assert len(seen) == len(tidy) and len(tidy) % 4 == 0
		assert {t["algorithm"] for t in tidy} == {None, "vote", "it's one", "cover"}
		assert not any(t["algorithm"] == "vote" and t["metric"] == "recall"
		    for t in tidy)
	END
	table --tidy -c 'vote:*,n_drops' --csv
	[[ $(cut -d, -f 4 stdout | tail -n +2 | sort -u | xargs) = vote ]]
	table --tidy -c vote:recall
	[[ $(wc -l <stdout) = 5 ]]
}

# More links that fail lose more: each run says so, and three runs can say no
# more than p = 1/4.
trends_are_of_runs() {
	table --trend n_drops,faults.count --by faults.rate
	[[ $(head -1 stdout | xargs) = \
	    "faults.rate y x points n slope lo hi p least_p" ]]
	awk -F'\t' 'NR > 1 && !($5 == 3 && $6 > 0 && $9 == 0.25 && $10 == 0.25) {
		exit 1 }' stdout || { cat stdout; fail "no such trend"; }
	[[ $(wc -l <stdout) -gt 1 ]]
}

# Flows of a run share its faults, so intervals between runs are another.
intervals_between_runs_are_those_of_tidy_rows() {
	table --tidy -c vote:accuracy_fault --tsv
	cut -f 8,9 stdout | tail -n +2 >tidy
	table --between -c 'vote:accuracy_fault_lo,vote:accuracy_fault_hi'
	tail -n +2 stdout >between
	same tidy between
	table -c 'vote:accuracy_fault_lo,vote:accuracy_fault_hi'
	tail -n +2 stdout | cmp -s - between && fail "nothing differs"
	return 0
}

prepare
run_tests few_columns_are_the_default columns_are_named_or_matched \
    the_forms_say_the_same tidy_rows_are_complete trends_are_of_runs \
    intervals_between_runs_are_those_of_tidy_rows
