#!/bin/bash
# .packaging/artifact.sh -- specs, results, figures and checksums as one archive.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: B=build J=2 FIG='vigil_*' SMOKE=1 TO=build artifact.sh
# Runs what is missing, draws it, verifies, and packs all of it into
# TO/culprit-artifact-VERSION.tar.gz: sorted, without owners, all dates the
# commit's. `culprit verify --archive` checks it elsewhere. FIG chooses figures
# by patterns, SMOKE=1 their small sweeps. Nothing in it tells the host or the
# user, as reviews may be blind.
set -euo pipefail
B=${B:-build} J=${J:-1} FIG=${FIG:-*} SMOKE=${SMOKE:-} TO=${TO:-${B:-build}}
culprit=$B/culprit
version=$("$culprit" --version | sed -n 's/^culprit \([0-9.]*\) .*/\1/p')
name=culprit-artifact-$version
work=$TO/artifact
folder=$work/$name
epoch=$(cat "$B/date.txt")

figures=()
read -ra patterns <<<"$FIG"
for pattern in "${patterns[@]}"; do
	for f in experiments/$pattern.yaml; do
		[[ -e $f ]] || continue
		f=$(basename "$f" .yaml)
		# On real networks figures take their time, and root: by name.
		[[ $pattern = \* && $f = real_* ]] || figures+=("$f")
	done
done
((${#figures[@]} > 0)) || { echo "no figure matches $FIG" >&2; exit 2; }

rm -rf "$work"
mkdir -p "$folder"/{specs,results,tables,figures}
for f in "${figures[@]}"; do
	cp "experiments/$f.yaml" "$folder/specs"
	# Results of this build that are there already are not made again.
	if [[ -n $SMOKE ]]; then
		out=$work/out/$f.h5
		mkdir -p "$work/out"
		"$culprit" run "$f" --smoke --quiet -j "$J" -o "$out"
	else
		out=results/out/$f.h5
		"$culprit" run "$f" --force --quiet -j "$J" -o "$out"
	fi
	cp "$out" "$folder/results/$f.h5"
	# Of the results where they were made: the record of when is beside them.
	"$culprit" plot -o "$folder/figures" "$out" >/dev/null
	mv "$folder/figures/$f.tsv" "$folder/tables"
done

# Its exit code says what the papers' claims come to; all of that is in the file.
if [[ -z $SMOKE ]]; then
	"$culprit" verify "${figures[@]}" >"$folder/verify.txt" 2>&1 ||
		echo "some claims or tables differ: see verify.txt in it"
fi
if "$culprit" report --help >/dev/null 2>&1; then
	"$culprit" report "$folder"/results/*.h5 -o "$folder/report.html" \
	    >/dev/null
fi
{
	"$culprit" --version
	echo "gnuplot $(gnuplot --version 2>/dev/null || echo none)"
} >"$folder/VERSION"
"$culprit" --cite cff >"$folder/CITATION.cff"
sed "s/@VERSION@/$version/g; s/@NAME@/$name/g
    s/@SIZE@/${SMOKE:+the small sweeps of the }/" .packaging/artifact.md \
    >"$folder/README.md"
(
	cd "$folder"
	find . -type f ! -name MANIFEST.sha256 -printf '%P\n' | LC_ALL=C sort |
		xargs -d '\n' sha256sum >MANIFEST.sha256
)
tar --create --directory="$work" --sort=name --owner=0 --group=0 \
    --numeric-owner --mode='u=rwX,go=rX' --mtime="@$epoch" --format=ustar \
    "$name" | gzip -9 -n >"$TO/$name.tar.gz.new"
mv "$TO/$name.tar.gz.new" "$TO/$name.tar.gz"
rm -rf "$work"
echo "$TO/$name.tar.gz: ${#figures[@]} figures," \
    "$(stat -c %s "$TO/$name.tar.gz") bytes, sha256" \
    "$(sha256sum "$TO/$name.tar.gz" | cut -c 1-16)..."
echo "culprit verify --archive $TO/$name.tar.gz checks it"
