#!/bin/bash
# tests/cli/help.sh -- help, versions, and the program where it is installed.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

verbs="run submit status table plot explain report merge gate arena tune verify dump diagnose \
convert topo bounds pinglist controller collector agent doctor ca latency record jobs alerts \
trace samples lab algos metrics spec man"

alone_it_explains_itself_and_exits_2() {
	run_for 2 "$CULPRIT"
	says '^Usage: culprit VERB'
	[[ ! -s stdout ]]
	for help in --help -h help; do
		run_for 0 "$CULPRIT" $help
		says '^Usage: culprit VERB' stdout
		[[ ! -s stderr ]]
	done
	[[ $(sed -nE 's/^  ([a-z]+) .*/\1/p' stdout | grep -vx culprit | xargs) = \
	    "$verbs" ]] || { cat stdout; fail "other verbs"; }
}

each_verb_has_help_and_usage() {
	for verb in $verbs; do
		run_for 0 "$CULPRIT" "$verb" --help
		cp stdout help
		says "^Usage: culprit $verb" help
		[[ $(awk 'length > 80' help) = "" ]] || fail "$verb: long lines"
		[[ $(grep -c ' $' help) = 0 ]] || fail "$verb: blanks at an end"
		[[ ! -s stderr ]]
		run_for 0 "$CULPRIT" help "$verb"
		same stdout help
		run_for 0 "$CULPRIT" "$verb" --usage
		says "^Usage: culprit $verb" stdout
	done
}

# What stands below the options is there, also where a verb adds to it.
all_that_is_written_of_a_verb_is_shown() {
	local verb sub
	for verb in $verbs; do
		"$CULPRIT" "$verb" --help
		"$CULPRIT" "$verb" --man
		case $verb in trace | samples)
			for sub in $("$CULPRIT" "$verb" --help |
			    sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vx culprit); do
				"$CULPRIT" "$verb" "$sub" --help
				"$CULPRIT" "$verb" "$sub" --man
			done
			;;
		esac
	done >shown 2>&1
	python3 - "$tree"/experiments/cmd/*.c <<-'END'
		import ast, re, sys

		def words(text):
		    return " ".join(re.sub(r"\\&|\n\.Pp\n", " ", text).split())

		shown, n = words(open("shown").read()), 0
		for path in sys.argv[1:]:
		    for doc in re.findall(r'\.doc =\s*((?:"(?:[^"\\]|\\.)*"\s*)+),',
		                          open(path).read()):
		        text = "".join(ast.literal_eval(part) for part in
		                       re.findall(r'"(?:[^"\\]|\\.)*"', doc))
		        for part in re.split(r"[\v]|\n\n", text):
		            if len(part.split()) > 3:
		                assert words(part) in shown, (path, part)
		                n += 1
		assert n > 80, n
	END
}

# What argp parses, taken from its usage line, is what help explains.
help_mentions_each_option() {
	for verb in $verbs; do
		"$CULPRIT" "$verb" --help >help
		"$CULPRIT" "$verb" --usage >usage
		for option in $(grep -oE -e '--[a-z0-9-]+' usage | sort -u); do
			says "^ .*$option([ =]|$)" help
		done
		grep -oE -e '^ {2,6}(-., )?--[a-z0-9-]+' help |
			grep -oE -e '--[a-z0-9-]+' | sort >in_help
		grep -oE -e '--[a-z0-9-]+' usage | sort -u >in_usage
		same in_help in_usage
	done
	for option in output jobs smoke set runs shard force fresh point run \
	    until-ci metric algorithm json quiet; do
		"$CULPRIT" run --help >help
		says "--$option" help
	done
}

the_version_names_what_made_it() {
	run_for 0 "$CULPRIT" --version
	says '^culprit [0-9]+\.[0-9]+\.[0-9]+ \(' stdout
	for name in git_commit build compiler libraries; do
		says "^$name [0-9a-zA-Z]" stdout
	done
	cp stdout want
	run_for 0 "$CULPRIT" -V
	same stdout want
}

# The libraries that most of a start would go to are loaded late (sim/late.h).
it_starts_in_8_million_instructions() {
	readelf -d "$CULPRIT" >needs
	local lib
	for lib in hdf5 igraph curl microhttpd pcap; do
		! grep "NEEDED.*lib$lib" needs || fail "linked with lib$lib"
	done
	[[ $BUILD != *-san ]] || return 0
	command -v valgrind >/dev/null || skip "no valgrind"
	valgrind --tool=callgrind --callgrind-out-file=out \
	    "$CULPRIT" --version >/dev/null 2>&1
	local n
	n=$(sed -n 's/^\(summary\|totals\): //p' out | head -n 1)
	((n <= 8000000)) || fail "$n instructions"
}

# Each is read by the options of its verb; nothing is done.
examples_are_what_verbs_take() {
	local n=0 words
	for verb in "" $verbs; do
		# shellcheck disable=SC2086 # no verb is no word
		run_for 0 "$CULPRIT" man $verb
		cp stdout page
		sed -n 's/^\.It Li "\(culprit .*\)"$/\1/p' page |
			sed 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\&//g' >examples
		[[ $verb = "" || -s examples ]] || fail "$verb: no example"
		while read -r _ line; do
			line=${line%% |*} line=${line%% >*}
			read -ra words <<<"$line"
			run_for 0 "$CULPRIT" "${words[@]}" --help
			n=$((n + 1))
		done <examples
	done
	((n > 40)) || fail "only $n"
}

it_says_how_to_cite_it() {
	local version
	version=$("$CULPRIT" --version | sed -n 's/^culprit \([0-9.]*\) .*/\1/p')
	run_for 0 "$CULPRIT" --cite
	says '^@software\{culprit,$' stdout
	says "^  version = \\{$version\\},$" stdout
	says "^version: '$version'$" stdout
	run_for 0 "$CULPRIT" --cite cff
	[[ $(head -n 1 stdout) = "cff-version: 1.2.0" ]]
	for key in message title authors version commit license; do
		says "^$key:" stdout
	done
	run_for 0 "$CULPRIT" --cite bibtex
	says '^  note    = \{Commit ' stdout
	[[ $(tail -n 1 stdout) = "}" ]]
	run_for 2 "$CULPRIT" --cite latex
	says_once 'bibtex or cff'
}

