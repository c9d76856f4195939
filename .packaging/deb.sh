#!/bin/bash
# .packaging/deb.sh -- a Debian package of this tree, in build/deb.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Built out of the tree, from a copy of what git tracks, as it stands; where git
# knows nothing, of all that is no output. The same commit gives the same bytes on
# the same system: all dates are the commit's.
# DEBFULLNAME and DEBEMAIL, as for Debian's own tools, say who made it.
set -euo pipefail
for tool in dpkg-buildpackage dh; do
	command -v $tool >/dev/null || {
		echo "make deb needs build-essential and debhelper; no $tool here" >&2
		exit 1
	}
done
version=$(sed -n 's/^#define CULPRIT_VERSION "\(.*\)"$/\1/p' \
    results/provenance.c)
# The Makefile knows both, in a tree of git's and in an archive of one.
make --no-print-directory --silent build/commit.txt build/date.txt
commit=$(cat build/commit.txt)
SOURCE_DATE_EPOCH=$(cat build/date.txt)
maintainer="${DEBFULLNAME:-The culprit authors} \
<${DEBEMAIL:-culprit@users.noreply.github.com}>"
export SOURCE_DATE_EPOCH
out=build/deb
copy=$out/culprit-$version
rm -rf $out
mkdir -p "$copy"
{
	git --git-dir=.git ls-files -z 2>/dev/null ||
		find . -type f ! -path './.git/*' ! -path './build*' \
		    ! -path './*/out/*' -print0
} | tar --create --null --files-from=- --ignore-failed-read |
	tar --extract --directory="$copy"
# There is no git to ask in the copy.
echo "$commit $SOURCE_DATE_EPOCH" >"$copy/.packaging/commit"
cp -r .packaging/deb "$copy/debian"
sed -i "s/@MAINTAINER@/$maintainer/" "$copy/debian/control"
cat >"$copy/debian/changelog" <<END
culprit ($version-1) unstable; urgency=medium

  * Commit $commit; what changed is in CHANGELOG.md.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
(
	cd "$copy"
	unset MAKEFLAGS MAKELEVEL MFLAGS CFLAGS CPPFLAGS LDFLAGS
	DEB_BUILD_OPTIONS="noautodbgsym parallel=${J:-$(nproc)}" \
	    nice dpkg-buildpackage --build=binary --unsigned-changes \
	    --no-pre-clean >../build.log 2>&1
) || {
	tail -n 30 $out/build.log
	exit 1
}
ls $out/*.deb
if command -v lintian >/dev/null; then
	lintian --allow-root --tag-display-limit 0 $out/*.changes
fi
