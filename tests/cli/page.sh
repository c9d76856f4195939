#!/bin/bash
# tests/cli/page.sh -- a collector's page over HTTP: its policy, its readers.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tests/browser/live.sh looks at it in a browser.
. tests/cli/lib/common.sh
. tests/cli/lib/serve.sh

lib=$tree/tests/cli/lib
export PYTHONDONTWRITEBYTECODE=1

needs_servers() {
	! "$CULPRIT" collector --dir d --listen x 2>&1 | grep -q 'built without' ||
		skip "no libmicrohttpd"
}

make_db() { # OUT N_PODS N_WINDOWS END_S
	python3 "$tree/tests/browser/live_db.py" "$tree/results/sql/schema.sql" \
	    "$@"
}

# By another program than the one that made the hashes.
the_policy_names_what_is_in_the_page() {
	needs_servers
	own_servers
	serve c collector --dir d --listen $any
	curl -sSi "$url_c" >page
	python3 - <<-'END'
		import base64, hashlib, re
		head, body = open("page", newline="").read().split("\r\n\r\n", 1)
		policy = re.search("Content-Security-Policy: (.*)", head)[1]
		for what in "script", "style":
		    inside = re.findall(f"<{what}>(.*?)</{what}>", body, re.S)
		    assert len(inside) == 1 and len(inside[0]) > 1000
		    h = base64.b64encode(
		        hashlib.sha256(inside[0].encode()).digest()).decode()
		    assert f"{what}-src 'sha256-{h}'" in policy, (what, h, policy)
		assert policy.startswith("default-src 'none';"), policy
		assert not re.search("https?://(?!www.w3.org/2000/svg)", body)
	END
	curl -sSI "$url_c" >head
	says '^Content-Length: [0-9]{5}' head
	[[ $(curl -s -o out -w '%{http_code}' -H "If-None-Match: $(
		sed -n 's/^ETag: \(.*\)\r$/\1/p' head)" "$url_c") = 304 ]]
	end_of c
}

status_of() { curl -s -o answer -w '%{http_code}' "$@"; }

# shellcheck disable=SC2046 # words are meant
its_readers_are_those_of_metrics() {
	needs_servers
	own_servers
	make_db a.db 3 2 $(($(date +%s) / 600 * 600))
	serve c collector --dir d --listen $any --db a.db
	[[ $(status_of "${url_c}v1/alerts/0") = 200 ]]
	[[ $(status_of -H 'Host: elsewhere.example' "${url_c}v1/alerts/0") = 403 ]]
	[[ $(status_of -H 'Origin: http://x' "${url_c}v1/now") = 403 ]]
	[[ $(status_of -X DELETE "${url_c}v1/now") = 405 ]]
	[[ $(status_of -d x "${url_c}v1/now") = 404 ]]
	[[ $(status_of "${url_c}v1/alerts/0?x") = 404 ]]
	end_of c
	"$CULPRIT" ca ca --server 127.0.0.1 --agent 10.0.0.1 >/dev/null 2>&1 ||
		skip "no GnuTLS"
	: >t.out
	"$CULPRIT" collector --dir d --listen $any --db a.db --ca ca/ca.pem \
	    --cert ca/127.0.0.1.pem --key ca/127.0.0.1.key "${as_user[@]}" \
	    >t.out 2>t.err &
	within 10 grep -q '^https' t.out
	local url
	url=$(sed 's,: .*,,' t.out) me="--cert ca/10.0.0.1.pem --key ca/10.0.0.1.key"
	[[ $(status_of --cacert ca/ca.pem $me "${url}v1/now") = 200 ]]
	[[ $(json answer 'd["database"]["dcs"]["rows"]') = '[[0]]' ]]
	[[ $(status_of --cacert ca/ca.pem $me "$url") = 200 ]]
	! status_of --cacert ca/ca.pem "${url}v1/now" || fail "a stranger is told"
}

# Each pair is a query of its own. Some are refused, and no batch is.
batches_are_taken_while_the_page_is_looked_at() {
	needs_servers
	own_servers
	make_db a.db 40 30 $(($(date +%s) / 600 * 600))
	serve c collector --dir d --listen $any --db a.db --threads 2
	python3 "$lib/onlookers.py" "$url_c" 32 /v1/pair/10min/0/1/%\(i\)d \
	    /v1/pair/10min/0/%\(i\)d/7 /v1/now / >looked 2>looked.err &
	local looks=$!
	within 20 test -e looking
	python3 "$lib/agent.py" post c.out 1 100 >posted
	touch stop
	wait $looks || { cat looked.err; fail "nobody looks"; }
	cat looked
	[[ $(wc -l <posted) = 100 ]]
	says '^200=[0-9]+ ' looked
	curl -s "${url_c}health" >health
	[[ $(json health '[d["batches_taken"], d["not_stored"], d["late"]]') = \
	    "[100, 0, 0]" ]]
	end_of c
}

mistakes_are_named() {
	run_for 2 "$CULPRIT" collector --dir d --db a.db --export x.h5
	says 'db is not for --export'
	run_for 2 "$CULPRIT" collector --dir d --db
}

run_tests the_policy_names_what_is_in_the_page \
    its_readers_are_those_of_metrics \
    batches_are_taken_while_the_page_is_looked_at \
    mistakes_are_named
