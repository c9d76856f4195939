#!/bin/bash
# tests/cli/lib/serve.sh -- controllers and collectors that a test starts.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# To be sourced after common.sh.

# serve NAME VERB OPTION...: waits until it listens; sets pid_NAME, url_NAME and
# port_NAME. What it prints goes to NAME.out.
serve() {
	local name=$1 url
	shift
	: >"$name.out"
	"$CULPRIT" "$@" "${as_user[@]}" >"$name.out" 2>"$name.err" &
	printf -v "pid_$name" %d $!
	within 10 grep -q '^http' "$name.out" || {
		cat "$name.err"
		fail "$name does not listen"
	}
	url=$(sed 's/: .*//' "$name.out")
	printf -v "url_$name" %s "$url"
	printf -v "port_$name" %s "$(sed -E 's,.*:([0-9]+)/.*,\1,' "$name.out")"
}

any=127.0.0.1:0

# Whatever becomes of a test, its servers go with it.
own_servers() { trap 'kill -9 $(jobs -p) 2>/dev/null || :' EXIT; }

end_of() { # NAME: exits with 0 on SIGTERM
	local pid=pid_$1 code=0
	kill "${!pid}"
	wait "${!pid}" || code=$?
	[[ $code = 0 ]] || { cat "$1.err"; fail "$1 -> exit code $code"; }
	[[ ! -s $1.err ]] || { cat "$1.err"; fail "$1 complained"; }
}
