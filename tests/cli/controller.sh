#!/bin/bash
# tests/cli/controller.sh -- culprit controller and collector, over loopback.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # serve sets url_NAME, pid_NAME and port_NAME
. tests/cli/lib/common.sh
. tests/cli/lib/serve.sh

lib=$tree/tests/cli/lib
export PYTHONDONTWRITEBYTECODE=1

is_built_in() {
	"$CULPRIT" controller --listen x 2>&1 | not grep -q 'built without'
}

health_of() { # URL EXPRESSION
	curl -sf "${1}health" >health.json
	json health.json "$2"
}

lists_are_valid_and_those_of_pinglist() {
	own_servers
	serve c controller --listen $any --dc -s n_tors=3 -p ports=1,2 \
	    -p payload_probes=true
	says 'pinglists of 1840 servers, version [0-9a-f]{16}$' c.out
	curl -sf "${url_c}pinglist.xsd" >schema.xsd
	same schema.xsd "$tree/algos/pingmesh/pinglist.xsd"
	for server in 0 254 255 1599 1600 1839; do
		local address=10.0.$(((server + 1) / 256)).$(((server + 1) % 256))
		curl -sf "${url_c}pinglist/$address" >list.xml
		"$CULPRIT" pinglist --dc -s n_tors=3 -p ports=1,2 \
		    -p payload_probes=true --server $server >want.xml
		same list.xml want.xml
		! command -v xmllint >/dev/null || run_for 0 \
		    xmllint --nonet --noout --schema schema.xsd list.xml
	done
	# One that is too long for one piece, by HTTP/1.0 too.
	serve long controller --listen $any -s n_pods=30 -s n_tors=50
	"$CULPRIT" pinglist -s n_pods=30 -s n_tors=50 --server 6 >want.xml
	curl -sf "${url_long}pinglist/10.0.0.7" >list.xml
	same list.xml want.xml
	curl -sf --http1.0 "${url_long}pinglist/10.0.0.7" >list.xml
	same list.xml want.xml
	end_of c
	end_of long
}

