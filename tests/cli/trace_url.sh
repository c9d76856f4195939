#!/bin/bash
# tests/cli/trace_url.sh -- culprit trace and a running analyzer: asked, answered.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The analyzer is a stand-in that notes what it is asked and answers what the test
# has laid down; the real one takes root (tests/real/trace_serve.sh).
. tests/cli/lib/common.sh

(cd "$top" && "$CULPRIT" trace get http://127.0.0.1:1 2>&1) |
	grep -q 'built without libcurl' && {
	echo "SKIP built without libcurl"
	exit 0
}

/usr/bin/python3 - "$top" <<-'END' &
	import http.server, json, os, sys
	os.chdir(sys.argv[1])
	class Stand(http.server.BaseHTTPRequestHandler):
	    def answer(self):
	        with open('asked', 'a') as f:
	            f.write(f'{self.command} {self.path}\n')
	        with open('answer') as f:
	            a = json.load(f)
	        body = a['body'].encode()
	        self.send_response_only(a['status'])
	        self.send_header('Content-Length', len(body) + a.get('cut', 0))
	        for k, v in a.get('head', {}).items():
	            self.send_header(k, v)
	        self.end_headers()
	        self.wfile.write(body)
	    do_GET = do_POST = do_DELETE = answer
	    def log_message(self, *args): pass
	s = http.server.HTTPServer(('127.0.0.1', 0), Stand)
	with open('port.new', 'w') as f: f.write(str(s.server_port))
	os.rename('port.new', 'port')
	s.serve_forever()
END
stand=$!
trap 'kill $stand; rm -rf "$top"' EXIT
within 20 test -s "$top/port" || exit 1
url=http://127.0.0.1:$(cat "$top/port")

answers() { # JSON: what comes from now on
	echo "$1" >"$top/answer"
}

# asks TARGET WORD...: what `culprit trace WORD...` has the analyzer hear.
asks() {
	rm -f "$top/asked"
	run_for 0 "$CULPRIT" trace "${@:2}"
	[[ $(cat "$top/asked") = "$1" ]] ||
		fail "${*:2}: asked $(cat "$top/asked")"
}

each_word_is_handed_on() {
	answers '{"status": 200, "body": ""}'
	asks 'GET /traces?format=rows' get $url
	asks 'GET /traces?format=count' get $url/ --count
	asks "GET /traces?filter=ip.proto%20%3D%3D%206%20%26%26%20drop&where=\
age%20%3E%201s&from=1000000ns&to=2500000000ns&limit=5&format=json" \
	    get $url 'ip.proto == 6 && drop' -w 'age > 1s' --from 1ms \
	    --to 2500ms --limit 5 --json
	asks 'GET /counters?what=link%3Ator0-%3Et1.0&format=text' \
	    counter $url 'link:tor0->t1.0'
	asks 'GET /counters?what=custom%3Asyns&from=1ns&format=json' \
	    counter $url custom:syns --json --from 1ns
	asks 'POST /counters?name=syns&filter=tcp.flags%20%26%20SYN' \
	    counter $url custom:syns --add 'tcp.flags & SYN'
	asks 'DELETE /counters?name=syns' counter $url custom:syns --remove
	asks 'GET /findings?debugger=drop&format=text' debug drop $url
	asks 'GET /findings?debugger=ecmp&from=2000ns&to=3000ns&format=json' \
	    debug ecmp $url --json --from 2us --to 3us
	asks 'GET /sessions' debug $url --sessions
	asks 'POST /sessions?servers=all' debug $url --enable all
	asks "POST /sessions?servers=host0%2Chost17&filter=ip.ttl%20%3E%201&\
sample=4&life=5000000000ns" debug $url --enable host0,host17 \
	    --filter 'ip.ttl > 1' --sample 4 --life 5s
	asks 'DELETE /sessions?id=3' debug $url --disable 3
	rm "$top/asked"
	run_for 2 "$CULPRIT" trace get $url "$(printf '%066000d' 0)"
	says_once 'A request of 660[0-9]* bytes is too long'
	[[ ! -e $top/asked ]]
}

what_comes_is_printed() {
	answers '{"status": 200, "body": "id\r\n1\n2\n",
	    "head": {"Culprit-Note": "3 of them are gone"}}'
	run_for 0 "$CULPRIT" trace get $url
	[[ $(sha256sum <stdout) = $(printf "id\n1\n2\n" | sha256sum) ]]
	says_once '^culprit: 3 of them are gone\.$'
	run_for 0 "$CULPRIT" trace get $url --limit 3
	says '[-]-limit 3 is reached; there may be more\.$'
	run_for 0 "$CULPRIT" trace get $url --limit 4
	says_once 'are gone'
	answers '{"status": 200, "body": "[]\n"}'
	run_for 0 "$CULPRIT" trace get $url --json --limit 1
	[[ $(cat stdout) = '[]' && ! -s stderr ]]
	answers '{"status": 200, "body": "7\n", "cut": 1}'
	run_for 3 "$CULPRIT" trace get $url
	says_once "^culprit: $url: the answer was cut off: "
	[[ $(cat stdout) = 7 ]]
	answers '{"status": 200, "body": "", "cut": 1}'
	run_for 3 "$CULPRIT" trace get $url
	says_once "^culprit: $url does not answer: "
	run_for 3 "$CULPRIT" trace get http://127.0.0.1:1
	says_once '^culprit: http://127.0.0.1:1 does not answer: '
	run_for 2 "$CULPRIT" trace get http:///x
	says_once 'cannot be asked: '
}

