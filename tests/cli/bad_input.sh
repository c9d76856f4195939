#!/bin/bash
# tests/cli/bad_input.sh -- mistakes: one clear message, nothing spoiled.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

run() { "$CULPRIT" run spec.yaml -q -o x.h5 "$@"; }

# The spec with sed's EXPRESSION applied is refused with one message that
# begins with its place, and leaves nothing behind.
refuses() { # EXPRESSION PATTERN [LINES]
	write_spec
	sed -i "$1" spec.yaml
	run_for 2 run
	says "^culprit: spec.yaml:[0-9]+:[0-9]+: .*$2"
	[[ $(wc -l <stderr) = "${3-1}" ]] || { cat stderr; fail "lines: $1"; }
	only_files spec.yaml
}

a_mistake_in_a_spec_is_named_with_its_place() {
	refuses 's/^seed:/sead:/' '"?sead"?.*did you mean "?seed'
	refuses 's/conns: 20/conns: many/' 'conns.*many'
	refuses 's/conns: 20/conns: 1%/' '1%'
	refuses 's/conns: 20/conns: 010/' '010'
	refuses 's/count: 1,/count: 1, same_switch: 1.5,/' '1\.5.*\[0, 1\]'
	refuses 's/rate: \[1e-3, 1e-2\]/rate: [1e-3, 2]/' '2.*\[0, 1\]'
	refuses 's/n_t1: 3/n_t1: 0/' 'n_t1'
	refuses 's/count: \[1, 3\]/count: [1, 30000]/' '30000'
	refuses 's/packets: \[40, 80\]/packets: [40]/' '1 values.*2'
	refuses 's/algorithms: \[vote,/algorithms: [voet,/' 'did you mean "vote"'
	refuses 's/label: "it.s one"/on: switch/' \
	    'algorithm alg1: adjust expected is about links'
	refuses 's/cover\]/{ name: vote, label: v, on: switch, tie: fabric }]/' \
	    'algorithm v: tie fabric is an order of links'
	refuses 's/accuracy_fault/accuracy_falt/' 'accuracy_falt'
	refuses 's/^runs: 3/runs: 3\nruns: 4/' 'runs'
	refuses 's/^figure: small/figure: ..\/small/' 'a-z'
	refuses 's/title: .*/title: [/' ''
	refuses 's/n_t1: 3/n_t1: x/;s/conns: 20/conns: x/' '' 2
}

a_mistake_in_an_override_is_named() {
	write_spec
	run_for 2 run --set traffic.conn=3
	says_once 'conn.*did you mean'
	run_for 2 run -s conns
	says_once 'conns'
	run_for 2 run --runs 0
	says_once 'runs.*0'
	run_for 2 run --runs 5 --runs 6
	says_once '--runs'
	only_files spec.yaml
}

a_missing_spec_is_named() {
	run_for 2 "$CULPRIT" run nowhere.yaml
	says_once 'no file nowhere.yaml'
	run_for 2 "$CULPRIT" run no/where.yaml
	says_once 'no/where.yaml: No such file'
	mkdir folder
	run_for 2 "$CULPRIT" run ./folder
	says_once 'folder'
	mkdir experiments
	write_spec
	mv spec.yaml experiments/vigil_fig00.yaml
	run_for 2 "$CULPRIT" run vigl_fig00
	says_once 'did you mean "vigil_fig00"'
	run_for 2 "$CULPRIT" run fig00
	says_once 'did you mean "vigil_fig00"'
	printf 'figure: \xff\n' >bad.yaml
	run_for 2 "$CULPRIT" run bad.yaml
	says_once 'bad.yaml'
	: >empty.yaml
	run_for 2 "$CULPRIT" run empty.yaml
	says 'empty.yaml'
}

# x.h5 is not ours in some way: CODE and PATTERN without --force, left as it
# is; with --force it is kept as x.h5~.
not_ours() {
	cp x.h5 former
	run_for "$1" run
	says_once "x.h5.*$2"
	same x.h5 former
	only_files spec.yaml x.h5 former
	run_for 0 run --force
	same x.h5~ former
	only_files spec.yaml x.h5 x.h5~ x.run.json former
	rm -f former x.h5~ x.run.json
}

