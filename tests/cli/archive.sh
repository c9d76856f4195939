#!/bin/bash
# tests/cli/archive.sh -- artifacts: made, checked elsewhere, tampered with.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# What is unpacked goes here, and must not be left.
export TMPDIR=$top/tmp
mkdir "$TMPDIR"

# A small artifact, once, as $top/a.tar.gz; its folder is $name.
make_artifact() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	if [[ ! -e $top/a.tar.gz ]]; then
		(
			cd "$tree"
			B=$(realpath --relative-to=. "$BUILD") FIG=vigil_fig05a \
			    SMOKE=1 TO=$top/made .packaging/artifact.sh
		) >"$top/made.log" 2>&1 || { cat "$top/made.log"; fail "artifact"; }
		mv "$top"/made/*.tar.gz "$top/a.tar.gz"
	fi
	name=$(tar tzf "$top/a.tar.gz" | head -n 1)
	name=${name%/}
	tar xzf "$top/a.tar.gz"
}

pack() { # as make artifact does, of the folder as it stands
	tar -cz --sort=name --owner=0 --group=0 -f bad.tar.gz "$name"
}

manifest() {
	(
		cd "$name"
		find . -type f ! -name MANIFEST.sha256 -printf '%P\n' | sort |
			xargs sha256sum >MANIFEST.sha256
	)
}

# refused PATTERN [CODE]: bad.tar.gz fails by such a line, and nothing is left.
refused() {
	run_for "${2-1}" "$CULPRIT" verify --archive bad.tar.gz
	says "^FAIL .*$1" stdout
	[[ $(ls -A "$TMPDIR") = "" ]] || fail "something is left"
}

what_is_made_is_good() {
	make_artifact
	mkdir elsewhere
	cd elsewhere
	run_for 0 "$CULPRIT" verify --archive "$top/a.tar.gz"
	for part in archive checksums results spec table cells; do
		says "^PASS +$part " stdout
	done
	says '^PASS +cells .* 3 of 12 run again .*same to the last bit$' stdout
	says ' passed, 0 failed, 0 skipped$' stdout
	run_for 0 "$CULPRIT" verify --archive "$top/a.tar.gz" --rerun -j 2
	says '12 of 12 run again: the same to the last bit' stdout
	run_for 0 "$CULPRIT" verify --archive "$top/a.tar.gz" --cells 0
	says '^SKIPPED +cells' stdout
	only_files
	[[ $(ls -A "$TMPDIR") = "" ]]
}

# Dates, owners and order are not those of the day.
it_is_made_the_same_again() {
	make_artifact
	tar tvzf "$top/a.tar.gz" --full-time --utc >list
	[[ $(awk '{ print $2 }' list | sort -u) = 0/0 ]]
	[[ $(awk '{ print $4, $5 }' list | sort -u | wc -l) = 1 ]]
	awk '{ print $6 }' list | grep -v '/$' >names
	LC_ALL=C sort names | same - names
	for file in README.md VERSION MANIFEST.sha256 CITATION.cff \
	    specs/vigil_fig05a.yaml results/vigil_fig05a.h5 \
	    tables/vigil_fig05a.tsv figures/vigil_fig05a.svg; do
		[[ -s $name/$file ]] || fail "no $file"
	done
	(cd "$name" && sha256sum --check --strict --quiet MANIFEST.sha256)
	! grep -q @ "$name/README.md" || fail "README.md is not filled in"
	! grep -rqF "$HOSTNAME" "$name" || [[ ${#HOSTNAME} -lt 6 ]] ||
		fail "it names the host"
}

one_byte_is_seen() {
	make_artifact
	for file in results/vigil_fig05a.h5 figures/vigil_fig05a.svg README.md; do
		cp "$name/$file" kept
		printf '\x55' | dd of="$name/$file" bs=1 seek=100 conv=notrunc \
		    status=none
		cmp -s "$name/$file" kept && fail "no change"
		pack
		refused "checksums .*$file: its bytes"
		mv kept "$name/$file"
	done
	# With a new checksum HDF5's own seal is still broken.
	printf '\x55' | dd of="$name/results/vigil_fig05a.h5" bs=1 seek=5000 \
	    conv=notrunc status=none
	manifest
	pack
	refused "results +vigil_fig05a"
}

missing_and_further_files_are_seen() {
	make_artifact
	mv "$name/README.md" .
	pack
	refused 'README.md is missing'
	mv README.md "$name"
	touch "$name/specs/other.yaml"
	pack
	refused 'specs/other.yaml is one too many'
	rm "$name/specs/other.yaml" "$name/MANIFEST.sha256"
	pack
	refused 'it has no MANIFEST.sha256'
	manifest
	echo nonsense >>"$name/MANIFEST.sha256"
	pack
	refused 'no line of a checksum'
	rm -r "$name/results"
	manifest
	pack
	refused 'no file results/NAME.h5'
}

# Everything is whole, yet the parts are not of each other.
forged_parts_are_seen() {
	make_artifact
	cp "$name/tables/vigil_fig05a.tsv" kept
	sed -i '$s/[0-9]/7/g' "$name/tables/vigil_fig05a.tsv"
	manifest
	pack
	refused 'table +vigil_fig05a .* from row [0-9]+ on'
	says '^PASS +cells' stdout
	mv kept "$name/tables/vigil_fig05a.tsv"
	echo "# a remark" >>"$name/specs/vigil_fig05a.yaml"
	manifest
	pack
	refused 'spec +vigil_fig05a .*not the spec that the results hold'
	says '^FAIL +cells .*not the one that the results hold' stdout
}

# forge STATEMENTS: python's, of the results as `f`; sealed anew.
forge() {
	/usr/bin/python3 - "$name/results/vigil_fig05a.h5" "$1" <<-'END'
		import h5py, sys
		path = sys.argv[1]
		data = open(path, "rb").read()
		assert data[-16:-8] == b"culpritR"
		open(path, "wb").write(data[:-16])
		with h5py.File(path, "r+") as f:
		    exec(sys.argv[2])
		data = open(path, "rb").read()
		h = 0xcbf29ce484222325
		for b in data:
		    h = (h ^ b) * 0x100000001b3 & (1 << 64) - 1
		open(path, "wb").write(data + b"culpritR" + h.to_bytes(8, "little"))
	END
	"$CULPRIT" plot -o . --format svg "$name/results/vigil_fig05a.h5"
	mv vigil_fig05a.tsv "$name/tables"
	manifest
	pack
}

# Numbers that no run gives, with a table, a seal and checksums that fit.
forged_numbers_are_seen() {
	/usr/bin/python3 -c 'import h5py' || skip "no python3-h5py"
	make_artifact
	forge 'f["n_drops"][...] += 1'
	refused 'cells +vigil_fig05a .*3 have other numbers'
	says '^PASS +table' stdout
	# As of another build; the same digits are still demanded.
	forge 'f.attrs["build"] = "0123456789abcdef"'
	refused 'cells .*by another build: 0 the same to 9 digits'
	# As of other libraries: a test of two samples, for which three runs a
	# point are too few.
	forge 'f.attrs["libraries"] = "GSL 1.0"'
	run_for 0 "$CULPRIT" verify --archive bad.tar.gz --rerun
	says '^SKIPPED +cells .*: 0 the same .* too few runs$' stdout
	# Of a sample, in which no run has all points, likewise.
	run_for 0 "$CULPRIT" verify --archive bad.tar.gz
	says '^SKIPPED +cells .*: 0 the same .* of [1-9][0-9]* num.* too few runs$' stdout
	"$CULPRIT" run vigil_fig05a --runs 15 --fresh -q \
	    -o "$name/results/vigil_fig05a.h5"
	rm "$name"/results/*~ "$name"/results/*.json
	forge 'f.attrs["libraries"] = "GSL 1.0"; f["n_drops"][...] += 1'
	run_for 0 "$CULPRIT" verify --archive bad.tar.gz --rerun
	says '^PASS +cells .*: 0 the same .* 0 of [0-9]+ numbers differ' stdout
	forge 'f["n_drops"][...] *= 2'
	run_for 1 "$CULPRIT" verify --archive bad.tar.gz --rerun
	says '^FAIL +cells .*: 0 the same .* numbers differ by a test' stdout
	says 'n_drops .*, was ' stderr
}

# No run of a sample has all points, and more than 500 have no lines of their own.
a_sample_of_very_many_points_is_too_few() {
	/usr/bin/python3 -c 'import h5py' || skip "no python3-h5py"
	make_artifact
	cat >"$name/specs/vigil_fig05a.yaml" <<-END
		figure: vigil_fig05a
		seed: 7
		runs: 1
		topology: { n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2 }
		traffic: { conns: 5, packets: 50 }
		faults: { count: 1, rate: 1e-1 }
		algorithms: [vote, integer, binary, cover]
		sweep: { grid: { faults.rate: [$(seq -s, -f 0.%03g 501)] } }
	END
	"$CULPRIT" run "$name/specs/vigil_fig05a.yaml" --fresh -q \
	    -o "$name/results/vigil_fig05a.h5"
	rm "$name"/results/*~ "$name"/results/*.json
	forge 'f.attrs["libraries"] = "GSL 1.0"; f["n_drops"][...] += 1'
	run_for 0 "$CULPRIT" verify --archive bad.tar.gz
	says '^SKIPPED +cells .*; 0 of 0 numbers .* too few runs$' stdout
}

# Other libraries are no reason to doubt what is the same to the last bit.
another_build_may_give_the_same() {
	/usr/bin/python3 -c 'import h5py' || skip "no python3-h5py"
	make_artifact
	forge 'f.attrs["build"] = "0123456789abcdef"
f.attrs["libraries"] = "GSL 1.0"'
	run_for 0 "$CULPRIT" verify --archive bad.tar.gz
	says '^PASS +cells .* run again .*the same to the last bit' stdout
}

# Nothing is written elsewhere, whatever the names and links.
hostile_archives_write_nothing() {
	make_artifact
	mkdir out
	echo good >out/victim
	pack_also() { # TAR'S ARGUMENTS... behind the good files
		rm -f bad.tar bad.tar.gz
		tar -cf bad.tar "$name"
		tar -rf bad.tar "$@"
		gzip bad.tar
	}
	echo evil >evil
	pack_also -P --transform 's,^evil$,../out/victim,' evil
	refused '"../out/victim" leads out'
	pack_also -P --transform "s,^evil\$,$name/../../out/victim," evil
	refused 'leads out of its folder'
	pack_also -P --transform "s,^evil\$,$PWD/out/victim," evil
	refused 'leads out of its folder'
	pack_also --transform 's,^evil$,evil,' evil
	refused '"evil" is in no folder'
	# A link, and a file through it.
	ln -s "$PWD/out" "$name/link"
	pack
	refused 'is a symbolic link'
	rm "$name/link"
	ln "$name/README.md" "$name/twin"
	pack
	refused 'is a hard link'
	rm "$name/twin"
	mkfifo "$name/pipe"
	pack
	refused 'is a pipe'
	rm "$name/pipe"
	touch "$name/a b"
	pack
	refused 'other letters'
	rm "$name/a b"
	touch "$name/"$'a\nb'
	pack
	refused 'other letters'
	rm "$name/"$'a\nb'
	chmod u+s "$name/README.md"
	pack
	refused 'rights that no file of results has'
	chmod u-s "$name/README.md"
	pack_also "$name/README.md"
	refused '"README.md" is in it twice'
	[[ $(cat out/victim) = good && $(ls out) = victim ]]
	# Options of one's own are not those of ours.
	pack
	run_for 0 env TAR_OPTIONS="--to-command=touch\ $PWD/out/ran" \
	    "$CULPRIT" verify --archive bad.tar.gz --cells 0
	[[ $(ls out) = victim ]]
}

what_is_no_archive_is_told() {
	make_artifact
	for n in 0 10 1000 $(($(stat -c %s "$top/a.tar.gz") - 4)); do
		head -c "$n" "$top/a.tar.gz" >bad.tar.gz
		refused 'archive .*(no gzipped tar, or not whole|holds no files)'
	done
	echo "no archive" >bad.tar.gz
	refused 'no gzipped tar'
	rm bad.tar.gz
	refused 'cannot read bad.tar.gz: No such file' 3
	for words in "--cells 3" "--rerun" "-j 2" \
	    "--archive x.tar.gz vigil_fig05a" "--archive x.tar.gz --json"; do
		# shellcheck disable=SC2086 # words are meant
		run_for 2 "$CULPRIT" verify $words
		says_once archive
	done
}

run_tests what_is_made_is_good it_is_made_the_same_again one_byte_is_seen \
    missing_and_further_files_are_seen forged_parts_are_seen \
    forged_numbers_are_seen a_sample_of_very_many_points_is_too_few \
    another_build_may_give_the_same \
    hostile_archives_write_nothing \
    what_is_no_archive_is_told
