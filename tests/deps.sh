#!/bin/sh
# tests/deps.sh -- installs the Debian packages named, if any is missing.
# SPDX-License-Identifier: GPL-3.0-or-later
set -eu
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
	for tool in cc make pkg-config gnuplot; do
		command -v "$tool" >/dev/null || missing=1
	done
	if [ "${missing-0}" = 0 ] &&
	    pkg-config --exists gsl igraph hdf5 yaml-0.1; then
		exit 0
	fi
	echo "This system has no apt. Install what these Debian packages hold:"
	echo "  $*"
	exit 1
fi
missing=
for package; do
	case $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) in
	ii*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0
echo "Installing:$missing"
as_root=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || {
		echo "Not root and no sudo; as root: apt-get install$missing"
		exit 1
	}
	as_root=sudo
fi
$as_root apt-get update -q
# shellcheck disable=SC2086 # a list of words is meant
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
    --no-install-recommends $missing