# refused CODE STATUS BODY PATTERN: in one line, and nothing of it as an answer.
refused() {
	answers "{\"status\": $2, \"body\": $3}"
	run_for "$1" "$CULPRIT" trace debug $url --sessions
	says_once "^culprit: $4\$"
	[[ ! -s stdout ]]
}

# That there is no room now is no mistake of who asks.
a_refusal_is_told_by_its_reason() {
	refused 1 409 '"{\"error\": \"all is taken\"}"' 'all is taken'
	refused 2 400 '"{\"error\": \"no such server\"}"' 'no such server'
	refused 2 499 '"{\"error\": \"no\"}"' no
	refused 3 500 '"{\"error\": \"it is ill\"}"' 'it is ill'
	refused 3 399 '"{\"error\": \"elsewhere\"}"' elsewhere
	refused 2 404 '"{\"error\": [1]}"' "$url answers 404 \\(there is no such thing\\)\\."
	refused 3 503 '"<html>"' "$url answers 503 \\(it is overloaded, .*\\)\\."
	refused 3 300 '""' "$url answers 300 \\(.*\\)\\."
	# A reason is heard as far as 4096 bytes.
	refused 2 400 "\"# $(printf '%04070d' 0)\\n{\\\"error\\\": \\\"far\\\"}\"" \
	    far
	refused 2 400 "\"# $(printf '%04093d' 0)\\n{\\\"error\\\": \\\"far\\\"}\"" \
	    "$url answers 400 \\(it takes .*\\)\\."
}

wrong_words_are_told() {
	run_for 2 "$CULPRIT" trace counter x.h5 custom:syns --add drop
	says '[-]-add and --remove take a URL and custom:NAME'
	run_for 2 "$CULPRIT" trace counter $url link:3 --remove
	says '[-]-add and --remove take a URL and custom:NAME'
	run_for 2 "$CULPRIT" trace counter $url custom:a --remove --add drop
	says '[-]-add and --remove exclude each other'
	run_for 2 "$CULPRIT" trace counter $url custom:a b
	says '"b" is one word too many'
	run_for 2 "$CULPRIT" trace counter $url custom:a --from 2s --to 2s
	says '[-]-to is not after --from'
	for more in '--filter drop' '--sample 4' '--life 4s'; do
		# shellcheck disable=SC2086
		run_for 2 "$CULPRIT" trace debug $url --sessions $more
		says '[-]-filter, --sample and --life go with --enable'
	done
	for more in '--enable all --disable 1' '--enable all --sessions' \
	    '--disable 1 --sessions'; do
		# shellcheck disable=SC2086
		run_for 2 "$CULPRIT" trace debug $url $more
		says '[-]-enable, --disable and --sessions exclude each other'
	done
	for what in "drop $url" x.h5; do
		# shellcheck disable=SC2086
		run_for 2 "$CULPRIT" trace debug $what --sessions
		says '[-]-enable, --disable and --sessions take a URL alone'
	done
	run_for 2 "$CULPRIT" trace debug drop
	says 'debug which FILE\?'
	run_for 2 "$CULPRIT" trace debug dorp $url
	says '"dorp" is none of latency, drop, loop, ecmp and rdma'
	run_for 2 "$CULPRIT" trace debug drop $url 3
	says '"3" is one word too many'
	run_for 2 "$CULPRIT" trace debug drop $url --from 2s --to 1s
	says '[-]-to is not after --from'
	run_for 2 "$CULPRIT" trace debug $url --disable 0
	says 'disable "0" is not a whole number in \[1,'
}

run_tests each_word_is_handed_on what_comes_is_printed \
    a_refusal_is_told_by_its_reason wrong_words_are_told
