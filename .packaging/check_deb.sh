#!/bin/bash
# .packaging/check_deb.sh -- the package of `make deb` in a fresh Debian.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A minimal system of the same release as this one is put into a temporary
# folder; there the package is installed by apt, used, and removed. All mounts
# are of a namespace that ends with this script, and the folder goes with it.
# Says SKIPPED and why where that can't be done.
set -euo pipefail
skip() {
	echo "check-deb SKIPPED: $*"
	exit 0
}
[[ $(id -u) = 0 ]] || skip "it takes root"
for tool in debootstrap unshare chroot; do
	command -v $tool >/dev/null || skip "no $tool here"
done
if [[ -z ${CHECK_DEB-} ]]; then
	unshare --mount --pid --fork true 2>/dev/null ||
		skip "no mounts of its own (unshare --mount --pid)"
	CHECK_DEB=1 exec unshare --mount --pid --fork --kill-child \
	    --propagation private "$0" "$@"
fi

deb=$(realpath build/deb/culprit_*.deb)
# shellcheck disable=SC1091 # of the system
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' \
    'Created-By: Packages' | awk -v s="$suite" \
    '$2 == s && $3 == "main" { print $1; exit }')
[[ -n $mirror ]] || skip "apt here has no mirror of $suite"
proxy=$(apt-config shell p Acquire::http::Proxy) && eval "$proxy"
[[ -z ${p-} ]] || export http_proxy=$p

root=$(mktemp -d -p "${TMPDIR:-/var/tmp}" culprit-deb-XXXXXX)
trap 'umount -l "$root/proc" 2>/dev/null || true
	rm -rf --one-file-system "$root"' EXIT
echo "debootstrap $suite from $mirror into $root"
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 || {
	why=$(tail -n 1 "$root.log")
	rm -f "$root.log"
	skip "debootstrap: $why"
}
rm -f "$root.log"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
cp "$deb" "$root/culprit.deb"
cp /etc/resolv.conf "$root/etc/resolv.conf"
[[ -z ${p-} ]] || echo "Acquire::http::Proxy \"$p\";" \
    >"$root/etc/apt/apt.conf.d/proxy"

in_root() {
	echo "+ $*"
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
	    DEBIAN_FRONTEND=noninteractive chroot "$root" sh -c "$*"
}
quietly() {
	in_root "$@" >"$root/log" 2>&1 || {
		cat "$root/log"
		exit 1
	}
	head -n 1 "$root/log"
}
# Without the network there is nothing to install from.
in_root apt-get update -q >"$root/log" 2>&1 ||
	skip "apt-get update: $(tail -n 1 "$root/log")"
quietly apt-get install -q -y man-db
quietly apt-get install -q -y /culprit.deb
in_root culprit --version
in_root 'mkdir /work && cd /work && culprit run vigil_fig05a --smoke'
in_root 'cd /work && culprit plot vigil_fig05a'
in_root 'cd /work && test -s plots/out/vigil_fig05a.svg'
in_root 'cd /work && culprit table vigil_fig05a | head -n 1 | cut -c 1-60'
in_root 'man culprit-run | grep -A 2 NAME'
in_root 'man 5 culprit-spec | grep -A 2 NAME'
in_root 'cd / && culprit complete run vigil_fig05 | cut -f 1 | xargs'
in_root 'bash -c ". /usr/share/bash-completion/completions/culprit
	complete -p culprit"'
# What was made by another build is checked by this one.
artifact=${deb##*/culprit_}
artifact=build/culprit-artifact-${artifact%%-*}.tar.gz
if [[ -e $artifact ]]; then
	cp "$artifact" "$root/artifact.tar.gz"
	in_root 'culprit verify --archive /artifact.tar.gz'
fi
# Nobody asked for daemons.
in_root 'test ! -e /etc/systemd/system/multi-user.target.wants/culprit-agent.service'
quietly dpkg --purge culprit
in_root 'test ! -e /usr/bin/culprit && test ! -e /usr/share/culprit' \
    '&& test ! -e /usr/share/doc/culprit'
in_root "find /usr /etc -xdev -name '*culprit*' | grep . && exit 1 || true"
echo "check-deb PASS: $(basename "$deb") on $suite"
