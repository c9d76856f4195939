#!/bin/bash
# tests/cli/gates.sh -- each gate is red for what it forbids, and green without.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Cheats are planted in a copy of the sources; nothing but they is compiled.
. tests/cli/lib/common.sh

layers=(sim topo models algos results experiments)

# One copy for all, of which each test has links: of these it may make and remove
# any, but not write into a file that is there. What fuzzers begin with is nothing
# to look at.
copy_the_tree() {
	if [[ ! -d $top/copy ]]; then
		mkdir "$top/copy"
		(cd "${tree:?}" && find Makefile plots tests "${layers[@]}" \
		    \( -name out -o -path 'tests/fuzz/*/*' \) -prune -o \
		    -type f -print0 | tar -c --null -T -) |
			tar -x -C "$top/copy"
	fi
	cp -rl "$top/copy/." .
}

# run_gate CODE GATE: of the copy.
run_gate() {
	local more=("${layers[@]}")
	[[ $2 != pure ]] || more=(build)
	run_for "$1" bash "tests/gates/$2.sh" . "${more[@]}"
}

red() { # GATE PATTERN
	run_gate 1 "$1"
	says "^FAIL  $1$" stdout
	cat stderr >>stdout
	says "$2" stdout
}

green() { # GATE
	run_gate 0 "$1"
	[[ $(cat stdout) = "ok    $1" && ! -s stderr ]]
}

# plant FILE LINE...: a source, which is whole but for what LINEs do.
plant() {
	local file=$1
	shift
	mkdir -p "${file%/*}"
	{
		printf '/* %s -- a cheat.\n' "$file"
		printf ' * SPDX-License-Identifier: GPL-3.0-or-later\n */\n'
		printf '%s\n' "$@"
	} >"$file"
}

# Each of these in FILE is one fault; without it the copy is green again.
refused() {
	local gate=$1 file=$2
	shift 2
	plant "$file" "$@"
	red "$gate" "^$file:4"
	rm "$file"
}

includes_go_down_the_layers_at_any_depth() {
	copy_the_tree
	green layers
	refused layers sim/sub/x.c '#include "topo/clos.h"'
	refused layers models/a/b/x.h '#include "algos/algo.h"'
	refused layers results/x.c '#include "experiments/spec/spec.h"'
	refused layers experiments/cmd/x.c '#include "tests/test.h"'
	# Nor in another way of writing it.
	refused layers sim/sub/x.c ' # include "topo/clos.h"'
	refused layers sim/sub/x.c '#include <topo/clos.h>'
	refused layers sim/sub/x.c '#include "sim/../topo/clos.h"'
	refused layers topo/sub/x.c '#include "x.h"'
	refused layers sim/x.c '#include HEADER'
	green layers
}

algorithms_see_of_the_models_what_hosts_see() {
	copy_the_tree
	plant algos/sub/good.c '#include "models/agent.h"' \
	    '#include "models/obs_probes.h"' '#include "sim/rng.h"'
	green layers
	refused layers algos/sub/cheat.c '#include "models/truth.h"'
	refused layers algos/sub/deep/x.h '#include "models/fabric.h"'
	refused layers algos/cheat.c '#include "sim/evq.h"'
	# Nor through a header that they may see.
	refused layers models/obs_more.h '#include "models/truth.h"'
	green layers
}

algorithms_ask_nothing_of_the_machine() {
	copy_the_tree
	mkdir build
	cp -rs "$BUILD/algos" build
	green pure
	for call in 'rand()' 'clock()' '(void *)getenv("HOME") != 0' \
	    'printf("%d", i)' '(int)time(0)'; do
		plant algos/sub/deep/cheat.c '#include <stdio.h>' \
		    '#include <stdlib.h>' '#include <time.h>' \
		    'int cheat(int i);' "int cheat(int i) { return i + $call; }"
		mkdir -p build/algos/sub/deep
		cc -c -O2 algos/sub/deep/cheat.c -o build/algos/sub/deep/cheat.o
		red pure '^build/algos/sub/deep/cheat.o: .* U '
	done
	# An object whose source is gone is no matter; a source without one is.
	rm algos/sub/deep/cheat.c
	green pure
	plant algos/sub/more.c
	red pure 'algos/sub/more.o'
}

folders_of_a_layer_do_not_circle() {
	copy_the_tree
	green circles
	# A new folder may look at the others, as long as none looks back.
	plant sim/new/x.h '#include "sim/err.h"'
	green circles
	refused circles sim/y.c '#include "sim/new/x.h"'
	# Over a third one.
	plant sim/third/z.h '#include "sim/new/x.h"'
	green circles
	plant sim/y.c '#include "sim/third/z.h"'
	red circles 'sim/y.c:4: sim -> sim/third closes'
	says 'sim/third/z.h:4: sim/third -> sim/new closes' stdout
	says 'sim/new/x.h:4: sim/new -> sim closes' stdout
	# A registry names what it likes.
	mv sim/y.c sim/registry.c
	green circles
}

no_two_files_have_a_function_of_one_name() {
	copy_the_tree
	green names
	plant sim/sub/x.c 'static int walk_there(void);' \
	    'static int walk_there(void) { return 1; }' \
	    'static int walk_back = 1;'
	green names
	refused names topo/y.c 'static inline struct topo *walk_there(int x)'
	plant topo/y.c 'static int walk_back = 1;'
	green names
}

