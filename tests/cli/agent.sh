#!/bin/bash
# tests/cli/agent.sh -- culprit agent, over loopback: it probes nobody here.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# An agent holds back for 10 s when it begins, and but for the last test none
# lives that long. tests/real/agent.sh is where they probe more. Lists are for addresses beyond 127/8, so
# where that is allowed all of this is run in a network namespace of its own.
if [[ -z ${ALONE-} ]]; then
	[[ $(id -u) = 0 ]] && alone="unshare -n" || alone="unshare -Urn"
	$alone ip link set lo up 2>/dev/null &&
		ALONE=$alone exec $alone bash "$0" "$@"
	ALONE=no
fi
. tests/cli/lib/common.sh

export PYTHONDONTWRITEBYTECODE=1
options=() self=127.0.0.1
if [[ $ALONE != no ]]; then
	ip link set lo up
	ip addr add 10.0.0.1/32 dev lo
	self=10.0.0.1
fi
# Of a user namespace root is the only user.
[[ $ALONE != *U* ]] || options=(--user root)
[[ $BUILD != *-san ]] || options+=(--memory-mib 0) # sanitizers take memory

as_agent() {
	exec "$CULPRIT" agent --address $self --port "$port" --allow-port 8765 \
	    "${options[@]}" "$@"
}

agent() { (as_agent "$@"); }

needs_lists() { [[ $self = 10.0.0.1 ]] || skip "no network namespace"; }

own_servers() { trap 'kill -9 $(jobs -p) 2>/dev/null || :' EXIT; }

free_port() {
	python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1])'
}
port=$(free_port)