a_known_tag_saves_the_list() {
	own_servers
	serve c controller --listen $any
	python3 - "$port_c" <<-'END'
		import http.client, sys
		c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
		def ask(method, address, headers={}):
		    c.request(method, "/pinglist/" + address, None, headers)
		    r = c.getresponse()
		    return r, r.read()
		r, data = ask("GET", "10.0.0.17")
		local = c.sock.getsockname()
		assert r.status == 200
		assert r.getheader("Content-Type") == "application/xml"
		assert int(r.getheader("Content-Length")) == len(data)
		tag = r.getheader("ETag")
		version = data.split(b'version="')[2].split(b'"')[0].decode()
		assert tag == f'"{version}-10.0.0.17"', (tag, version)
		r, none = ask("HEAD", "10.0.0.17")
		assert (r.status, none, r.getheader("ETag")) == (200, b"", tag)
		assert int(r.getheader("Content-Length")) == len(data)
		r, none = ask("GET", "10.0.0.17", {"If-None-Match": tag})
		assert (r.status, none, r.getheader("ETag")) == (304, b"", tag)
		r, other = ask("GET", "10.0.0.18", {"If-None-Match": tag})
		assert r.status == 200 and r.getheader("ETag") != tag
		r, _ = ask("GET", "10.0.6.65")
		assert r.status == 404
		assert c.sock.getsockname() == local, "another connection"
	END
	curl -sfi "${url_c}" >page
	says 'GET /pinglist/ADDRESS' page
	[[ $(health_of "$url_c" '[d["pinglists"], d["not_modified"],
	    d["not_found"], d["connections"]]') = "[3, 1, 1, 3]" ]]
	end_of c
}

prom() { python3 "$lib/prom.py" "$@"; }

metrics_are_prometheus_own() {
	own_servers
	serve c controller --listen $any
	serve k collector --dir batches --listen $any --total-mib 1
	curl -sfi "${url_c}metrics" >head
	says '^Content-Type: text/plain; version=0.0.4' head
	curl -sf "${url_c}metrics" >metrics
	[[ $(prom metrics culprit_controller_servers \
	    culprit_controller_last_list_seconds \
	    'culprit_http_requests_total{outcome="pages"}') = "1600 nan 1" ]]
	curl -sf "${url_c}pinglist/10.0.0.17" >list.xml
	local before
	before=$(date +%s)
	python3 "$lib/agent.py" post k.out 1 2 >/dev/null
	[[ $(python3 "$lib/agent.py" once k.out 1) = "200 taken before" ]]
	curl -sf "${url_c}metrics" >metrics
	curl -sf "${url_k}metrics" >metrics.k
	[[ $(prom metrics 'culprit_http_requests_total{outcome="pinglists"}') = 1 ]]
	[[ $(prom metrics.k 'culprit_http_requests_total{outcome="batches_taken"}' \
	    'culprit_http_requests_total{outcome="batches_known"}' \
	    culprit_collector_store_files culprit_collector_store_limit_bytes) = \
	    "2 1 1 1048576" ]]
	(($(prom metrics.k culprit_collector_last_batch_seconds) >= before))
	(($(prom metrics process_resident_memory_bytes) > 1000000))
	[[ $(prom metrics.k culprit_collector_store_bytes) = \
	    $(cat batches/*.cpmb | wc -c) ]]
	[[ $(curl -so /dev/null -w '%{http_code}' "${url_c}metrics?x=1") = 404 ]]
	end_of c
	end_of k
}

# From a spec, and from the numbers that the spec has.
replicas_give_the_same_bytes_and_tags() {
	own_servers
	write_spec
	serve one controller --listen $any spec.yaml --threads 1
	serve two controller --listen $any --threads 4 -s n_pods=2 -s n_tors=4 \
	    -s n_t1=3 -s n_t2=2 -s n_hosts=4
	serve other controller --listen $any -s n_pods=2 -s n_tors=5 \
	    -s n_t1=3 -s n_t2=2 -s n_hosts=4
	for i in 1 16 32; do
		for r in one two other; do
			local url=url_$r
			curl -sfi "${!url}pinglist/10.0.0.$i" |
				grep -v '^Date' >"$r.$i"
		done
		same one.$i two.$i
		! cmp -s one.$i other.$i || fail "the same list of another plan"
	done
	[[ $(health_of "$url_one" 'd["version"]') = \
	    $(health_of "$url_two" 'd["version"]') ]]
	for r in one two other; do end_of $r; done
}

a_spec_of_pingmesh_brings_its_parameters() {
	own_servers
	cat >mesh.yaml <<-END
		figure: mesh
		plane: pingmesh
		algorithms: [blackhole]
		topology: { n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, n_hosts: 4 }
		pingmesh: { pinglist: { dc_interval_s: 70, tor_interval_s: 20 } }
	END
	serve c controller --listen $any mesh.yaml -p tor_interval_s=40
	"$CULPRIT" pinglist -s n_tors=4 -s n_t1=3 -s n_t2=2 -s n_hosts=4 \
	    -p dc_interval_s=70 -p tor_interval_s=40 --server 0 >want.xml
	curl -sf "${url_c}pinglist/10.0.0.1" >list.xml
	same list.xml want.xml
	end_of c
}

a_stop_file_withholds_all_lists() {
	own_servers
	serve c controller --listen $any --stop-file stop
	list=${url_c}pinglist/10.0.0.1
	tag=$(curl -sfI "$list" | sed -n 's/^ETag: //p' | tr -d '\r')
	[[ $(health_of "$url_c" 'd["stopped"]') = False ]]
	: >stop
	[[ $(curl -s -o body -w '%{http_code}' "$list") = 404 ]]
	says '^All agents are stopped' body
	[[ $(curl -s -o body -w '%{http_code}' -H "If-None-Match: $tag" \
	    "$list") = 404 ]]
	[[ $(health_of "$url_c" '[d["stopped"], d["withheld"]]') = \
	    "[True, 2]" ]]
	rm stop
	curl -sf "$list" >body
	says '^</pinglist>' body
	# Whether it is there cannot be told: a loop of links.
	ln -s stop stop
	[[ $(curl -s -o body -w '%{http_code}' "$list") = 404 ]]
	end_of c
}

what_is_under_way_ends_before_the_server_does() {
	own_servers
	serve c controller --listen $any -s n_pods=30 -s n_tors=50
	"$CULPRIT" pinglist -s n_pods=30 -s n_tors=50 --server 0 >want.xml
	curl -sf --limit-rate 100k "${url_c}pinglist/10.0.0.1" >list.xml &
	local curl=$!
	within 5 test -s list.xml
	end_of c &
	local ending=$!
	wait $curl || fail "the list was cut"
	same list.xml want.xml
	wait $ending || :
	within 3 bash -c "! kill -0 $pid_c 2>/dev/null" || fail "still there"
	# Who says nothing does not hold it up; SIGINT ends it too.
	serve d controller --listen $any
	exec 7<>/dev/tcp/127.0.0.1/"$port_d"
	local start=$SECONDS
	kill -INT "$pid_d"
	wait "$pid_d" || fail "exit code $?"
	((SECONDS - start < 4)) || fail "it waited"
	exec 7>&-
}

hostile_clients_of_a_controller() {
	own_servers
	serve c controller --listen $any --receive-s 3 --send-s 2 \
	    --per-address 60
	python3 "$lib/hostile.py" answers "$port_c"
	python3 "$lib/hostile.py" pipeline "$port_c"
	python3 "$lib/hostile.py" loris "$port_c" 3
	python3 "$lib/hostile.py" crowd "$port_c" 60
	end_of c
	serve r controller --listen $any --max-connections 24 --reserve 6 \
	    --threads 2
	python3 "$lib/hostile.py" room "$port_r" 24 6
	end_of r
	serve s controller --listen $any -s n_pods=50 -s n_tors=50 --send-s 2
	python3 "$lib/hostile.py" slow_reader "$port_s" 2
	end_of s
}

hostile_clients_of_a_collector() {
	own_servers
	serve c collector --dir batches --listen $any --receive-s 3
	python3 "$lib/hostile.py" bodies "$port_c"
	python3 "$lib/hostile.py" noise "$port_c" 400
	end_of c
	serve d collector --dir batches --listen $any --head-s 1 --receive-s 60
	python3 "$lib/hostile.py" drips "$port_d"
	end_of d
	python3 "$lib/agent.py" files batches >files
	[[ ! -s files ]]
	serve e collector --dir others --listen $any --max-connections 24 \
	    --reserve 6 --threads 2 --known 127.0.4.0/24
	python3 "$lib/hostile.py" known "$port_e" 24
	end_of e
	refuses 2 'known: a prefix of IPv4 has 0 to 32 bits' \
	    collector --dir others --known 10.0.0.0/33
}

rss_of() { sed -nE 's/^VmRSS:[ \t]+([0-9]+) kB/\1/p' "/proc/$1/status"; }

# 16 MiB is what it has to begin with, libraries and all.
memory_stays_below_24_mib() {
	[[ $BUILD != *-san ]] || skip "sanitizers take memory"
	own_servers
	serve c controller --listen $any --receive-s 2
	python3 "$lib/hostile.py" many "$port_c" 10000
	python3 "$lib/hostile.py" noise "$port_c" 1000
	local rss
	rss=$(rss_of "$pid_c")
	((rss < 24 * 1024)) || fail "$rss KiB"
	end_of c
}

a_batch_is_taken_once_also_after_a_restart() {
	own_servers
	serve c collector --dir batches --listen $any
	says ': 0 batches with 0 records so far$' c.out
	[[ $(python3 "$lib/agent.py" once c.out 1) = "200 taken" ]]
	[[ $(python3 "$lib/agent.py" once c.out 1) = "200 taken before" ]]
	python3 "$lib/agent.py" post c.out 2 5 >/dev/null
	[[ $(health_of "$url_c" '[d["batches_taken"], d["batches_known"],
	    d["records"], d["bytes"]]') = "[5, 1, 15, 960]" ]]
	run_for 3 "$CULPRIT" collector --dir batches --listen $any "${as_user[@]}"
	says_once 'another collector holds batches'
	end_of c
	serve c collector --dir batches --listen $any --no-sync
	says ': 5 batches with 15 records so far$' c.out
	[[ $(python3 "$lib/agent.py" once c.out 3) = "200 taken before" ]]
	[[ $(python3 "$lib/agent.py" once c.out 6) = "200 taken" ]]
	end_of c
	python3 "$lib/agent.py" files batches >files
	[[ $(xargs <files) = "0 1 0 2 0 3 0 4 0 5 0 6" ]]
}

# Two agents post while the collector is killed again and again.
until_more_than() { # N FILE...
	local n=$1 tries
	shift
	for ((tries = 0; tries < 3000; tries++)); do
		(($(cat "$@" | wc -l) > n)) && return
		sleep_ms 10
	done
	fail "$(cat "$@" | wc -l) lines, not $n"
}

# The posters go on until the last kill, so that each comes amid batches however
# fast this machine takes them.
killed_it_loses_nothing_and_doubles_nothing() {
	own_servers
	serve c collector --dir batches --listen $any
	rm -f enough
	local posters=() agent kill
	for agent in 1 2; do
		python3 "$lib/agent.py" post c.out 1 1000000 $agent enough \
		    >said.$agent &
		posters+=($!)
	done
	for ((kill = 0; kill < 10; kill++)); do
		until_more_than $((20 * kill)) said.1 said.2
		sleep_ms $((RANDOM % 50))
		kill -9 "$pid_c"
		wait "$pid_c" 2>/dev/null || :
		serve c collector --dir batches --listen $any
	done
	touch enough
	for agent in "${posters[@]}"; do
		wait "$agent" || fail "a batch was refused"
	done
	end_of c
	python3 "$lib/agent.py" files batches | sort >files
	sort said.1 said.2 >said
	(($(wc -l <said) > 180)) || fail "$(wc -l <said) batches"
	same files said
}

# Beside the collector, and what `culprit jobs` makes of it.
what_was_taken_becomes_a_recording() {
	own_servers
	serve c collector --dir batches --listen $any
	for agent in 0 1 24; do
		python3 "$lib/agent.py" post c.out 1 5 $agent >/dev/null
	done
	run_for 2 "$CULPRIT" collector --dir batches --export day.h5
	says 'no probe between these servers; 45 records are not of the days'
	# Their agents live in 1970, and so the file must.
	mv batches/batches-*-0001.cpmb batches/batches-19700101-0001.cpmb
	run_for 0 "$CULPRIT" collector --dir batches --export day.h5 \
	    -s n_tors=3 -s n_hosts=4
	says '^day.h5: 15 batches, 30 probes, 0 of services, 0 counters; time 0 is 0 s$' \
	    stdout
	says '15 records are left out: they are not between two of these'
	run_for 0 "$CULPRIT" jobs day.h5 -q
	says '^data centre 0: 30 probes' stdout
	write_spec
	run_for 0 "$CULPRIT" collector --dir batches --export spec.h5 spec.yaml \
	    --timers windows
	says '^spec.h5: 15 batches, 45 probes' stdout
	end_of c
	run_for 2 "$CULPRIT" collector --dir batches --timers linux
	says 'are for --export'
	run_for 2 "$CULPRIT" collector --dir batches --export x --timers bsd
	run_for 3 "$CULPRIT" collector --dir nowhere --export x.h5
	says 'cannot read nowhere'
	[[ ! -e nowhere && ! -e x.h5 ]]
}

refuses() { # CODE PATTERN OPTION...
	local code=$1 pattern=$2
	shift 2
	run_for "$code" timeout 10 "$CULPRIT" "$@"
	says "$pattern"
	[[ $(grep -c "^culprit" stderr) = 1 ]] || { cat stderr; fail "lines"; }
	[[ ! -s stdout ]]
}

# A line of what the kernel says of server $1.
kernel_says() { # NAME WORD VALUE
	local pid=pid_$1
	grep -qE "^$2:[[:space:]]+$3" "/proc/${!pid}/status" || {
		cat "/proc/${!pid}/status"
		fail "$1: no $2 $3"
	}
}

# Root stays root here, without its rights.
rights_are_given_up() {
	own_servers
	serve c controller --listen $any
	serve k collector --dir batches --listen $any
	for name in c k; do
		for cap in CapPrm CapEff CapInh CapAmb; do
			kernel_says $name $cap 0000000000000000
		done
		kernel_says $name NoNewPrivs 1
		[[ -e $BUILD/experiments/live/seccomp_none.o ]] ||
			kernel_says $name Seccomp 2
	done
	python3 "$lib/agent.py" post k.out 1 5 >/dev/null
	[[ $(curl -s "${url_c}metrics" | grep -c '^process_refused_calls_total 0') = 1 ]]
	end_of c
	end_of k
}

# Whom root becomes owns what it writes, and has to be able to.
root_becomes_somebody_else() {
	[[ $(id -u) = 0 ]] || skip "not root"
	own_servers
	chmod 755 . ..
	refuses 2 'This is root: say by --user' controller --listen $any
	refuses 2 'no user "nosuch"' controller --listen $any --user nosuch
	mkdir mine
	chmod 700 mine
	touch mine/stop
	refuses 3 'as user nobody: .*stop file mine/stop cannot be told' \
	    controller --listen $any --user nobody --stop-file mine/stop
	refuses 3 'cannot open mine' \
	    collector --listen $any --user nobody --dir mine
	chmod 755 mine
	refuses 3 'cannot write in mine' \
	    collector --listen $any --user nobody --dir mine
	as_user=(--user nobody)
	serve c controller --listen $any --stop-file mine/stop
	serve k collector --dir batches --listen $any
	for name in c k; do
		kernel_says $name Uid "65534[[:space:]]65534[[:space:]]65534"
		kernel_says $name Groups '[[:space:]]*$'
	done
	[[ $(python3 "$lib/agent.py" once k.out 1) = "200 taken" ]]
	[[ $(stat -c %U batches batches/*.cpmb | sort -u) = nobody ]]
	end_of c
	end_of k
}

mistakes_are_named() {
	printf '%s\n' 'figure: f' 'algorithms: [vote]' \
	    'topology: { kind: fat_tree, k: 4 }' >tree.yaml
	run_for 2 "$CULPRIT" controller tree.yaml --listen 127.0.0.1:0
	says_once 'tree.yaml: pinglists are for a Clos, or a region of them'
	rm tree.yaml
	own_servers
	refuses 2 'x" is no address' controller --listen x
	refuses 2 'is no address' controller --listen localhost:80
	refuses 2 'is no address' controller --listen 127.0.0.1:65536
	refuses 2 'is no address' controller --listen ::1:80
	refuses 3 'cannot listen at 203.0.113.1:0' \
	    controller --listen 203.0.113.1:0
	refuses 2 'did you mean --listen' controller --listne x
	refuses 2 'threads "0" is not a whole number in \[1, 64\]' controller --threads 0
	refuses 2 'did you mean "n_pods"' controller -s n_pod=3
	refuses 2 'less than one a thread' controller --threads 9 \
	    --max-connections 8
	refuses 2 'reserve 8 leaves strangers none of 8 connections' \
	    controller --threads 1 --max-connections 8 --reserve 8
	refuses 2 'describe a network' controller vigil_fig03 -s n_pods=3
	refuses 2 'did you mean "vigil_fig03"|no such|nosuch' controller nosuch
	refuses 2 'dir is missing' collector
	refuses 2 'total-mib "0"' collector --dir d --total-mib 0
	refuses 3 '/proc/nowhere' collector --dir /proc/nowhere/x \
	    "${as_user[@]}" --listen $any
	refuses 2 'can be reached from other hosts, in the clear' \
	    controller --listen 0.0.0.0:0
	refuses 2 'can be reached from other hosts' collector --dir d \
	    --listen 0.0.0.0:0
	refuses 2 'user is not for --export' collector --dir d --export x.h5 \
	    --user nobody
	serve c controller --listen $any
	refuses 3 'Another program has that port' controller \
	    --listen "127.0.0.1:$port_c"
	only_files c.out c.err
}

if ! is_built_in; then
	run_for_code=0
	"$CULPRIT" controller --listen $any 2>"$top/err" || run_for_code=$?
	[[ $run_for_code = 2 ]] && grep -q libmicrohttpd-dev "$top/err" &&
		echo "ok without_the_library_it_says_so"
	exit
fi
command -v curl >/dev/null || { echo "SKIP all (no curl)"; exit; }

run_tests lists_are_valid_and_those_of_pinglist a_known_tag_saves_the_list metrics_are_prometheus_own \
    replicas_give_the_same_bytes_and_tags \
    a_spec_of_pingmesh_brings_its_parameters a_stop_file_withholds_all_lists \
    what_is_under_way_ends_before_the_server_does \
    hostile_clients_of_a_controller hostile_clients_of_a_collector \
    memory_stays_below_24_mib a_batch_is_taken_once_also_after_a_restart \
    killed_it_loses_nothing_and_doubles_nothing \
    what_was_taken_becomes_a_recording rights_are_given_up \
    root_becomes_somebody_else mistakes_are_named
