#!/bin/sh
# experiments/live/page/make.sh -- the page as one file, and what may run in it.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: make.sh OUT.html STYLE.css SCRIPT.js...   from the tree's root
# Writes OUT.html and OUT.html.h: its hash, and its content security policy, which
# names the inline style and script by theirs.
set -eu
out=$1 style=$2
shift 2
page=$(dirname "$0")/page.html
new=$out.new

hash_of() { # of standard input, as a policy has it
	# shellcheck disable=SC2046 # one word
	env printf "$(sha256sum | cut -c 1-64 | sed 's/../\\x&/g')" | base64
}

{ echo '"use strict";'; cat "$@"; } >"$out.js"
build=$(cat "$page" "$style" "$out.js" | sha256sum | cut -c 1-16)
awk -v style="$style" -v script="$out.js" -v build="$build" '
	function put(file,  line) {
		while ((getline line <file) > 0)
			print line
	}
	{ sub(/@BUILD@/, build) }
	/@STYLE@/ { sub(/@STYLE@.*/, ""); printf "%s", $0; put(style)
		print "</style>"; next }
	/@SCRIPT@/ { sub(/@SCRIPT@.*/, ""); printf "%s", $0; put(script)
		print "</script>"; next }
	{ print }' "$page" >"$new"
cat >"$out.h" <<END
#define LIVE_PAGE_BUILD "$build"
#define LIVE_PAGE_POLICY \\
	"default-src 'none'; script-src 'sha256-$(hash_of <"$out.js")'; " \\
	"style-src 'sha256-$(hash_of <"$style")'; img-src data:; " \\
	"connect-src 'self'; base-uri 'none'; form-action 'none'; " \\
	"frame-ancestors 'none'"
END
mv "$new" "$out"