# stub BODY: a controller whose lists are all BODY; sets url.
stub() {
	: >stub.out
	python3 -u - "$1" >stub.out 2>stub.err <<-'END' &
		import http.server, sys
		class Stub(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        self.send_response(200)
		        self.end_headers()
		        self.wfile.write(sys.argv[1].encode())
		s = http.server.HTTPServer(("127.0.0.1", 0), Stub)
		print("http://127.0.0.1:%d" % s.server_port)
		s.serve_forever()
	END
	within 10 grep -q '^http' stub.out || fail "no stub"
	url=$(cat stub.out)
}

list='<pinglist server="10.0.0.1" version="0123456789abcdef" count="1">
<peer address="10.0.0.2" port="8765" level="tor" class="0" interval_s="10"
payload="0"/></pinglist>'

once_it_says_whether_there_is_a_list() {
	needs_lists
	own_servers
	stub "$list"
	run_for 0 agent --controller "$url" --once
	says "^10.0.0.1: listens at port $port and asks $url$" stdout
	says '^culprit: list taken, entries: 1$'
	says '^culprit: ends: 0 probes, 0 uploaded'
	run_for 0 agent --controller "http://127.0.0.1:1,$url/" --once
	stub "${list/10.0.0.1/10.0.0.3}" # of another server
	run_for 1 agent --controller "$url" --once
	says '^culprit: list refused, bytes: [0-9]+; line 1, column 19: the list of another server'
	stub ""
	run_for 1 agent --controller "$url" --once
	says '^culprit: no list'
	stub "${list/count=\"1\"*/count=\"0\"></pinglist>}"
	run_for 1 agent --controller "$url" --once
	says '^culprit: list without peers$'
	run_for 1 agent --controller http://127.0.0.1:1 --once
	says "^culprit: http://127.0.0.1:1/pinglist/10.0.0.1: .*onnect"
}

# Run by root it is nobody's by then, who may write nothing here.
files_are_opened_before_rights_are_given_up() {
	needs_lists
	own_servers
	stub "$list"
	chmod 700 .
	run_for 0 agent --controller "$url" --for 2 -p fetch_retry=1 \
	    --log log --status status
	[[ ! -s stderr ]]
	says '^20[0-9-]+T[0-9:.]+Z list taken, entries: 1$' log
	says 'Z peers dropped, entries: 1$' log
	says 'Z ends: 0 probes' log
	[[ $(json status 'd["agent"], d["probing"]["n_lists"]') = \
	    "('10.0.0.1', 1)" ]]
	[[ $(json status 'd["contacts"]["n_lists"]') = 1 ]]
	[[ $(stat -c %s status) = 4096 ]]
	ln -s log link
	run_for 3 agent --controller "$url" --log link
	says_once 'cannot write link: it is a link'
	run_for 2 agent --controller "$url" --status /dev/null
	says_once '/dev/null is no regular file'
}

# By whom it becomes, in one piece, and at no port.
metrics_are_in_a_file() {
	needs_lists
	own_servers
	stub "$list"
	local to=$PWD/metrics
	mkdir -m 777 metrics
	chmod 755 . ..
	local before
	before=$(date +%s)
	run_for 0 agent --controller "$url" --for 3 -p fetch_retry=1 \
	    -p upload_interval=1 --metrics "$to/agent.prom"
	[[ $(ls -A metrics) = agent.prom ]]
	prom() { python3 "$tree/tests/cli/lib/prom.py" "$to/agent.prom" "$@"; }
	# At the end it has dropped its list.
	[[ $(prom culprit_agent_lists_total culprit_agent_contact_lists_total \
	    culprit_agent_probes_total culprit_agent_peers \
	    culprit_agent_window_p99_seconds) = "1 1 0 0 nan" ]]
	(($(prom culprit_agent_last_list_seconds) >= before))
	(($(prom culprit_agent_written_seconds) > $(prom culprit_agent_start_time_seconds)))
	mkdir -m 700 closed
	[[ ${options[*]} = *root* || $(id -u) != 0 ]] || {
		run_for 3 agent --controller "$url" --metrics closed/agent.prom
		says_once 'by the user that it becomes .--user.: cannot .*closed/agent.prom'
	}
}

# Whatever its controller says.
a_list_that_asks_for_more_than_allowed_is_refused_whole() {
	needs_lists
	own_servers
	local peer="<peer address='A' port='P' level='tor' class='0'
	    interval_s='10' payload='0'/>"
	peer=${peer//\'/\"}
	more() { # ADDRESS PORT: beside one that may be
		local other=${peer/A/$1}
		stub "$(sed "s,count=\"1\",count=\"2\",; s,</pinglist>,," \
		    <<<"$list")${other/P/$2}</pinglist>"
	}
	for target in 10.0.0.3:22 10.0.0.3:8766 192.0.2.1:8765; do
		more "${target%:*}" "${target#*:}"
		run_for 1 agent --controller "$url" --once
		says "refused.*a target that this agent may not probe .$target"
	done
	run_for 0 agent --controller "$url" --once --allow-net 10.0.0.0/24 \
	    --allow-net 192.0.2.1
	says '^culprit: list taken, entries: 2$'
	more 10.0.0.3 22
	run_for 0 agent --controller "$url" --once --allow-port 22,9000-9010
	# The ports at which it answers are those at which it probes.
	run_for 1 "$CULPRIT" agent --address $self --port "$port" \
	    "${options[@]}" --controller "$url" --once
	says "may not probe .10.0.0.2:8765"
}

# kept NAME: a controller that gives out what NAME.1, NAME.2 ... have, with the
# signatures of NAME.1.head ..., the last of them for ever; sets url.
kept() {
	: >kept.out
	python3 -u - "$@" >kept.out 2>kept.err <<-'END' &
		import http.server, os, sys
		name, n = sys.argv[1], 0
		class Kept(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        global n
		        if os.path.exists("%s.%d" % (name, n + 1)):
		            n += 1
		        self.send_response(200)
		        for line in open("%s.%d.head" % (name, n)):
		            if line.startswith("Culprit-Signature: "):
		                self.send_header(*line.strip().split(": "))
		        self.end_headers()
		        self.wfile.write(open("%s.%d" % (name, n), "rb").read())
		s = http.server.HTTPServer(("127.0.0.1", 0), Kept)
		print("http://127.0.0.1:%d" % s.server_port)
		s.serve_forever()
	END
	within 10 grep -q '^http' kept.out || fail "no stub"
	url=$(cat kept.out)
}

signs() { # NAME OPTION...: a controller; sets url
	: >"$1.out"
	"$CULPRIT" controller --listen 127.0.0.1:0 "${as_user[@]}" "${@:2}" >"$1.out" \
	    2>"$1.err" &
	within 10 grep -q '^http' "$1.out" || skip "no controller"
	url=$(sed 's,/: .*,,' "$1.out")
}

lists_are_taken_by_their_signature_alone() {
	needs_lists
	own_servers
	run_for 0 "$CULPRIT" ca ca
	run_for 0 "$CULPRIT" ca other
	local by=(--signed-by ca/list.pub)
	signs unsigned
	local unsigned=$url
	run_for 1 agent "${by[@]}" --controller "$url" --once
	says 'pinglist/10.0.0.1: list refused: it is not signed$'
	run_for 0 agent --controller "$url" --once
	signs foreign --sign other/list.key
	run_for 1 agent "${by[@]}" --controller "$url" --once
	says 'list refused: its signature is by none of our keys'
	signs own --sign ca/list.key
	run_for 0 agent "${by[@]}" --controller "$url" --once
	says '^culprit: list taken, entries: '
	cat other/list.pub ca/list.pub >both
	run_for 0 agent --signed-by both --controller "$url" --once
	# One that is not to be believed is passed over.
	run_for 0 agent "${by[@]}" --controller "$unsigned,$url" --once
	# Kept elsewhere it is as good; with another byte it is not.
	curl -sf -D forged.1.head -o forged.1 "$url/pinglist/10.0.0.1"
	cp forged.1 good.1
	cp forged.1.head good.1.head
	kept good
	run_for 0 agent "${by[@]}" --controller "$url" --once
	sed -i '3s/interval_s="[0-9]*/&0/' forged.1
	kept forged
	run_for 1 agent "${by[@]}" --controller "$url" --once
	says 'list refused: its signature is by none of our keys, or of another'
	refuses 3 'cannot read nowhere' --signed-by nowhere \
	    --controller "$url" --address $self --port "$port"
	refuses 2 'has no public key' --signed-by ca/ca.pem \
	    --controller "$url" --address $self --port "$port"
}

# Nor to an agent that was started since.
what_was_newest_outlives_a_restart() {
	needs_lists
	own_servers
	run_for 0 "$CULPRIT" ca ca
	local by=(--signed-by ca/list.pub --user root --once)
	signs old --sign ca/list.key -s n_pods=1
	curl -sf -D stale.1.head -o stale.1 "$url/pinglist/10.0.0.1"
	sleep 1.1
	signs new --sign ca/list.key -s n_pods=1 -s n_tors=2
	local new=$url
	run_for 0 agent "${by[@]}" --newest newest --controller "$new"
	[[ $(sed -n '1p' newest) = "newest pinglist 1" ]]
	cp newest before
	kept stale
	run_for 1 agent "${by[@]}" --newest newest --controller "$url"
	says 'list refused: it is an older one, issued at [0-9]+ s, [1-9]'
	same newest before
	run_for 0 agent "${by[@]}" --newest newest --controller "$new"
	same newest before
	# Without the file each is new.
	run_for 0 agent "${by[@]}" --controller "$url"
	echo >>newest
	refuses 2 'does not tell of a newest list' "${by[@]}" \
	    --newest newest --controller "$url"
	refuses 3 'nowhere/newest' "${by[@]}" --newest nowhere/newest \
	    --controller "$url"
	refuses 2 'newest is for --signed-by' --newest newest \
	    --controller "$url"
}

# An operator stops agents by a word of his, and nobody else by another.
that_there_is_no_list_is_signed() {
	needs_lists
	own_servers
	run_for 0 "$CULPRIT" ca ca
	run_for 0 "$CULPRIT" ca other
	touch stop
	local by=(--signed-by ca/list.pub)
	signs own --sign ca/list.key --stop-file stop
	run_for 1 agent "${by[@]}" --controller "$url" --once
	says '^culprit: no list$'
	! grep refused stderr || fail "it is not believed"
	for sign in "" "--sign other/list.key"; do
		# shellcheck disable=SC2086 # words are meant
		signs stranger --stop-file stop $sign
		run_for 1 agent "${by[@]}" --controller "$url" --once
		says 'pinglist/10.0.0.1: no list refused: '
		says '^culprit: controller failed, in a row: 1$'
	done
	local stranger=$url
	signs good --sign ca/list.key
	run_for 0 agent "${by[@]}" --controller "$stranger,$url" --once
	# Who needs no signature is stopped by anybody.
	run_for 1 agent --controller "$stranger" --once
	says '^culprit: no list$'
}

# Whoever kept an old list cannot have it probed again.
an_older_list_is_refused_and_closes_the_agent() {
	needs_lists
	own_servers
	run_for 0 "$CULPRIT" ca ca
	signs old --sign ca/list.key -s n_pods=1
	curl -sf -D list.2.head -o list.2 "$url/pinglist/10.0.0.1"
	sleep 1.1 # seconds are what a plan is issued in
	signs new --sign ca/list.key -s n_pods=1 -s n_tors=2
	curl -sf -D list.1.head -o list.1 "$url/pinglist/10.0.0.1"
	kept list
	run_for 0 agent --signed-by ca/list.pub --controller "$url" --for 17 \
	    -p fetch_interval=10 -p fetch_retry=1
	says '^culprit: list taken, entries: '
	says 'list refused: it is an older one, issued at [0-9]+ s, [1-9]'
	says '^culprit: controller failed, in a row: 3$'
	[[ $(grep -c 'list taken' stderr) = 1 ]] || fail "it was taken"
	says '^culprit: peers dropped, entries: '
}

a_certificate_that_nobody_signed_is_refused() {
	command -v openssl >/dev/null || skip "no openssl"
	own_servers
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem \
	    -days 1 -subj /CN=$self -addext "subjectAltName=IP:$self" \
	    >openssl.out 2>&1
	: >tls.out
	python3 -u - $self >tls.out 2>tls.err <<-'END' &
		import socket, ssl, sys
		c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		c.load_cert_chain("cert.pem", "key.pem")
		s = socket.create_server((sys.argv[1], 0))
		print("https://%s:%d" % s.getsockname())
		while True:
		    try:
		        c.wrap_socket(s.accept()[0], server_side=True)
		        print("taken")
		    except OSError:
		        print("refused")
	END
	within 10 grep -q '^https' tls.out || { cat tls.err; fail "no server"; }
	run_for 1 agent --controller "$(cat tls.out)" --once
	says '[Cc]ertificate|SSL|TLS'
	within 5 says '^refused' tls.out
}

it_ends_by_signals_and_tells_its_status() {
	own_servers
	stub "$list"
	for signal in TERM INT; do
		: >out
		as_agent --controller "$url" -p fetch_retry=1 >out 2>err &
		local pid=$!
		within 5 grep -q listens out || fail "not up"
		kill -USR1 $pid
		within 5 grep -q "^culprit: {.agent.: .$self., " err ||
			fail "no status"
		kill -$signal $pid
		wait $pid || fail "exit code $? after SIG$signal"
		says '^culprit: ends: ' err
	done
}

systemd_is_told() {
	own_servers
	python3 -u - >said 2>&1 <<-'END' &
		import socket
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind("notify")
		while True:
		    print(s.recv(100).decode())
	END
	within 5 test -S notify
	chmod 777 notify
	chmod 755 . ..
	run_for 0 env NOTIFY_SOCKET="$PWD/notify" WATCHDOG_USEC=1000000 \
	    "$CULPRIT" agent --address $self --port "$port" "${options[@]}" \
	    --controller http://127.0.0.1:1 --for 3
	[[ $(head -n 1 said) = READY=1 && $(tail -n 1 said) = STOPPING=1 ]]
	local n
	n=$(grep -c '^WATCHDOG=1$' said)
	((n >= 4 && n <= 7)) || fail "$n signs of life"
}

units_are_valid() {
	command -v systemd-analyze >/dev/null || skip "no systemd-analyze"
	# The tree's own path may have spaces.
	ln -s "$CULPRIT" program
	for unit in "$tree"/experiments/systemd/*.service; do
		sed "s,/usr/local/bin/culprit,$PWD/program," "$unit" \
		    >"${unit##*/}"
		systemd-analyze verify "./${unit##*/}" >said 2>&1 ||
			{ cat said; fail "${unit##*/}"; }
		! grep -F "${unit##*/}" said || fail "${unit##*/}"
	done
}

# Of 10, in tenths: 1.2, 1.1, 1.1 and 1.8 by systemd 252, and other versions ask for
# more; what is left is that they are on the network, and on this host.
units_are_exposed_little() {
	local unit most
	systemd-analyze security --offline=true --threshold=100 \
	    "$tree/experiments/systemd/culprit-agent.service" >said 2>&1 ||
		skip "no systemd-analyze that looks at files"
	while read -r unit most; do
		SYSTEMD_LOG_LEVEL=err systemd-analyze security --no-pager \
		    --offline=true --threshold="$most" \
		    "$tree/experiments/systemd/culprit-$unit.service" \
		    >said 2>&1 || { cat said; fail "$unit"; }
		grep 'exposure level' said
	done <<-'END'
		agent 15
		collector 15
		controller 15
		recorder 22
	END
}

in_files() { python3 "$tree/tests/cli/lib/batches.py" "$@"; }

has_counted() {
	in_files records batches | grep -q connected &&
		in_files counters batches | awk '$3 > 0 { n++ } END { exit !n }'
}

# Two agents, controller and collector: a window of 5 minutes has what the agents
# counted. Agents of old sent records alone.
live_recordings_have_counters() {
	needs_lists
	own_servers
	ip addr add 10.0.0.2/32 dev lo
	local shape=(-sn_pods=1 -sn_tors=1 -sn_t1=1 -sn_t2=1 -sn_hosts=2)
	: >controller.out
	"$CULPRIT" controller --listen 10.0.0.1:8080 --insecure "${shape[@]}" \
	    "${as_user[@]}" \
	    -p tor_interval_s=10 >controller.out 2>controller.err &
	: >collector.out
	"$CULPRIT" collector --listen 10.0.0.1:8081 --insecure --dir batches \
	    "${as_user[@]}" --no-sync >collector.out 2>collector.err &
	within 10 grep -q '^http' controller.out || skip "no controller"
	within 10 grep -q '^http' collector.out || fail "no collector"
	for i in 1 2; do
		"$CULPRIT" agent --address 10.0.0.$i "${options[@]}" \
		    --controller http://10.0.0.1:8080 --insecure \
		    --collector http://10.0.0.1:8081 -p fetch_retry=1 \
		    -p upload_interval=1 -p perf_window=1 \
		    >agent$i.out 2>agent$i.err &
	done
	within 40 has_counted || { cat agent?.err; fail "nothing counted"; }
	run_for 0 "$CULPRIT" collector --dir batches --export day.h5 \
	    "${shape[@]}"
	says '^day.h5: .*, 0 of services, [1-9][0-9]* counters; ' stdout
	run_for 0 "$CULPRIT" jobs day.h5 --window 5m -q
	says '^data centre 0: [1-9][0-9]* probes' stdout
	in_files strip batches old
	run_for 0 "$CULPRIT" collector --dir old --export old.h5 "${shape[@]}"
	says '^old.h5: .*, 0 of services, 0 counters; ' stdout
}

refuses() { # CODE PATTERN OPTION...
	run_for "$1" timeout 10 "$CULPRIT" agent "${options[@]}" "${@:3}"
	says "$2"
	[[ $(grep -c '^culprit' stderr) = 1 ]] || { cat stderr; fail "lines"; }
	[[ ! -s stdout ]]
}

mistakes_are_named() {
	local c=(--controller http://127.0.0.1:1 --address 127.0.0.1)
	refuses 2 'controller is missing'
	refuses 2 'did you mean --controller' --controler x
	refuses 2 'no URL' --address 127.0.0.1 --controller 10.0.0.9
	refuses 2 'begin with http' --address 127.0.0.1 --controller ftp://a
	refuses 2 'cannot be asked' "${c[@]}" --collector 'http://a b'
	refuses 2 'address: "10.0.0" is not an IPv4 address' "${c[@]}" --address 10.0.0
	refuses 2 'fe80::1%eth0" has a zone' "${c[@]}" --address fe80::1%eth0
	refuses 2 'ff02::1" is no address that others' "${c[@]}" --address ff02::1
	refuses 2 'written with dots alone' "${c[@]}" --address ::ffff:10.0.0.1
	refuses 2 'port "0" is not a whole number in \[1, 65535\]' "${c[@]}" --port 0
	refuses 2 'port 80 is there twice' "${c[@]}" --port 80,81,80
	refuses 2 'more than 8 classes' "${c[@]}" --port 1,2,3,4,5,6,7,8,9
	refuses 2 'allow-port: "1-1024" has ports below 1024' "${c[@]}" \
	    --allow-port 1-1024
	refuses 2 'allow-port: "0" is neither a port' "${c[@]}" --allow-port 80,0
	refuses 2 'allow-net: .*10.0.0.256' "${c[@]}" --allow-net 10.0.0.256
	refuses 2 'dscp "64" is not a whole number in \[0, 63\]' "${c[@]}" --dscp 64
	refuses 2 '2 DSCPs, but 1 ports' "${c[@]}" --dscp 1,2
	refuses 2 'for "0" is not' "${c[@]}" --for 0
	refuses 2 'memory-mib "x"' "${c[@]}" --memory-mib x
	refuses 2 'first_port 9 is above last_port 8' "${c[@]}" \
	    -p first_port=9 -p last_port=8
	refuses 2 'there is no user "nosuch"' "${c[@]}" --user nosuch \
	    --port "$port"
	# The hard limits.
	refuses 2 'min_interval.*\[10, 86400\]' "${c[@]}" -p min_interval=9
	refuses 2 'max_payload.*\[0, 65536\]' "${c[@]}" -p max_payload=65537
	refuses 2 'did you mean "fetch_retry"' "${c[@]}" -p fetch_retr=1
	refuses 2 'another host, .* can be read and forged' \
	    --address 127.0.0.1 --controller http://10.0.0.9:8080
	refuses 2 'another host' "${c[@]}" --collector http://localhost.b:8081
	refuses 3 'port .* cannot be listened on' --port "$port" \
	    --controller http://127.0.0.1:1 --address 203.0.113.7
}

# In networks of lo alone: none, addresses that others do not reach, one of IPv6,
# which one of IPv4 goes before, and two.
its_address_is_found_if_there_is_one() {
	needs_lists
	cat >ask.sh <<-'END'
		ip link set lo up
		for address in 127.0.0.2/8 169.254.3.4/32 fd00::1/128 \
		    10.1.2.3/32 10.1.2.4/32; do
			ip addr add $address dev lo
			"$CULPRIT" agent --once "$@" --port 8765 \
			    -p fetch_retry=1 -p fetch_timeout=1 \
			    --controller http://127.0.0.1:1 2>err
			echo "exit $?"
			grep address err
		done
	END
	unshare -n bash ask.sh "${options[@]}" >said
	cat >want <<-'END'
		exit 2
		culprit: this host has no address that others reach.
		exit 2
		culprit: this host has no address that others reach.
		fd00::1: listens at port 8765 and asks http://127.0.0.1:1
		exit 1
		10.1.2.3: listens at port 8765 and asks http://127.0.0.1:1
		exit 1
		exit 2
		culprit: this host has several addresses, 10.1.2.3, 10.1.2.4: say which one by --address.
	END
	diff want said
}

if "$CULPRIT" agent --controller http://a --address 127.0.0.1 --once 2>&1 |
    grep -q 'built without libcurl, .* libcurl4-openssl-dev'; then
	echo "ok without_the_library_it_says_so"
	exit
fi

run_tests once_it_says_whether_there_is_a_list \
    a_list_that_asks_for_more_than_allowed_is_refused_whole \
    lists_are_taken_by_their_signature_alone \
    what_was_newest_outlives_a_restart that_there_is_no_list_is_signed \
    an_older_list_is_refused_and_closes_the_agent \
    files_are_opened_before_rights_are_given_up metrics_are_in_a_file \
    a_certificate_that_nobody_signed_is_refused \
    it_ends_by_signals_and_tells_its_status systemd_is_told units_are_valid \
    units_are_exposed_little \
    mistakes_are_named live_recordings_have_counters \
    its_address_is_found_if_there_is_one