no_type_of_a_header_is_another_one_elsewhere() {
	copy_the_tree
	plant sim/sub/x.h 'struct sim_walk;' 'struct sim_walk {' '	int x;' '};'
	plant sim/sub/x.c 'struct walk {' '	struct sim_walk y;' '};'
	plant topo/y.c 'struct walk {' '	int z;' '};'
	green names
	refused names topo/y.c 'struct sim_walk {'
	plant topo/y.h 'enum sim_walk {' '	WALK' '};'
	refused names topo/y.h 'enum sim_walk {'
}

files_say_what_they_are() {
	copy_the_tree
	green heads
	# Whoever follows the README has a spec of his own at the top.
	echo 'figure: my_sweep' >my_sweep.yaml
	green heads
	for file in sim/sub/deep/x.c plots/sub/x.gp tests/cli/lib/x.py \
	    experiments/sub/x.yaml elsewhere/x.h; do
		plant "$file"
		green heads
		echo >"$file"
		red heads "^$file: no caption"
		says "^$file: no licence" stdout
		plant another/file
		mv another/file "$file"
		red heads "^$file: no caption"
		rm "$file"
	done
	green heads
}

what_reads_has_a_fuzz_target() {
	copy_the_tree
	green readers
	plant sim/sub/x.c 'FILE *f = fopen(path, "rb");'
	red readers '^sim/sub/x.c: reads, and stands in no row'
	rm sim/sub/x.c
	plant tests/fuzz/x_fuzz.c
	red readers '^tests/fuzz/x_fuzz.c: in no row'
	rm tests/fuzz/x_fuzz.c
	mv tests/fuzz/yaml_fuzz.c x
	red readers 'there is no target yaml$'
	mv x tests/fuzz/yaml_fuzz.c
	mv sim/yaml_read.c sim/x.c
	red readers 'there is no sim/yaml_read.c$'
}

what_a_test_asks_can_fail() {
	copy_the_tree
	green asserts
	# Its name stands nowhere, so not in this script either.
	printf '%s\n' "nobody$((6 * 7))() {" '	! grep x y |' '		grep z' \
	    '	! cmp a b || fail' '	! cmp \' '		a b' '	until true &&' \
	    '		! false; do :; done' '}' >tests/cli/x.sh
	red asserts '^tests/cli/x.sh:2: '
	grep -q '^tests/cli/x.sh:5: ' stdout
	[[ $(wc -l <stdout) = 4 ]]
	grep -q '^tests/cli/x.sh:1: nobody calls nobody4[2]$' stdout
	# What it goes by: a test goes on behind a `!`, and not behind `not`.
	run_for 0 bash -ec '! true; exit 0'
	run_for 1 bash -ec '. tests/cli/lib/common.sh; not true; exit 0'
	run_for 0 bash -ec '. tests/cli/lib/common.sh; not false; exit 0'
}

the_readme_shows_the_arena_as_it_stands() {
	copy_the_tree
	cp "$tree/README.md" .
	green standing
	# Another answer, another figure, and neither.
	sed -i '1s/answer: [A-Z]/answer: Now b/' results/expected/arena.tsv
	red standing '^README.md: the arena.s answer is not'
	run_for 0 bash tests/gates/standing.sh . --write
	grep -q '^Now b' README.md
	green standing
	sed -i '1s/made of .../made of 123/' results/expected/arena.tsv
	red standing '^plots/arena.svg: not the figure of'
	rm results/expected/arena.tsv
	red standing 'arena.tsv'
}

a_gate_that_sees_no_file_is_red() {
	mkdir tests
	cp -r "$tree/tests/gates" tests
	mkdir "${layers[@]}"
	red layers 'sim: no file'
	red circles 'sim: no file'
	red pure 'algos: no file'
	for gate in layers circles names pure heads readers asserts; do
		run_for 1 bash "tests/gates/$gate.sh" nowhere sim
		says "^FAIL  $gate$" stdout
	done
	mv tests/gates .gates
	run_for 1 bash .gates/heads.sh .
	says '^FAIL  heads$' stdout
}

make_calls_them() {
	copy_the_tree
	unset MAKEFLAGS MAKELEVEL MFLAGS
	run_for 0 make check-layers check-circles check-heads
	plant sim/sub/x.c '#include "topo/clos.h"'
	run_for 2 make check-layers
	plant sim/x.c '#include "sim/sub/x.h"'
	plant sim/sub/x.h '#include "sim/err.h"'
	run_for 2 make check-circles
	echo >sim/x.c
	run_for 2 make check-heads
	run_for 0 make -n check
	says 'check-layers check-circles check-names check-pure check-heads' stdout
}

run_tests includes_go_down_the_layers_at_any_depth \
    algorithms_see_of_the_models_what_hosts_see \
    algorithms_ask_nothing_of_the_machine folders_of_a_layer_do_not_circle \
    no_two_files_have_a_function_of_one_name \
    no_type_of_a_header_is_another_one_elsewhere \
    files_say_what_they_are what_reads_has_a_fuzz_target what_a_test_asks_can_fail \
    the_readme_shows_the_arena_as_it_stands \
    a_gate_that_sees_no_file_is_red make_calls_them