results_that_are_not_ours_are_left_alone() {
	write_spec
	run_for 0 run --runs 2
	rm x.run.json
	not_ours 2 "another spec"
	truncate -s -1 x.h5
	not_ours 3 "no results that can be read.*--force"
	truncate -s 1000 x.h5
	not_ours 3 "no results that can be read"
	: >x.h5
	not_ours 3 "no results that can be read"
	head -c 5000 /dev/urandom >x.h5
	not_ours 3 "no results that can be read"
	echo "dear diary" >x.h5
	not_ours 3 "no results that can be read"
	# One bit, whatever is there.
	bit=$(($(od -An -tu1 -j3000 -N1 x.h5) ^ 1))
	printf "\\x$(printf %x $bit)" |
		dd of=x.h5 bs=1 seek=3000 conv=notrunc status=none
	not_ours 3 "no results that can be read"
	rm x.h5
	mkdir x.h5
	run_for 3 run --force
	says_once "x.h5: not a file"
	only_files spec.yaml x.h5
}

journals_that_are_not_ours_are_left_alone() {
	write_spec
	run_for 0 run
	cp x.h5 ../want
	rm x.*
	journal_of_another
	for make in journal_of_another "echo dear diary" \
	    "head -c 5000 /dev/urandom" "printf culpritX"; do
		$make >x.journal
		cp x.journal ../former
		run_for 2 run
		says_once "x.journal"
		same x.journal ../former
		only_files spec.yaml x.journal
		run_for 0 run --force
		same x.journal~ ../former
		same x.h5 ../want
		only_files spec.yaml x.h5 x.journal~ x.run.json
		rm x.h5 x.journal~ x.run.json
	done
	# Its header rotten: of a sweep, but of which?
	journal_of_another | { head -c 20; printf 'xxxxxxxxxxxxxxxxxxxx'; } \
		>x.journal
	run_for 3 run
	says_once "the header of journal x.journal is damaged"
	run_for 0 run --force
	same x.h5 ../want
	# No record yet: nothing to keep.
	rm x.*
	: >x.journal
	run_for 0 run
	same x.h5 ../want
	only_files spec.yaml x.h5 x.run.json
	rm ../want ../former
}
# Header, version 1, 32 bytes with a sum that is right for nobody's key.
journal_of_another() {
	python3 - <<-'END'
		import struct, sys
		def fnv(b, h=0xcbf29ce484222325):
		    for x in b:
		        h = (h ^ x) * 0x100000001b3 % 2**64
		    return h
		h = b"culpritJ" + struct.pack("<IIQQ", 3, 2, 42, 43)
		check = fnv(h)
		h += struct.pack("<Q", check)
		r = struct.pack("<IIIIdd", 0, 0, 1, 0, 1.0, 2.0)
		r += struct.pack("<Q", fnv(r, check))
		sys.stdout.buffer.write(h + 3 * r + r[:7])
	END
}

a_link_is_followed_not_replaced() {
	write_spec
	run_for 0 run
	mv x.h5 want
	mkdir far
	: >far/y.h5
	rm x.run.json
	ln -s far/y.h5 x.h5
	run_for 0 run --force
	same far/y.h5 want
	run_for 0 "$CULPRIT" merge -f -o x.h5 want
	same far/y.h5 want
	[[ -L x.h5 ]]
	run_for 2 "$CULPRIT" merge -f -o x.h5 far/y.h5
	says_once 'is one of the files to merge'
	same far/y.h5 want
	ln -s nowhere z.h5
	run_for 3 "$CULPRIT" run spec.yaml -o z.h5
	says_once 'cannot follow the link z.h5'
	only_files spec.yaml want x.h5 z.h5 far far/y.h5 far/y.h5~ \
	    far/y.run.json
}

