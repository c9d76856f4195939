#!/bin/sh
# .packaging/install.sh -- what `make install` puts where, and takes away.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: PREFIX=/usr/local [DESTDIR=] install.sh install|uninstall BUILD
set -eu
what=$1 build=$2
: "${PREFIX:?}"
to=${DESTDIR-}$PREFIX
own="share/culprit share/doc/culprit include/culprit" # folders that nobody else has files in
version=$(sed -n 's/^#define CULPRIT_VERSION "\(.*\)"$/\1/p' \
    results/provenance.c)

# A line a file: mode, source, and where it goes below PREFIX.
list() {
	echo "755 $build/culprit bin/culprit"
	echo "644 algos/pingmesh/pinglist.xsd share/culprit/pinglist.xsd"
	for f in alerts.yaml dashboard.json agent.yaml controller.yaml \
	    collector.yaml daemonset.yaml; do
		echo "644 experiments/live/$f share/culprit/$f"
	done
	echo "644 experiments/plug/culprit_algo.py share/culprit/culprit_algo.py"
	echo "644 experiments/plug/mine.py share/culprit/mine.py"
	echo "644 experiments/plug/mine.c share/culprit/mine.c"
	echo "644 algos/plugin.h include/culprit/plugin.h"
	for f in experiments/*.yaml experiments/arena/*.yaml \
	    experiments/arena/*.tsv results/expected/* plots/*.gp; do
		echo "644 $f share/culprit/$f"
	done
	for f in $("$program" man --list); do
		echo "644 $build/man/$f share/man/man${f##*.}/$f"
	done
	for f in README.md .github/CHANGELOG.md; do
		echo "644 $f share/doc/culprit/${f##*/}"
	done
	at=.packaging/completion
	echo "644 $at/culprit.bash share/bash-completion/completions/culprit"
	echo "644 $at/culprit.zsh ${ZSHDIR-share/zsh/site-functions}/_culprit"
	echo "644 $at/culprit.fish share/fish/vendor_completions.d/culprit.fish"
	echo "644 $build/install/culprit.pc share/pkgconfig/culprit.pc"
	for f in experiments/systemd/*.service; do
		echo "644 $build/install/${f##*/} lib/systemd/system/${f##*/}"
	done
}

# Those that name where they are installed. systemd takes a program whose path
# has blanks in quotes.
make_files() {
	plain=$(printf '%s' "$PREFIX" | sed 's/[&\\,]/\\&/g')
	there=$plain/bin/culprit
	case $PREFIX in *' '*) there=\"$there\" ;; esac
	mkdir -p "$build/install"
	for f in experiments/systemd/*.service; do
		sed "s,/usr/local/bin/culprit,$there,
			s,/usr/local/share/,$plain/share/," "$f" \
		    >"$build/install/${f##*/}"
	done
	sed "s,@PREFIX@,$plain,; s,@VERSION@,$version," \
	    .packaging/culprit.pc.in >"$build/install/culprit.pc"
}

case $what in
install)
	program=$build/culprit
	make_files
	list | while read -r mode from name; do
		install -D -m "$mode" "$from" "$to/$name"
	done
	;;
uninstall)
	# What is installed tells its pages; nothing has to be built for it.
	program=$to/bin/culprit
	[ -x "$program" ] || program=:
	names=$(list)
	echo "$names" | while read -r _ _ name; do
		rm -f "$to/$name"
	done
	# Folders go too, but those that hold what somebody else put there.
	for d in $own; do
		[ ! -d "$to/$d" ] || find "$to/$d" -depth -type d -empty -delete
	done
	;;
esac