algos_and_spec_list_what_there_is() {
	run_for 0 "$CULPRIT" algos
	for algo in vote alg1 cover; do
		says "^$algo " stdout
	done
	run_for 0 "$CULPRIT" algos alg1
	says '^  threshold .*\[0, 1\]' stdout
	run_for 0 "$CULPRIT" algos --json
	[[ $(json stdout '[a["name"] for a in d if "tie" in a["params"]]') = \
	    *"'vote'"* ]]
	run_for 0 "$CULPRIT" algos cover --json
	[[ $(json stdout 'len(d)') = 1 ]]
	run_for 0 "$CULPRIT" spec
	for key in figure seed runs topology traffic noise faults claims; do
		says "$key" stdout
	done
}

# From an empty folder, with nothing of the source tree in reach.
installed_it_finds_its_specs() {
	compgen -G "$tree/plots/*.gp" >/dev/null || skip "no plots/*.gp"
	local san=
	[[ $BUILD != *-san ]] || san=SAN=1
	(
		unset MAKEFLAGS MAKELEVEL MFLAGS
		make -C "$tree" -o all install DESTDIR="$PWD/dest" \
		    PREFIX=/usr $san
	) >log 2>&1 || { cat log; fail "make install"; }
	run_installed
}

# The same without make: only what the program itself needs.
a_copy_finds_its_specs() {
	mkdir -p dest/usr/bin dest/usr/share/culprit/experiments
	cp "$CULPRIT" dest/usr/bin
	cp "$tree"/experiments/*.yaml dest/usr/share/culprit/experiments
	run_installed
}

run_installed() {
	mkdir empty
	cd empty
	run_for 0 ../dest/usr/bin/culprit run vigil_fig05b --smoke
	says '8 of 8 cells done -> results/out/vigil_fig05b.h5' stdout
	run_for 0 ../dest/usr/bin/culprit table vigil_fig05b
	run_for 2 ../dest/usr/bin/culprit run vigil_fig5b --smoke
	says_once 'did you mean "vigil_fig05b"'
	# Results of other folders are not taken for those of this one.
	mkdir other
	cd other
	run_for 3 ../../dest/usr/bin/culprit status vigil_fig05b
	# Through a link, and by PATH, it knows where it is.
	ln -s ../../dest/usr/bin/culprit found
	run_for 0 env PATH="$PWD:$PATH" found run vigil_fig05b --smoke -q
}

run_tests alone_it_explains_itself_and_exits_2 each_verb_has_help_and_usage \
    all_that_is_written_of_a_verb_is_shown \
    help_mentions_each_option the_version_names_what_made_it \
    it_starts_in_8_million_instructions examples_are_what_verbs_take \
    it_says_how_to_cite_it \
    algos_and_spec_list_what_there_is installed_it_finds_its_specs \
    a_copy_finds_its_specs