a_folder_that_cannot_be_written_is_named() {
	write_spec
	: >file
	run_for 3 "$CULPRIT" run spec.yaml -o file/x.h5
	says_once 'cannot make folder file: Not a directory'
	run_for 3 "$CULPRIT" run spec.yaml -o /proc/nowhere/x.h5
	says_once '/proc/nowhere'
	mkfifo pipe
	run_for 3 "$CULPRIT" run spec.yaml -o pipe --force
	says_once 'pipe: not a file'
	[[ -p pipe ]]
	run_for 2 "$CULPRIT" run spec.yaml -o ''
	says '--output'
	if [[ $(id -u) != 0 ]]; then
		mkdir locked
		chmod 555 locked
		run_for 3 "$CULPRIT" run spec.yaml -o locked/x.h5
		says_once 'locked/x.*Permission denied'
		rmdir locked
	fi
	only_files spec.yaml file pipe
}

own_mounts() {
	[[ $(id -u) = 0 ]] && unshare -m true 2>/dev/null ||
		skip "needs root and unshare -m"
}

a_full_disk_loses_nothing() {
	own_mounts
	write_spec
	run_for 0 run --runs 600
	mv x.h5 want
	rm x.run.json
	mkdir disk
	export CULPRIT
	export -f fail run_for says same
	unshare -m bash -eu <<-'END'
		mount -t tmpfs -o size=320k none disk
		go() {
			"$CULPRIT" run spec.yaml -q --runs 600 -o disk/x.h5 "$@"
		}
		# The journal meets the end of the disk.
		run_for 3 go
		says "disk/x.*No space left on device"
		says "finished cells are kept in the journal; the same command"
		[[ $(echo disk/*) = "disk/x.h5 disk/x.journal" ]] || {
			ls disk
			fail "other files than expected"
		}
		h5dump -H disk/x.h5 >/dev/null
		had=$("$CULPRIT" status --json disk/x.h5 |
			sed 's/.*"done": \([0-9]*\).*/\1/')
		((had > 0)) || fail "nothing was kept"
		# It is still full: nothing changes.
		run_for 3 go
		says "No space left on device"
		mount -o remount,size=64m disk
		run_for 0 go --json
		grep -q "\"before\": $had," stdout || {
			cat stdout
			fail "$had were kept"
		}
		same disk/x.h5 want
		# From the start no room for results: what was there stays.
		run_for 0 "$CULPRIT" run spec.yaml -o disk/x.h5 -q --force
		cp disk/x.h5 former
		dd if=/dev/zero of=disk/fill bs=4k status=none || true
		run_for 3 go --force
		says "No space left on device"
		same disk/x.h5 former
		rm disk/fill
		run_for 0 go --force
		same disk/x.h5 want
		same disk/x.h5~ former
	END
}

a_named_pipe_is_not_waited_for() {
	mkfifo pipe
	local verb
	for verb in run topo table gate explain diagnose jobs 'samples show' \
	    'verify --claims' 'samples bursts' 'convert -o x.h5 --edges pipe --trace'; do
		# shellcheck disable=SC2086
		code=0; timeout 60 "$CULPRIT" $verb pipe >/dev/null 2>stderr || code=$?
		[[ $code = 2 || $code = 3 ]] || fail "$verb: $code"
		says 'pipe'
	done
	only_files pipe
	# One without a name is what a shell makes.
	write_spec
	run_for 0 "$CULPRIT" run <(cat spec.yaml) -q -o x.h5
}

a_wrong_command_line_is_refused() {
	write_spec
	run_for 2 "$CULPRIT"
	run_for 2 "$CULPRIT" tabel
	says_once 'did you mean "table"'
	run_for 2 "$CULPRIT" xyzzy
	says_once 'culprit --help'
	run_for 2 "$CULPRIT" --verison
	says_once 'did you mean'
	run_for 2 run --smokee
	says_once 'no option --smokee; did you mean --smoke'
	run_for 2 run --xyzzy=3
	says_once 'no option --xyzzy; .*--help'
	run_for 2 run -Z
	says 'Z'
	# shellcheck disable=SC2046 # words are meant
	run_for 2 run $(seq -f '--set x%g=1' 257)
	says 'more than 256 --set'
	# shellcheck disable=SC2046
	run_for 2 "$CULPRIT" diagnose x.h5 $(seq -f '-a x%g' 65)
	says 'more than 64 --algorithm'
	# shellcheck disable=SC2046
	run_for 2 "$CULPRIT" ca x $(seq -f '--server x%g' 4097)
	says 'more than 4096 certificates'
	[[ ! -e x ]]
	run_for 2 "$CULPRIT" jobs x.h5 -o ''
	says '[-]o needs a name'
	run_for 2 "$CULPRIT" controller --config ''
	says '[-]-config needs a file.s name'
	run_for 2 "$CULPRIT" run
	says_once 'which SPEC'
	run_for 2 "$CULPRIT" run a b
	says_once '"b" is a second'
	run_for 2 run --point 1
	says_once '--point and --run'
	run_for 2 run --run 1
	says_once '--point and --run'
	run_for 2 run --point 4 --run 0
	says_once 'points 0 to 3 and runs 0 to 2'
	run_for 2 run --point 0 --run 3
	says_once 'points 0 to 3 and runs 0 to 2'
	for shard in 0/2 3/2 1/0 1 / 1/ /1 a/b 1/2/3 -1/2 1.0/2 auto auto/0; do
		run_for 2 run --shard "$shard"
		says_once '--shard'
	done
	for jobs in 0 -1 x 1.5 99999 ''; do
		run_for 2 run --jobs "$jobs"
		says_once '--jobs'
	done
	run_for 2 "$CULPRIT" table
	says_once 'which FILE'
	run_for 2 "$CULPRIT" table a b
	says_once '"b" is a second'
	run_for 2 "$CULPRIT" merge a
	says_once 'needs -o'
	run_for 2 "$CULPRIT" plot
	says_once 'which FILE'
	run_for 2 "$CULPRIT" plot x --format=svg,gif
	says_once 'svg, pdf and png'
	run_for 2 "$CULPRIT" algos voet
	says_once 'did you mean "vote"'
	run_for 2 "$CULPRIT" algos vote alg1
	says 'alg1|[Tt]oo many'
	run_for 2 "$CULPRIT" spec me
	says 'me|[Tt]oo many'
	only_files spec.yaml
}

# An option's value may look like an option, and options may be cut short.
an_odd_but_right_command_line_is_taken() {
	write_spec
	run_for 0 "$CULPRIT" run --smo --out --odd spec.yaml -q
	run_for 0 "$CULPRIT" run -o --odd --smoke -- spec.yaml
	run_for 0 "$CULPRIT" run -qo --odd --smoke -- spec.yaml
	only_files spec.yaml --odd --odd.run.json
}

missing_or_bad_results_are_named() {
	write_spec
	run_for 0 run --smoke
	echo "dear diary" >bad.h5
	for verb in table status plot; do
		run_for 3 "$CULPRIT" $verb nowhere
		says_once 'no file nowhere, and no results/out/nowhere.h5'
		run_for 3 "$CULPRIT" $verb ./nowhere.h5
		says_once './nowhere.h5'
		run_for 3 "$CULPRIT" $verb bad.h5
		says_once 'bad.h5'
	done
	mkdir -p results/out
	mv x.h5 results/out/small.h5
	run_for 3 "$CULPRIT" table smal
	says_once 'did you mean "small"'
	run_for 0 "$CULPRIT" table small
	cp results/out/small.h5 x.h5
	run_for 3 "$CULPRIT" merge -o y.h5 x.h5 bad.h5
	says_once 'bad.h5'
	run_for 3 "$CULPRIT" merge -o y.h5 x.h5 nowhere.h5
	says_once 'nowhere.h5'
	"$CULPRIT" run spec.yaml -q --runs 2 -o z.h5 >/dev/null
	run_for 2 "$CULPRIT" merge -o y.h5 x.h5 z.h5
	says_once 'z.h5'
	mkfifo pipe
	run_for 3 "$CULPRIT" merge -f -o pipe x.h5
	says_once 'pipe: not a file'
	[[ -p pipe && ! -e y.h5 ]]
	# One bad name does not hide the others.
	run_for 3 "$CULPRIT" status nowhere x.h5
	says 'x.h5' stdout
}

a_closed_or_full_stdout_is_an_error() {
	write_spec
	run_for 0 run
	for args in "table x.h5" "status x.h5" "algos" "spec" "topo" --help \
	    --version "run --help" "run --usage"; do
		code=0
		# shellcheck disable=SC2086 # words are meant
		"$CULPRIT" $args >/dev/full 2>stderr || code=$?
		[[ $code = 3 ]] || fail "$args >/dev/full: $code"
		says_once 'standard output|No space left'
		code=0
		# shellcheck disable=SC2086
		"$CULPRIT" $args >&- 2>stderr || code=$?
		[[ $code = 3 ]] || fail "$args >&-: $code"
		says_once 'standard output|Bad file'
	done
	# Nothing of a sweep's chatter gets into its files.
	mv x.h5 want
	code=0
	run 0<&- >&- 2>&- || code=$?
	[[ $code = 3 ]] || fail "run with all closed: $code"
	same x.h5 want
	# A reader that has enough ends `table` without a word.
	"$CULPRIT" table x.h5 2>stderr | head -c 10 >/dev/null
	[[ ! -s stderr ]]
}

files_past_the_limit_of_the_shell_are_an_error() {
	write_spec
	code=0
	(
		ulimit -f 8
		run 2>stderr
	) || code=$?
	[[ $code = 3 ]] || fail "exit $code"
	says_once 'cannot write .*x.h5.*: File too large'
	[[ ! -e x.h5 ]]
}

what_is_given_in_vain_is_told() {
	write_spec
	run_for 2 run --set faults.count=many
	says_once "the sweep varies faults.count, .*sweep.grid.faults.count=\\[many\\]'"
	run_for 0 run --set 'sweep.grid.faults.count=[2]'
	run_for 2 run --set faults.rate=0.5
	says_once 'the sweep varies faults.rate, with other keys of its zip'
	run_for 2 run --set traffic.hot_share=0.5
	says_once 'hot_share does nothing at any point: .*dst: skewed'
	run_for 2 run --set runs=1 --set runs=2
	says 'runs is given twice, 1 and 2'
	run_for 2 run --runs 1 --set runs=2
	says 'runs is given twice, 1 and 2'
	run_for 2 run --set faults.spread=1 --set 'faults={rate: 0.1}'
	says 'faults replaces faults.spread'
	run_for 2 run --smoke --set smoke.runs=2
	says_once 'smoke is put before'
	run_for 2 run --set 'gates=[]'
	says_once 'a run judges no gates'
	run_for 2 "$CULPRIT" topo --set kind=fat_tree --set n_pods=3
	says_once 'n_pods does nothing: .*kind: clos or region'
	rm -f x.*
	write_spec 'agents: { c_t: 3 }'
	run_for 0 run --set runs=1
	says_once '^culprit: warning: spec.yaml:17:1: agents does nothing'
	write_spec 'gates: []'
	run_for 0 run --set runs=1 --force
	says_once '^culprit: warning: spec.yaml: a run judges no gates'
	rm -f x.*
	only_files spec.yaml
}

# One file by its name, by another path and by a link.
names_of() { echo "$1 ./$1 link"; }

what_is_read_is_not_written_over() {
	write_spec
	run_for 0 "$CULPRIT" topo --set n_pods=1 --set n_tors=2 --graphml net.graphml
	sed 's/^topology: .*/topology: {kind: graphml, file: net.graphml}/' \
	    spec.yaml >net.yaml
	sed 's/^sweep:/gates: []\n&/' spec.yaml >gate.yaml
	cp spec.yaml spec.was
	cp net.graphml net.was
	for file in spec.yaml net.graphml; do
		ln -sf $file link
		for out in $(names_of $file); do
			for how in "run -f" run dump record; do
				# shellcheck disable=SC2086 # words are meant
				run_for 2 "$CULPRIT" $how -o "$out" \
				    ${file%.*}.yaml
				says 'would replace .*, which is read'
			done
		done
	done
	ln -sf net.graphml link
	for out in $(names_of net.graphml); do
		run_for 2 "$CULPRIT" topo net.graphml --graphml "$out"
		says_once 'would replace'
		run_for 2 "$CULPRIT" topo --set kind=graphml \
		    --set file=net.graphml --graphml "$out"
		says_once 'would replace'
	done
	same spec.yaml spec.was
	same net.graphml net.was
	run_for 0 run
	cp x.h5 x.tsv
	cp x.h5 x.svg
	run_for 2 "$CULPRIT" plot x.tsv -o .
	says_once 'would replace'
	run_for 2 "$CULPRIT" plot x.svg -o .
	says_once 'would replace'
	same x.tsv x.h5
	same x.svg x.h5
	cp "$tree/tests/accuracy/one_fault.yaml" one.yaml
	ln -sf one.yaml link
	for out in $(names_of one.yaml); do
		run_for 2 "$CULPRIT" gate one.yaml --junit "$out"
		says_once 'would replace'
	done
	same one.yaml "$tree/tests/accuracy/one_fault.yaml"
	run_for 0 "$CULPRIT" dump spec.yaml -o e.h5
	cp e.h5 e.was
	run_for 2 "$CULPRIT" diagnose e.h5 -b ./e.h5
	says_once 'would replace'
	same e.h5 e.was
}

# What a command did not write it does not replace, unless it is told to.
other_files_are_not_replaced() {
	write_spec
	echo "dear diary" >diary
	cp diary was
	run_for 2 "$CULPRIT" dump spec.yaml -o diary
	says_once 'diary exists, .*--force.*diary~'
	same diary was
	run_for 0 run
	cp x.h5 results
	run_for 2 "$CULPRIT" dump spec.yaml -o x.h5
	says_once 'x.h5 exists'
	same x.h5 results
	run_for 0 "$CULPRIT" dump spec.yaml -o diary --force
	same diary~ was
	cp diary epoch
	run_for 0 "$CULPRIT" dump spec.yaml -o diary --run 1
	same diary~ was
	! cmp -s diary epoch || fail "it was not written anew"
	mkfifo pipe
	run_for 3 "$CULPRIT" dump spec.yaml -o pipe --force
	says_once 'pipe: not a file'
	[[ -p pipe ]]
	# A damaged one may be all that somebody has.
	truncate -s -1 diary
	run_for 2 "$CULPRIT" dump spec.yaml -o diary
	says_once 'diary exists'
}

a_sweep_larger_than_its_memory_is_refused() {
	[[ $BUILD != *-san ]] || skip "sanitizers take memory"
	write_spec
	local large=(-s topology.n_hosts=1000000 -s traffic.conns=1 -s runs=1
	    -s 'sweep={}')
	# 8 bytes of each of 16 million links.
	(
		ulimit -v 122000
		run_for 2 "$CULPRIT" run spec.yaml "${large[@]}" -o x.h5
		says 'a process of this sweep takes 122 MiB of memory at least, and may have 119 MiB \(ulimit -v, ulimit -d\); --yes tries it' stderr
		[[ $(wc -l <stderr) = 1 && ! -e x.h5 ]]
		run_for 2 "$CULPRIT" tune spec.yaml alg1 -n 3 "${large[@]}"
		says_once 'takes 122 MiB of memory at least, .*; --yes tries it'
		run_for 3 "$CULPRIT" run spec.yaml "${large[@]}" --yes -o x.h5
		says '^culprit: warning: a process of this sweep takes 122 MiB' stderr
	)
}

run_tests a_mistake_in_a_spec_is_named_with_its_place \
    a_mistake_in_an_override_is_named a_missing_spec_is_named \
    results_that_are_not_ours_are_left_alone \
    journals_that_are_not_ours_are_left_alone \
    a_link_is_followed_not_replaced \
    a_folder_that_cannot_be_written_is_named a_full_disk_loses_nothing \
    a_wrong_command_line_is_refused an_odd_but_right_command_line_is_taken \
    missing_or_bad_results_are_named a_closed_or_full_stdout_is_an_error \
    files_past_the_limit_of_the_shell_are_an_error \
    a_sweep_larger_than_its_memory_is_refused \
    a_named_pipe_is_not_waited_for what_is_given_in_vain_is_told what_is_read_is_not_written_over other_files_are_not_replaced
