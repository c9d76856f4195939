#!/bin/bash
# tests/cli/make.sh -- flags, rebuilding, cleaning and installing by the Makefile.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# On a program of three files that stands where culprit's sources would.
. tests/cli/lib/common.sh
unset MAKEFLAGS MAKELEVEL MFLAGS CI DEV SAN
of_the_user=${CC-}${CPPFLAGS-}${CFLAGS-}${LDFLAGS-}${LDLIBS-}
unset CC CPPFLAGS CFLAGS LDFLAGS LDLIBS

small_program() {
	mkdir -p {sim/a/b/c,topo,models,algos,results,experiments}
	cp "$tree/Makefile" .
	cat >experiments/main.c <<-END
		#include <stdio.h>
		int deep(void);
		int main(void)
		{
			return printf("%d\n", deep()) < 0;
		}
	END
	cat >sim/a/b/c/deep.c <<-END
		#ifndef NUMBER
		#define NUMBER 1
		#endif
		int deep(void);
		int deep(void)
		{
			return NUMBER;
		}
	END
	cat >sim/other.c <<-END
		double fused(double a, double b, double c);
		double fused(double a, double b, double c)
		{
			return a * b + c;
		}
	END
	built "CC    sim/a/b/c/deep.c" "CC    sim/other.c" "AR    build"
	[[ $(build/culprit) = 1 ]]
	built
}

