#!/bin/bash
# tests/cli/doctor.sh -- culprit doctor, over loopback.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # serve sets url_NAME, pid_NAME and port_NAME
. tests/cli/lib/common.sh
. tests/cli/lib/serve.sh

lib=$tree/tests/cli/lib
export PYTHONDONTWRITEBYTECODE=1

free_port() {
	python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

doctor() { "$CULPRIT" doctor "$@"; }

# Who has just begun is not ill; once lists are given and batches come all is well.
what_works_is_found_well() {
	own_servers
	serve c controller --listen $any
	serve k collector --dir batches --listen $any
	run_for 0 doctor --controller "$url_c" --collector "$url_k"
	says '^WARN  http.*: lists: no list given yet; it began [0-9]+ s ago$' stdout
	says '^      -> look again in some minutes$' stdout
	says '^6 checks, 2 warn, 0 fail$' stdout
	curl -sf "${url_c}pinglist/10.0.0.17" >list.xml
	python3 "$lib/agent.py" post k.out 1 2 >/dev/null
	run_for 0 doctor --controller "$url_c" --collector "$url_k"
	! grep -E '^(WARN|FAIL)' stdout || fail "all is well"
	says '^ok .*: lists: the last list given was [0-9]+ s ago, 900 are allowed$' stdout
	says '^ok .*: data: the last batch stored was ' stdout
	says ' checks, 0 warn, 0 fail$' stdout
	end_of c
	end_of k
}

ills_are_named_and_exit_1() {
	own_servers
	touch stop
	serve c controller --listen $any --stop-file stop
	serve o controller --listen $any -s n_tors=3
	serve k collector --dir batches --listen $any
	python3 "$lib/agent.py" post k.out 1 2 >/dev/null
	# A batch of records alone is no window of counters.
	run_for 1 doctor --controller "$url_c,$url_o" --dir batches
	says '^WARN  .*: stopped: all agents are stopped$' stdout
	says '^FAIL  .*: version: other lists than the first' stdout
	says '^ok    batches: data: ' stdout
	says '^FAIL  batches: sla: no window of an agent.s counters$' stdout
	run_for 1 doctor --controller "$url_k" --collector "$url_c"
	says ': answers: it is no controller$' stdout
	says ': answers: it is no collector$' stdout
	end_of k
	run_for 1 doctor --collector "$url_k" --dir nowhere none.prom
	says '^FAIL  http.*: answers: .* does not answer: ' stdout
	says '^FAIL  nowhere: answers: cannot list nowhere: ' stdout
	says '^FAIL  none.prom: answers: .*none.prom' stdout
	says '^3 checks, 0 warn, 3 fail$' stdout
	run_for 1 doctor --collector "$url_k" --json
	[[ $(json stdout '[d["failed"], *map(d["checks"][0].get,
	    ("health", "check"))]') = "[1, 'FAIL', 'answers']" ]]
	[[ $(json stdout '"todo" in d["checks"][0]') = True ]]
	end_of c
	end_of o
}

# What is asked may be anybody: neither a flood nor nonsense is believed.
strangers_answers_are_bounded() {
	own_servers
	: >stub.out
	python3 -u - >stub.out 2>stub.err <<-'END' &
		import http.server
		class Stub(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        self.send_response(200)
		        self.end_headers()
		        if self.path.startswith("/flood"):
		            line = b"x" * 65536
		            for _ in range(1000):
		                self.wfile.write(line)
		        else:
		            self.wfile.write(b"<html>\n")
		s = http.server.HTTPServer(("127.0.0.1", 0), Stub)
		print("http://127.0.0.1:%d" % s.server_port)
		s.serve_forever()
	END
	within 10 grep -q '^http' stub.out || fail "no stub"
	run_for 1 doctor --controller "$(cat stub.out)"
	says 'answers: metrics, line 1: no sample: "<html>' stdout
	run_for 1 doctor --controller "$(cat stub.out)/flood"
	says '/flood: answers: ' stdout
}

certificates_are_shown() {
	"$CULPRIT" ca ca --server 127.0.0.1 --agent 10.0.0.1 >said 2>&1 ||
		skip "no GnuTLS"
	own_servers
	serve c controller --listen $any --ca ca/ca.pem \
	    --cert ca/127.0.0.1.pem --key ca/127.0.0.1.key
	run_for 1 doctor --controller "$url_c"
	run_for 0 doctor --controller "$url_c" --ca ca/ca.pem \
	    --cert ca/10.0.0.1.pem --key ca/10.0.0.1.key
	says ': stopped: agents may probe$' stdout
	kill "$pid_c"
}

# An agent's file, as it is now and as it was long ago.
agents_are_read_by_their_files() {
	# shellcheck disable=SC2059 # a form, of words without a percent sign
	put() { # AT RSS
		local help='# HELP %s X.\n# TYPE %s gauge\n%s %s\n'
		for name in written last_list; do
			printf "$help" culprit_agent_${name}_seconds{,,} "$1"
		done
		printf "$help" culprit_agent_peers{,,} 5
		printf "$help" culprit_agent_resident_memory_bytes{,,} "$2"
		printf "$help" culprit_agent_start_time_seconds{,,} $(($1 - 10))
		printf "${help/gauge/counter}" \
		    culprit_agent_discarded_total{,,} 0
		printf "${help/gauge/counter}" culprit_agent_overrun_total{,,} 0
	}
	local now
	now=$(date +%s)
	put "$now" 20000000 >well.prom
	run_for 0 doctor well.prom
	put $((now - 3600)) 60000000 >ill.prom
	run_for 1 doctor well.prom ill.prom
	says '^FAIL  ill.prom: alive: the last sign of life was 36[0-9]+ s ago' stdout
	says '^FAIL  ill.prom: memory: 57.22 of 45 MiB$' stdout
	! grep -E '^(WARN|FAIL)  well' stdout || fail "it is well"
	run_for 1 doctor ill.prom --agent-mib 60 --list-age 4000
	says '^WARN  ill.prom: memory: 57.22 of 60 MiB$' stdout
	says ' checks, 1 warn, 1 fail$' stdout
}

# What all three say, held against what is asked for; and that no two of them say
# one thing in two ways.
alerts_and_dashboard_name_what_there_is() {
	own_servers
	serve c controller --listen $any
	serve k collector --dir batches --listen $any
	curl -sf "${url_c}metrics" >controller.prom
	curl -sf "${url_k}metrics" >collector.prom
	mkdir -m 777 metrics
	chmod 755 . ..
	local options=()
	[[ $BUILD != *-san ]] || options=(--memory-mib 0)
	# Exit code 1: the controller has no list for it.
	run_for 1 "$CULPRIT" agent --address 127.0.0.1 --port "$(free_port)" \
	    --controller "$url_c" --once --metrics "$PWD/metrics/agent.prom" \
	    "${options[@]}"
	run_for 0 python3 "$lib/watch.py" "$tree/experiments/live/alerts.yaml" \
	    "$tree/experiments/live/dashboard.json" controller.prom \
	    collector.prom metrics/agent.prom
	python3 "$lib/prom.py" --names controller.prom metrics/agent.prom >names
	[[ $(sort names | uniq -d) = "" ]] || fail "$(sort names | uniq -d)"
	# A node exporter has these of its own.
	! grep -E '^(process|go|node)_' metrics/agent.prom || fail "joined"
	# A name that is none is found.
	sed 's/culprit_agent_peers ==/culprit_agent_pers ==/' \
	    "$tree/experiments/live/alerts.yaml" >wrong.yaml
	run_for 1 python3 "$lib/watch.py" wrong.yaml \
	    "$tree/experiments/live/dashboard.json" controller.prom \
	    collector.prom metrics/agent.prom
	says "AgentProbesNobody: .'culprit_agent_pers'. is none"
	end_of c
	end_of k
}

mistakes_are_named() {
	refuses() {
		run_for "$1" doctor "${@:3}"
		says_once "$2"
		[[ ! -s stdout ]]
	}
	refuses 2 'nobody to look at'
	refuses 2 'begin with http' --controller ftp://a
	refuses 2 'is another host' --controller http://10.0.0.9:8080
	refuses 2 'is another host' --collector http://10.0.0.9:8080
	refuses 2 'more than 16 URLs, or one of 512 bytes' --controller \
	    "$(yes http://127.0.0.1:1 | head -n 17 | paste -sd,)"
	refuses 2 'more than 16 URLs, or one of 512 bytes' --controller \
	    "http://127.0.0.1:1/$(printf %0493d 0)"
	refuses 2 'list-age "0"' --dir . --list-age 0
	refuses 2 'agent-mib "0"' --dir . --agent-mib 0
	refuses 2 'key' --dir . --ca a --cert b
}

if "$CULPRIT" controller --listen x 2>&1 | grep -q 'built without' ||
    "$CULPRIT" doctor --controller http://127.0.0.1:1 2>&1 |
    grep -q 'built without'; then
	run_tests agents_are_read_by_their_files
	exit
fi

run_tests what_works_is_found_well ills_are_named_and_exit_1 \
    strangers_answers_are_bounded certificates_are_shown \
    agents_are_read_by_their_files \
    alerts_and_dashboard_name_what_there_is mistakes_are_named
