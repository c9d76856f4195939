#!/bin/bash
# tests/cli/report.sh -- culprit report: results as one page of HTML.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

make_results() {
	write_spec "${1-}"
	run_for 0 "$CULPRIT" run spec.yaml -q -o x.h5
}

# What any page must be, whatever is in it.
good() {
	run_for 0 python3 "$tree/tests/cli/lib/page.py" "$@"
}

a_page_has_all_of_a_figure() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	make_results
	run_for 0 "$CULPRIT" report x.h5
	says '^report.html: 1 figures, [0-9]+ cells, ' stdout
	says '^culprit: figure 1 of 1: small$'
	says '^culprit: cells 1 of 1: [0-9]+ of small$'
	good report.html small
	says '<div class="figure" role="img"' report.html
	says 'numbers of the results file to the last bit' report.html
	not grep -q 'OTHER numbers' report.html
	says 'culprit explain small.yaml --point 3 --run' report.html
	says '<dt>build</dt><dd>[0-9a-f]{16}</dd>' report.html
	says "^  - . metric: accuracy_fault, value: 0.9, text: &quot;it&#39;s" \
	    report.html
	says '<dt>made</dt><dd>20[0-9-]+ [0-9:]+ UTC</dd>' report.html
	only_files spec.yaml x.h5 x.run.json report.html
}

the_same_results_give_the_same_page() {
	make_results
	run_for 0 "$CULPRIT" report -q x.h5 -o a.html
	[[ ! -s stderr ]] || ! command -v gnuplot >/dev/null
	run_for 0 "$CULPRIT" report -q x.h5 -o b.html
	same a.html b.html
}

no_text_of_results_is_markup() {
	write_spec
	sed -i "s/^title:.*/title: \"<script>alert('1')<\\/script> \\\\\"\&\\\\\"\"/
	    s/^paper:.*/paper: \"<\\/style><\\/pre><img src=x onerror=alert(2)>\"/
	    s/it's said/<\\/p><script>3<\\/script>/
	    s/it's one/<b onload='x'>\\\\\"/" spec.yaml
	run_for 0 "$CULPRIT" run spec.yaml -q -o x.h5
	run_for 0 "$CULPRIT" report -q x.h5 -o a.html
	good a.html small
	not grep -qE '<script>(alert|3)|<img|<b ' a.html
	python3 - <<-'END'
		import html.parser

		class Page(html.parser.HTMLParser):
		    def handle_starttag(self, tag, attributes):
		        assert "onload" not in dict(attributes), (tag, attributes)

		Page().feed(open("a.html").read())
	END
	says '&lt;script&gt;alert\(&#39;1&#39;\)&lt;/script&gt;' a.html
}

files_of_one_figure_have_ids_of_their_own() {
	make_results
	cp x.h5 y.h5
	run_for 0 "$CULPRIT" report -q x.h5 y.h5 -o a.html
	good a.html small small-2
}

what_is_no_whole_sweep_says_so() {
	write_spec
	run_for 0 "$CULPRIT" run spec.yaml -q -o x.h5 --shard 1/2
	run_for 0 "$CULPRIT" run spec.yaml -q -o y.h5 --smoke
	run_for 0 "$CULPRIT" report -q x.h5 y.h5 -o a.html
	good a.html small small-2
	says 'class="partial">Partial: 6 of 6 runs, and a shard alone' a.html
	says 'Not as the spec has it: --smoke' a.html
	says 'culprit explain small.yaml --smoke --point' a.html
}

all_is_what_results_out_has() {
	write_spec
	run_for 3 "$CULPRIT" report --all
	says_once 'there is no results/out/\*.h5'
	run_for 0 "$CULPRIT" run spec.yaml -q
	run_for 0 "$CULPRIT" run spec.yaml -q --shard 1/2
	run_for 0 "$CULPRIT" report --all --cells 4
	says '^report.html: 1 figures, [1-4] cells' stdout
	good report.html small
	# What the papers claim stands there even without their figures.
	says 'data-verdict="other"' report.html
	says 'id="claims"' report.html
}

the_arena_is_a_folder() {
	mkdir arena
	{
		printf '# arena 1, size s; answer: Best is <b> on int.; '
		printf 'made of 0123456789abcdef\nfamily\n'
	} >arena/standing.tsv
	printf 'telemetry\talgorithm\tf\nint\t<b>\t0.5\nint\tc\tnan\n' \
	    >arena/table.tsv
	echo '<svg>made of 0123456789abcdef</svg>' >arena/arena_front.svg
	echo '<svg>made of 123456789abcdef0</svg>' >arena/arena_map.svg
	run_for 0 "$CULPRIT" report arena -o a.html
	good a.html arena
	says '<p>Best is &lt;b&gt; on int.</p>' a.html
	says '<th scope="col" class="num">f</th>' a.html
	says '<td class="num" data-v="">' a.html
	# Of other sweeps, or not drawn.
	[[ $(grep -c '<div class="figure"' a.html) = 1 ]]
	[[ $(grep -c 'There is no drawing: .culprit arena --plot' a.html) = 3 ]]
	run_for 0 "$CULPRIT" report -q arena -o b.html
	same a.html b.html
	sed -i 's/; answer//' arena/standing.tsv
	run_for 3 "$CULPRIT" report arena -o c.html
	says 'arena/standing.tsv:1: not what'
	rm arena/table.tsv
	mkdir -p results/out
	mv arena results/out
	run_for 3 "$CULPRIT" report --all -o c.html
	[[ ! -e c.html ]]
}

a_page_keeps_to_its_size() {
	make_results "# more"
	sed -i 's/^runs: 3/runs: 40/' spec.yaml
	run_for 0 "$CULPRIT" run spec.yaml -q -o z.h5
	run_for 0 "$CULPRIT" report z.h5 --cells 400 --size 1 -o a.html
	[[ $(stat -c %s a.html) -lt 1000000 ]]
	run_for 0 "$CULPRIT" report z.h5 --cells 0 -o b.html
	says '^b.html: 1 figures, 0 cells' stdout
	good b.html small
}

mistakes_are_told() {
	make_results
	run_for 2 "$CULPRIT" report
	says 'which FILE or FIGURE\? Or --all'
	run_for 2 "$CULPRIT" report --all x.h5
	says '.-all takes no FILE beside it'
	run_for 2 "$CULPRIT" report x.h5 -o x.h5
	says_once '-o x.h5 is one of the results'
	run_for 3 "$CULPRIT" report none
	says_once 'there is no file none'
	head -c 100 x.h5 >cut.h5
	run_for 3 "$CULPRIT" report cut.h5
	says 'cut.h5'
	echo '[' >x.run.json
	run_for 0 "$CULPRIT" report x.h5 -q --cells 0 -o b.html
	says '^culprit: x.h5 has no date: x.run.json:'
	rm b.html
	run_for 3 "$CULPRIT" report x.h5 -q -o none/a.html
	says 'none/a.html'
	[[ ! -e report.html ]]
}

run_tests a_page_has_all_of_a_figure the_same_results_give_the_same_page \
    no_text_of_results_is_markup files_of_one_figure_have_ids_of_their_own \
    what_is_no_whole_sweep_says_so all_is_what_results_out_has \
    the_arena_is_a_folder a_page_keeps_to_its_size mistakes_are_told
