#!/bin/bash
# tests/cli/plot.sh -- what is drawn of a sweep, and how.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

needs_gnuplot() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
}

# looks ALGOS...: of each label in one figure of all, its linetype and the
# colour, mark and dash of that.
looks() {
	local labels
	labels=$(printf "'%s' " "$@")
	cat >looks.gp <<-END
		OUT = "-"
		algos = "${labels% }"
		load "$tree/plots/style.gp"
		do for [a in algos] { print a . "\t" . look(a) }
		do for [a in algos] { show linetype look(a) }
	END
	gnuplot looks.gp 2>&1 | sed '/^$/d; s/^[[:space:]]*//' >said
	paste <(head -n $# said) <(tail -n $# said | sed 's/linetype [0-9]*, *//')
}

each_algorithm_has_a_look_of_its_own() {
	needs_gnuplot
	local names
	names=$("$CULPRIT" algos --json | python3 -c '
import json, sys
print(" ".join(a["name"] for a in json.load(sys.stdin)))')
	# shellcheck disable=SC2086 # words are meant
	looks $names >table
	[[ $(wc -l <table) = $(wc -w <<<"$names") ]]
	# By name: none has a look that is left for unknown ones.
	looks a b c >unknown
	[[ -z $(cat table unknown | cut -f 2 | sort | uniq -d) ]]
	[[ -z $(cut -f 3 table | sort | uniq -d) ]]
	for what in 'linecolor rgb "[^"]*"' 'dashtype.*pointtype [0-9]*'
	do
		[[ -z $(grep -o "$what" table | sort | uniq -d) ]]
	done
	# Nor does it depend on what else is in a figure.
	looks alg1 >alone
	same <(grep '^alg1	' table) alone
}

no_two_curves_of_a_figure_look_alike() {
	needs_gnuplot
	looks mine vote_all vote vote_ecmp_2 alg1_a alg1_b alg1_c alg1_d \
	    alg1_e "of one" w x y z cover integer binary blackhole hop_trace \
	    paper >table
	[[ $(wc -l <table) = 20 ]]
	[[ -z $(cut -f 3 table | sort | uniq -d) ]]
	# A variant has its algorithm's look, and its colour beside it.
	looks vote_all alg1_b >one
	looks vote alg1 >other
	same <(cut -f 2- one) <(cut -f 2- other)
	[[ $(awk '$1 == "vote_ecmp_2" { print $2 }' table) = \
	    $(looks vote_ecmp | cut -f 2) ]]
}


# make_sweep FILE ALGORITHMS GRID: a spec of seconds, and its results.
make_sweep() {
	cat >"$1.yaml" <<-END
		figure: $1
		title: "of $1"
		seed: 7
		runs: 2
		topology: { n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, n_hosts: 4 }
		traffic: { conns: 20, packets: 50 }
		faults: { count: 2, rate: 1e-2 }
		algorithms: [$2]
		sweep: { $3 }
	END
	run_for 0 "$CULPRIT" run "$1.yaml" -q -o "$1.h5"
}

# lines SVG: where each line of curves goes across, one a row. Lines of less than
# four points are bars and axes.
lines() {
	python3 - "$1" <<-'END'
		import re, sys
		svg = re.sub(r"(?s)<defs>.*?</defs>", "", open(sys.argv[1]).read())
		for path in re.findall(r"<path[^>]* d='([^']*)'", svg):
		    for line in path.split("M")[1:]:
		        x = [float(at.split(",")[0]) for at in line.replace("L", " ").split()
		             if "," in at]
		        if len(x) > 3:
		            print(*x)
	END
}

# Over the values of a second axis a line would stand still, or go back.
each_line_goes_on() {
	lines "$1" >lines
	[[ -s lines ]]
	awk '{ for (i = 2; i <= NF; i++) if ($i <= $(i - 1)) exit 1 }' lines ||
		{ cat lines; fail "a line goes back in $1"; }
}

# Nothing is cut off, nor upon other text.
can_be_read() {
	run_for 0 python3 "$tree/tests/cli/lib/svg_text.py" "$@"
}

a_grid_of_two_axes_is_not_joined_over_the_second() {
	needs_gnuplot
	make_sweep grid alg1 \
	    'grid: { faults.count: [1, 2, 3], faults.rate: [1e-3, 1e-2, 0.1, 0.3] }'
	run_for 0 "$CULPRIT" plot grid.h5 --format svg -o .
	each_line_goes_on grid.svg
	# Three metrics, a curve for each count.
	[[ $(cut -f 1-3 grid.curves.tsv | sort -u | wc -l) = 10 ]]
	make_sweep many vote,alg1,cover \
	    'grid: { faults.count: [1, 3], plane: [exact, skip], faults.rate: [1e-3, 1e-2, 0.1, 0.3] }'
	run_for 0 "$CULPRIT" plot many.h5 --format svg -o .
	each_line_goes_on many.svg
	says 'faults.count = 3, plane = skip' many.svg
	can_be_read grid.svg many.svg
}

# These failed: "Bad data on line 1", as the first axis has no numbers.
axes_of_texts_and_of_draws_have_their_values_as_marks() {
	needs_gnuplot
	make_sweep text vote,alg1 \
	    'grid: { faults.classes: [[tor-t1], [t1-t2], [t2-t1], [tor-host]] }'
	make_sweep drawn vote,alg1 \
	    'grid: { faults.rate: [{log_uniform: [1e-4, 1e-2]}, {uniform: [0, 0.1]}, 1e-2, 0.1] }'
	make_sweep yes vote,alg1 'grid: { common: [true, false] }'
	for name in text drawn yes; do
		run_for 0 "$CULPRIT" plot "$name.h5" --format svg -o .
		lines "$name.svg" >lines
		# A line would say that there is an order.
		[[ ! -s lines ]] || { cat lines; fail "$name"; }
		run_for 0 "$CULPRIT" plot "$name.h5" --term
		[[ ! -s stderr ]] || { cat stderr; fail "$name"; }
	done
	says '>tor-host<' text.svg
	says '>uniform 0, 0.1<' drawn.svg
	says '>log_uniform 1e-4, 1e-2<' drawn.svg
	says '>false<' yes.svg
	can_be_read text.svg drawn.svg yes.svg
}

a_zip_is_one_axis() {
	needs_gnuplot
	make_sweep zip vote \
	    'zip: { traffic.conns: [20, 20, 40], faults.rate: [1e-3, 1e-2, 0.1] }'
	run_for 0 "$CULPRIT" plot zip.h5 --format svg -o .
	says '>faults.rate, with traffic.conns<' zip.svg
	[[ $(cut -f 4 zip.curves.tsv | sort -u | wc -l) = 4 ]]
}

a_heat_map_has_a_cell_a_point() {
	needs_gnuplot
	make_sweep heat vote \
	    'grid: { faults.count: [1, 2, 3], faults.classes: [[tor-t1], [t1-t2]] }'
	run_for 0 "$CULPRIT" plot heat.h5 --heatmap --metric accuracy_fault \
	    --format svg -o .
	[[ ! -s stderr ]]
	[[ $(wc -l <heat.curves.tsv) = 7 ]]
	head -n 1 heat.curves.tsv | grep -q '^panel	metric	curve	x	at	y	value'
	for word in '>tor-t1<' '>faults.classes<' '>accuracy_fault<'; do
		says "$word" heat.svg
	done
	can_be_read heat.svg
}

# Whatever goes where, the numbers are the table's.
what_is_drawn_is_in_the_table() {
	needs_gnuplot
	make_sweep grid vote,cover \
	    'grid: { faults.count: [1, 3], faults.rate: [1e-3, 1e-2, 0.1] }'
	for options in "" "--x faults.count" "--by faults.rate" \
	    "--panels algorithm" "--heatmap" "--curves cover --logy"; do
		# shellcheck disable=SC2086 # words are meant
		run_for 0 "$CULPRIT" plot grid.h5 --format svg -o . \
		    --metric recall,accuracy_all $options
		python3 - "$options" <<-'END'
			import csv, sys
			table = list(csv.DictReader(open("grid.tsv"), delimiter="\t"))
			want = [float(row[a + ":" + m]) for row in table
			        for a in ("vote", "cover") for m in ("recall", "accuracy_all")
			        if row[a + ":" + m] != "NaN" and
			        ("cover" not in sys.argv[1] or a == "cover")]
			rows = list(csv.DictReader(open("grid.curves.tsv"), delimiter="\t"))
			got = [float(r["value" if "heat" in sys.argv[1] else "y"]) for r in rows]
			if "logy" in sys.argv[1]:
			    want = [x for x in want if x > 0]
			assert got and sorted(got) == sorted(want), (sys.argv, got, want)
		END
	done
}

a_script_of_ones_own_is_run_from_any_folder() {
	needs_gnuplot
	make_sweep grid vote,cover 'grid: { faults.rate: [1e-3, 1e-2, 0.1] }'
	mkdir -p scripts/deep elsewhere
	cat >scripts/deep/my.gp <<-'END'
		TABLE = ARG1; OUT = ARG2
		load "style.gp"
		load "more.gp"
		print x, " ", algos, " ", runs, " ", n_panels, " ", title
		plot for [a in algos] TABLE using x:a.":accuracy_all" \
		    with linespoints lt look(a) title a . more
	END
	echo 'more = " and more"' >scripts/deep/more.gp
	for script in scripts/deep/my.gp ./scripts/deep/my.gp \
	    "$PWD/scripts/deep/my.gp"; do
		run_for 0 "$CULPRIT" plot grid.h5 --script "$script" -o a.svg
		says "^faults.rate +.vote. .cover. +2 +3 +of grid$"
		says 'cover and more' a.svg
	done
	cd elsewhere
	run_for 0 "$CULPRIT" plot ../grid.h5 --script ../scripts/deep/my.gp \
	    -o b.svg
	same ../a.svg b.svg
	# With what was asked for.
	run_for 0 "$CULPRIT" plot ../grid.h5 --script ../scripts/deep/my.gp \
	    -o c.svg --metric recall --title 'it"s `mine`'
	says '^faults.rate .* 2 +1 +it"s `mine`$'
	only_files b.svg c.svg
	# It is not gnuplot that is missing.
	echo 'plot ARG1 using' >wrong.gp
	run_for 3 "$CULPRIT" plot ../grid.h5 --script wrong.gp -o d.svg
	says 'gnuplot: the script .*wrong.gp failed\.$'
}

wrong_wishes_are_named_before_anything_is_written() {
	needs_gnuplot
	make_sweep grid vote,cover \
	    'grid: { faults.count: [1, 3], faults.rate: [1e-3, 1e-2, 0.1] }'
	mkdir work
	cd work
	refused() { # PATTERN OPTIONS...
		local pattern=$1
		shift
		run_for 2 "$CULPRIT" plot ../grid.h5 "$@"
		says_once "$pattern"
		only_files
	}
	refused 'no metric "acuracy_all"; did you mean "accuracy_all"[?] There is: .*recall' \
	    --metric acuracy_all
	refused 'no measured metric "drop_rate"[.] There is: accuracy' \
	    --metric recall,drop_rate
	refused '"fault.rate"; did you mean "faults.rate"[?] There is: faults.count, faults.rate[.]' \
	    --x fault.rate
	refused 'no axis "algoritm"; did you mean "algorithm"' --by algoritm
	refused 'no curve "voted"; did you mean "vote"[?] There is: vote, cover' \
	    --curves cover,voted
	refused 'faults.rate is named twice' --x faults.rate --by faults.rate
	refused 'a heat map has cells of one size' --heatmap --logx
	refused '.--metric is a list' --metric recall,
	refused 'o: gnuplot takes no path with byte 10 in it' -o $'a\nb'
	refused 'o: gnuplot takes no path with byte 9 in it' -o $'a\tb.svg'
	refused '.--format "svg,gif" is not' --format svg,gif
	refused 'x.svg says the format' -o x.svg --format svg
	refused 'x.svg is one file, and 2 are' -o x.svg ../grid.h5
	refused 'x.gif is no folder that is there' -o x.gif
	refused '.--term writes no file' --term -o .
	cp ../grid.h5 x.svg
	run_for 2 "$CULPRIT" plot x.svg -o x.svg
	says_once '-o x.svg would replace a file, which is read'
	cp ../grid.h5 x.tsv
	run_for 2 "$CULPRIT" plot x.tsv -o .
	says_once '-o .*x.tsv would replace x.tsv, which is read'
	same x.tsv ../grid.h5
	only_files x.svg x.tsv
}

an_output_is_a_folder_or_a_file() {
	needs_gnuplot
	make_sweep grid vote 'grid: { faults.rate: [1e-3, 1e-2, 0.1] }'
	mkdir work
	cd work
	for format in svg pdf png; do
		run_for 0 "$CULPRIT" plot ../grid.h5 -o "deep/one.$format"
		[[ $(cat stdout) = "deep/one.$format" ]]
	done
	only_files deep deep/one.svg deep/one.pdf deep/one.png
	head -c 4 deep/one.pdf | grep -q '%PDF'
	head -c 4 deep/one.png | grep -q 'PNG'
	rm -r deep
	mkdir folder.svg
	run_for 0 "$CULPRIT" plot ../grid.h5 -o folder.svg --format svg
	run_for 0 "$CULPRIT" plot ../grid.h5 -o new --format svg
	only_files folder.svg new {folder.svg,new}/grid.{svg,tsv,curves.tsv}
	run_for 0 "$CULPRIT" plot ../grid.h5 --term
	only_files folder.svg new {folder.svg,new}/grid.{svg,tsv,curves.tsv}
}

each_file_says_where_its_data_come_from() {
	needs_gnuplot
	make_sweep grid vote 'grid: { faults.rate: [1e-3, 1e-2, 0.1] }'
	local version
	version=$("$CULPRIT" table grid.h5 >/dev/null; h5dump -a culprit grid.h5 |
		sed -n 's/.*: "\(.*\)"/\1/p')
	[[ $version = *build* ]]
	run_for 0 "$CULPRIT" plot grid.h5 -o .
	for file in grid.svg grid.pdf grid.png grid.tsv grid.curves.tsv; do
		# A PDF has a backslash before each bracket.
		tr -d '\\' <"$file" >plain
		grep -aqF "$version" plain || fail "$file lacks $version"
		grep -aqE 'grid [0-9a-f]{16}' plain || fail "$file: no spec"
		grep -aqE '20[0-9]{2}-[0-9-]+T[0-9:]+Z' plain ||
			fail "$file: no date"
	done
	if command -v xmllint >/dev/null; then xmllint --noout grid.svg; fi
	if command -v qpdf >/dev/null; then qpdf --check grid.pdf; fi
	if command -v rsvg-convert >/dev/null; then
		rsvg-convert grid.svg >/dev/null
	fi
	# Once more: the same; without its record: all but the date.
	cp grid.svg want.svg
	run_for 0 "$CULPRIT" plot grid.h5 --format svg -o .
	same grid.svg want.svg
	rm grid.run.json
	run_for 0 "$CULPRIT" plot grid.h5 --format svg -o .
	same grid.svg <(grep -v '^date: ' want.svg)
	# A table is still read by those that know nothing of it.
	python3 - <<-'END'
		import csv
		rows = list(csv.DictReader(open("grid.tsv"), delimiter="\t"))
		assert [float(r["faults.rate"]) for r in rows] == [1e-3, 1e-2, 0.1]
	END
}

# All cells of a shard may be done, and yet it is a part.
# Not that of its full runs, which stood in the scripts and divided counts.
a_figure_of_racks_says_how_long_its_runs_were() {
	needs_gnuplot
	local s
	for s in 0.1 0.125; do
		run_for 0 "$CULPRIT" run ms_loss_incast --smoke -q \
		    --set rack.length=$s -o x$s.h5
		run_for 0 "$CULPRIT" plot --format svg -o . x$s.h5
		says " 8 servers and $s s;" x$s.svg
	done
}

a_part_of_a_sweep_says_so() {
	needs_gnuplot
	make_sweep grid vote 'grid: { faults.rate: [1e-3, 1e-2, 0.1] }'
	run_for 0 "$CULPRIT" plot grid.h5 -o whole.svg
	not grep partial whole.svg
	run_for 0 "$CULPRIT" run grid.yaml -q -o part.h5 --shard 1/2
	run_for 0 "$CULPRIT" plot part.h5 -o part.svg
	says '>partial: 3 of 6 runs<' part.svg
	# Points that ended early, as they were to, lack nothing.
	run_for 0 "$CULPRIT" run grid.yaml -q -o until.h5 --runs 100 \
	    --until-ci 0.2 --metric accuracy_fault
	not grep '^grid: 300' stdout
	run_for 0 "$CULPRIT" plot until.h5 -o until.svg
	not grep partial until.svg
}

run_tests each_algorithm_has_a_look_of_its_own \
    no_two_curves_of_a_figure_look_alike \
    a_grid_of_two_axes_is_not_joined_over_the_second \
    axes_of_texts_and_of_draws_have_their_values_as_marks \
    a_zip_is_one_axis a_heat_map_has_a_cell_a_point \
    what_is_drawn_is_in_the_table \
    a_script_of_ones_own_is_run_from_any_folder \
    wrong_wishes_are_named_before_anything_is_written \
    a_part_of_a_sweep_says_so \
    a_figure_of_racks_says_how_long_its_runs_were \
    an_output_is_a_folder_or_a_file each_file_says_where_its_data_come_from