# built [-ARGUMENT...] LINE...: make says no more and no less, but LINK.
built() {
	local args=()
	while [[ ${1-} = *=* || ${1-} = -* ]]; do
		args+=("$1")
		shift
	done
	run_for 0 make -j4 "${args[@]}"
	for line; do
		says "^  $line" stdout
	done
	[[ $# != 0 || ! -s stdout ]] || { cat stdout; fail "built again"; }
}

flags_of_the_user_come_last_and_rebuild() {
	small_program
	built CPPFLAGS=-DNUMBER=2 "CC    sim/a/b/c/deep.c" LINK
	[[ $(build/culprit) = 2 ]]
	built CPPFLAGS=-DNUMBER=2
	built CPPFLAGS="-DNUMBER=2 -DX='\"it is\"'" "CC    sim/other.c"
	built CPPFLAGS="-DNUMBER=2 -DX='\"it is\"'"
	CFLAGS='-DNUMBER=3 -O0' built V=1 "CC    sim/other.c" LINK
	[[ $(build/culprit) = 3 ]]
	says '^cc .* -O2 .* -O0 .* -c sim/other.c' stdout
	built LDFLAGS=-Wl,--defsym,here=0 LINK
	nm build/culprit | grep -qw here
	built LDLIBS=-Wl,--defsym,there=0 LINK
	nm build/culprit | grep -qw there
	built LINK
	[[ $(build/culprit) = 1 ]]
}

no_flag_decides_numbers() {
	small_program
	CFLAGS='-Ofast -ffast-math -ffp-contract=fast' built V=1 CC
	says ' -ffast-math .* -fno-fast-math -ffp-contract=off' stdout
	[[ $(uname -m) != x86_64 ]] ||
		CFLAGS='-Ofast -mfma' built CC
	objdump -d build/sim/other.o >code
	says 'mul' code
	not grep -q 'fmadd' code
}

# What a result is known by changes with the program and with nothing else.
a_build_is_its_code() {
	local first
	small_program
	echo 'const char *build = CULPRIT_BUILD;' >results/provenance.c
	built "CC    results/provenance.c" LINK
	first=$(<build/build.txt)
	[[ $first =~ ^[0-9a-f]{16}$ ]] || fail "$first"
	sed -i '1i /* A comment. */' sim/other.c
	built "CC    sim/other.c"
	[[ $(<build/build.txt) = "$first" ]] || fail "a comment counts"
	mkdir ../elsewhere
	cp -r Makefile sim topo models algos results experiments ../elsewhere
	make -s -C ../elsewhere >/dev/null
	[[ $(<../elsewhere/build/build.txt) = "$first" ]] || fail "a folder counts"
	rm -r ../elsewhere
	sed -i 's/a \* b + c/a * b - c/' sim/other.c
	built "CC    sim/other.c" "CC    results/provenance.c"
	[[ $(<build/build.txt) != "$first" ]] || fail "an edit does not count"
	sed -i 's/a \* b - c/a * b + c/' sim/other.c
	built CFLAGS=-O0 "CC    sim/other.c"
	[[ $(<build/build.txt) != "$first" ]] || fail "flags do not count"
	built LDFLAGS=-Wl,--defsym,here=0 LINK
	first=$(<build/build.txt)
	built LDFLAGS=-Wl,--defsym,here=1 LINK
	[[ $(<build/build.txt) != "$first" ]] || fail "the linker does not count"
}

# Also when nothing but a test of a fresh checkout is asked for, as tests/README.md
# does.
headers_of_late_libraries_are_made_first() {
	local goal
	small_program
	mkdir tests
	: >topo/igraph.late
	printf '#!/bin/sh\necho "int late(void);"\n' >sim/late.sh
	chmod +x sim/late.sh
	printf '#include "topo/igraph.late.h"\nint x(void) { return late(); }\n' |
	    tee tests/helper.c topo/loaded.c experiments/loads.c >tests/own_test.c
	for goal in tests/helper tests/own_test topo/loaded experiments/loads; do
		rm -rf build
		run_for 0 make -j1 "build/$goal.o"
		says "^  GEN   build/topo/igraph.late.h$" stdout
	done
}

warnings_are_errors_to_developers_alone() {
	small_program
	echo 'static int unused;' >>sim/other.c
	built "CC    sim/other.c"
	says 'unused' stderr
	built
	for strict in CI=true DEV=1; do
		run_for 2 env "$strict" make
		says 'error: .unused' stderr
		run_for 2 make "$strict"
	done
	touch sim/other.c
	built CI=false DEV=0 "CC    sim/other.c"
}

what_is_gone_leaves_the_program() {
	small_program
	ar t build/libculprit.a | grep -qx other.o
	mv sim/other.c elsewhere
	built "AR    build" LINK
	[[ $(ar t build/libculprit.a) = deep.o && -f build/sim/other.o ]]
	built
	mkdir results/sub
	mv elsewhere results/sub/other.c
	built "CC    results/sub/other.c" "AR    build"
	# A header that is gone is no goal without a rule.
	echo 'int x(void);' >sim/x.h
	echo '#include "sim/x.h"' >>sim/a/b/c/deep.c
	built "CC    sim/a/b/c/deep.c"
	rm sim/x.h
	sed -i '$d' sim/a/b/c/deep.c
	built "CC    sim/a/b/c/deep.c"
}

clean_goes_first() {
	small_program
	for i in 1 2 3 4 5; do
		run_for 0 make -j4 clean all
		[[ $(build/culprit) = 1 && $(grep -c ' CC ' stdout) = 3 ]]
	done
	run_for 0 make -j clean
	[[ ! -e build ]]
}

# A copy of the whole program as it was built, in copy/, to be edited.
copy_program() {
	name=${BUILD##*/}
	mkdir -p "copy/$name"
	cp -a "$tree"/{Makefile,.packaging,sim,topo,models,algos,results} \
	    "$tree"/experiments copy
	cp -a "$BUILD"/{sim,topo,models,algos,results,experiments} \
	    "$BUILD"/{flags,objects,commit,build}.txt "copy/$name"
	sed -i "s#$tree#$PWD/copy#g" "copy/$name/flags.txt"
	touch -r "$BUILD/flags.txt" "copy/$name/flags.txt"
}

# What is edited alone is compiled: with other flags than the program was built
# with, or without its `-Werror`, all would be, which takes minutes.
make_copy() {
	local as_built=()
	[[ $name != *-san ]] || as_built+=(SAN=1)
	! grep -q -e -Werror "copy/$name/flags.txt" || as_built+=(CI=true)
	run_for 0 make -C copy "${as_built[@]}"
	[[ $of_the_user ]] || (($(grep -c "^  CC " stdout) < 200)) ||
		fail "all was compiled again"
	commit=$("copy/$name/culprit" --version | grep ^git_commit)
}

results_of_an_edited_program_are_not_reused() {
	local name commit
	copy_program
	write_spec
	make_copy
	run_for 0 "copy/$name/culprit" run spec.yaml -o x.h5
	cp x.h5 first.h5
	mkdir -p results/out expected
	cp x.h5 results/out/small.h5
	echo 'claims: []' >expected/claims.yaml
	run_for 0 "copy/$name/culprit" verify --claims expected/claims.yaml \
	    --write small
	# From now on it blames no link.
	sed -i 's/if (a->params.signal == ALGO_VOTE_RTT)$/if (1)/' \
	    copy/algos/vigil/vote.c
	local before=$commit
	make_copy
	# One version, one commit: all that tells them apart is the build.
	[[ $commit = "$before" ]] || fail "$commit is not $before"
	run_for 2 "copy/$name/culprit" run spec.yaml -o x.h5
	says_once "x.h5 holds results of another.*build.*--fresh"
	same x.h5 first.h5
	run_for 0 "copy/$name/culprit" verify --claims expected/claims.yaml
	says "results of 1 figures are of another build"
	run_for 1 "copy/$name/culprit" verify --strict --claims expected/claims.yaml
	run_for 3 "copy/$name/culprit" verify --claims expected/claims.yaml \
	    --write small
	says_once "small.h5 is of build"
	run_for 0 "copy/$name/culprit" run spec.yaml --fresh -o x.h5 --json
	[[ $(json stdout 'd["before"]') = 0 ]]
	same x.h5~ first.h5
	! cmp -s x.h5 first.h5 || fail "the edit has no effect"
	run_for 0 "copy/$name/culprit" run spec.yaml -o other.h5 --shard 2/2
	run_for 0 "$CULPRIT" run spec.yaml -o one.h5 --shard 1/2
	run_for 2 "$CULPRIT" merge -o all.h5 one.h5 other.h5
	says_once "one was made by culprit .* build .* the other by .* build"
}

# What the pages tell people to type, as it stands there.
recipes_of_the_pages_work() {
	local name commit
	copy_program
	recipe() { # FILE FIRST LAST
		sed -n "\\|$2|,\\|$3|{p;\\|$3|q}" "$tree/$1" >recipe
		[[ -s recipe ]] || fail "no recipe $2 in $1"
		(cd copy && bash -eu ../recipe)
	}
	recipe README.md 'mkdir algos/mine' 'done$'
	sed -i -e 's|^#include "algos/vigil/vote.h"|&\n#include "algos/mine/mine.h"|' \
	    -e 's|^    &algo_vote,|&\n    \&algo_mine,|' copy/algos/registry.c
	recipe experiments/README.md 'mkdir experiments/mine' 'plane.c$'
	sed -i 's|^\tX(auto)  *\\$|&\n\tX(mine) \\|' copy/experiments/spec/plane.c
	make_copy
	cd copy
	run_for 0 "$name/culprit" algos mine
	run_for 0 "$name/culprit" run vigil_fig05a --smoke -o my.h5 \
	    --set 'algorithms=[vote, mine]'
	run_for 0 "$name/culprit" table my.h5 -c '*:accuracy_fault' --json
	[[ $(json stdout 'all(r["vote:accuracy_fault"] ==
	    r["mine:accuracy_fault"] > 0 for r in d)') = True ]]
	run_for 0 "$name/culprit" run vigil_fig05a --smoke -o plane.h5 \
	    --set plane=mine --set 'algorithms=[vote]'
}

# The whole program, as it was built. try GOAL PREFIX: below dest/.
try() {
	local san=()
	[[ $BUILD != *-san ]] || san=(SAN=1)
	run_for 0 make -C "${tree:?}" -o all "$1" DESTDIR="$PWD/dest" \
	    PREFIX="$2" "${san[@]}"
}

uninstall_takes_away_what_install_put() {
	for prefix in "/opt/my lab & co"; do
		local at=$PWD/dest$prefix
		local share=$at/share/culprit
		mkdir -p "$at/bin"
		touch "$at/bin/other"
		find dest -type f >before
		try install "$prefix"
		find dest | sort >once
		# Over an older one, too.
		try install "$prefix"
		find dest | sort | same - once
		cmp "$at/bin/culprit" "$CULPRIT"
		cmp "$share"/experiments/vigil_fig03.yaml \
		    "$tree"/experiments/vigil_fig03.yaml
		cmp "$share"/results/expected/verify.txt \
		    "$tree"/results/expected/verify.txt
		[[ -f $share/alerts.yaml && -f $share/dashboard.json ]]
		[[ -f $share/pinglist.xsd && -f $share/plots/style.gp ]]
		[[ $(find dest -type f ! -perm 644 ! -path '*/bin/*') = "" ]]
		touch "$share"/experiments/mine.yaml
		try uninstall "$prefix"
		[[ $(find "$share" -type f) = "$share"/experiments/mine.yaml ]]
		try install "$prefix"
		rm "$share"/experiments/mine.yaml
		try uninstall "$prefix"
		find dest -type f | same - before
		[[ ! -e $share && ! -e $at/share/doc/culprit ]]
		try uninstall "$prefix"
		rm -r dest
	done
}

# From any folder: data, pages, completion, and what others ask for.
what_is_installed_works() {
	local at=$PWD/dest/opt/my\ lab
	try install "/opt/my lab"
	mkdir elsewhere
	cd elsewhere
	run_for 0 "$at/bin/culprit" run vigil_fig05a --smoke -q
	[[ -s results/out/vigil_fig05a.h5 ]]
	command -v gnuplot >/dev/null || skip "no gnuplot"
	run_for 0 "$at/bin/culprit" plot vigil_fig05a --format svg
	[[ -s plots/out/vigil_fig05a.svg ]]
	# Numbers of a small sweep are not all there.
	run_for 1 "$at/bin/culprit" verify vigil_fig05a
	says 'as in .*/share/culprit/results/expected/vigil_fig05a.tsv' stdout
	[[ $("$at/bin/culprit" complete run vigil_fig05) = vigil_fig05a* ]]
	says '^ExecStart="/opt/my lab/bin/culprit" agent' \
	    "$at/lib/systemd/system/culprit-agent.service"
	says '^Environment="CONFIG=/opt/my lab/share/culprit/agent.yaml"' \
	    "$at/lib/systemd/system/culprit-agent.service"
	[[ -s $at/share/culprit/agent.yaml ]]
	[[ -s $at/share/man/man1/culprit-run.1 ]]
	[[ -s $at/share/man/man5/culprit-spec.5 ]]
	export PKG_CONFIG_PATH=$at/share/pkgconfig
	[[ $(pkg-config --variable=specdir culprit) = \
	    "/opt/my lab/share/culprit/experiments" ]]
	[[ $(pkg-config --modversion culprit) = \
	    $("$at/bin/culprit" --version | awk 'NR == 1 { print $2 }') ]]
	[[ $(pkg-config --libs culprit | xargs) = "" ]]
	[[ $(pkg-config --cflags culprit | xargs) = "-I/opt/my lab/include" ]]
	${CC:-cc} -shared -fPIC -I"$at/include" -o mine.so \
	    "$at/share/culprit/mine.c"
	run_for 0 "$at/bin/culprit" algos ./mine.so
	says '^mine  *the links with the most votes' stdout
	(
		# shellcheck disable=SC1091 # a file of the test
		. "$at/share/bash-completion/completions/culprit"
		complete -p culprit
	)
}

# links [NAME=VALUE...]: what a make would link for `check` and `check-real`.
links() {
	(cd "$tree" && env "$@" make -n check check-real B="$PWD/none") |
		grep -o 'LINK  *[^ "]*' | sort -u
}

# Packages come with `deps`, and until then nobody finds one: the make that was
# called must not have chosen what is built by what it saw before.
packages_that_come_with_deps_are_found() {
	mkdir found
	cat >found/pkg-config <<-END
		#!/bin/bash
		[[ \${MAKELEVEL-} ]] || exit 1
		exec "$(type -P pkg-config)" "\$@"
	END
	chmod +x found/pkg-config
	links PATH="$PATH" >all
	links PATH="$PWD/found:$PATH" >late
	says 'LINK.*/tests/experiments/.*_test' all
	says 'LINK.*/tests/real/.*_test' all
	says 'LINK.*/tests/fuzz/.*_replay' all
	diff all late
}

# What the help names is opened each week, or said to be opened elsewhere.
no_door_is_forgotten() {
	[[ -f $tree/.ci/weekly ]] || skip "of what CI runs nothing is here"
	make -C "$tree" -s help | sed -nE 's/^  make ([a-z-]+).*/\1/p' >doors
	[[ $(wc -l <doors) -gt 25 ]]
	tr -s '() ,.' '\n' <"$tree/.ci/weekly" >known
	not grep -vxFf known doors
}

# A make that does what `good` says. Two doors of the table are others'.
each_door_is_told_by_how_it_ended() {
	[[ -f $tree/.ci/weekly ]] || skip "of what CI runs nothing is here"
	mkdir -p .ci tests bin
	cp "$tree/.ci/weekly" .ci
	git init -q . && git -c user.name=x -c user.email=x@localhost \
	    commit -q --allow-empty -m x
	printf '# Doors.\nlint\tx\tok\t1\tx\nsoak\tx\tok\t1\tx\n' >tests/doors.tsv
	cp tests/doors.tsv before
	printf '#!/bin/bash\necho "$*"; [[ -f good ]]\n' >bin/make
	chmod +x bin/make
	PATH=$PWD/bin:$PATH
	run_for 1 bash .ci/weekly lint "SAN=1 check"
	[[ $(cut -f 1,3 tests/doors.tsv | tr '\t\n' ' ;') = \
	    '# Doors.;soak ok;lint 1;SAN=1 check 1;' ]] ||
		fail "$(<tests/doors.tsv)"
	[[ $(<build/weekly/SAN_1_check.log) = "SAN=1 check" ]]
	touch good
	run_for 0 bash .ci/weekly lint
	says "^lint	$(git rev-parse --short=12 HEAD).*	ok	" tests/doors.tsv
	run_for 2 bash .ci/weekly lint check
	says 'weekly: no door is called "check"'
	[[ $(wc -l <tests/doors.tsv) = 4 && $(head -n 1 before) = \
	    $(head -n 1 tests/doors.tsv) ]]
}

run_tests flags_of_the_user_come_last_and_rebuild no_flag_decides_numbers \
    a_build_is_its_code results_of_an_edited_program_are_not_reused \
    headers_of_late_libraries_are_made_first recipes_of_the_pages_work \
    warnings_are_errors_to_developers_alone \
    what_is_gone_leaves_the_program clean_goes_first \
    uninstall_takes_away_what_install_put what_is_installed_works \
    packages_that_come_with_deps_are_found no_door_is_forgotten \
    each_door_is_told_by_how_it_ended
