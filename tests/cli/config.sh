#!/bin/bash
# tests/cli/config.sh -- options from a file, and from the file again.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh
. tests/cli/lib/serve.sh

own_servers() {
	"$CULPRIT" controller --listen x 2>&1 | grep -q 'built without' &&
		skip "no libmicrohttpd"
	trap 'kill -9 $(jobs -p) 2>/dev/null || :' EXIT
}

[[ $(id -u) = 0 ]] && user=(--user root) || user=()
[[ $BUILD != *-san ]] || user+=(--memory-mib 0) # sanitizers take memory

agent_once() { # CODE OPTION...: it asks nobody who is there
	local code=$1
	shift
	run_for "$code" "$CULPRIT" agent --once "${user[@]}" "$@"
}

keys_are_the_long_options() {
	local verb option
	for verb in agent controller collector; do
		"$CULPRIT" $verb --help | grep -oE '^  (-., |    )--[a-z0-9-]+' |
			sed 's/.*--//' >options
		[[ $(wc -l <options) -gt 12 ]]
		for option in $(cat options); do
			# Of the wrong kind for any option, so that none is taken.
			echo "$option: [[1]]" >c.yaml
			run_for 2 "$CULPRIT" $verb --config c.yaml
			case $option in
			config | once | export | help | usage | version)
				says "^culprit: c.yaml:1:.*there is no option"
				;;
			*)
				says "^culprit: c.yaml:1:[0-9]+: $option "
				;;
			esac
		done
	done
}

the_command_line_wins() {
	local port
	port=$(free_port)
	cat >c.yaml <<-'END'
		controller: [http://127.0.0.1:1, http://127.0.0.2:1]
		address: 127.0.0.1
		port: 0
		param: { fetch_retry: 77777777, fetch_timeout: 1 }
		insecure: false
	END
	"$CULPRIT" agent --help >/dev/null
	agent_once 2 --config c.yaml
	says_once '^culprit: c.yaml:3:7: --port "0" is not a whole number'
	agent_once 2 --config=c.yaml --port "$port"
	says_once '^culprit: c.yaml:4:23: --param fetch_retry'
	"$CULPRIT" agent --controller x 2>&1 | grep -q 'built without' &&
		skip "no libcurl"
	agent_once 1 --config c.yaml --port "$port" -p fetch_retry=2
	says '^127.0.0.1: listens at port '"$port"' and asks http://127.0.0.1:1,http://127.0.0.2:1$' stdout
	# Also by the beginning of a name: not both networks are allowed, then.
	printf 'controller: http://127.0.0.1:1\nallow-net: 127.0.0.0/33\n' >d.yaml
	agent_once 2 --config d.yaml
	says_once '^culprit: d.yaml:2:12: --allow-net'
	agent_once 1 --conf d.yaml --allow-n 10.0.0.0/8 --address 127.0.0.1 \
	    --port "$port"
	agent_once 2 --config c.yaml --port "$port" -pfetch_retry=2 \
	    --controller http://10.0.0.9
	says_once '^culprit: "http://10.0.0.9/pinglist/127.0.0.1" is another host'
}

mistakes_have_their_place() {
	local n=0
	while IFS='|' read -r text says; do
		printf '%b\n' "$text" >c.yaml
		run_for 2 "$CULPRIT" agent --config c.yaml
		says_once "^culprit: c.yaml:$says"
		n=$((n + 1))
	done <<-'END'
		controlller: x|1:14: there is no option "controlller"; did you mean "controller"
		once: true|1:7: there is no option "once" in a file
		insecure: maybe|1:11: insecure is true or false
		insecure: "true"|1:11: insecure is true or false
		port: {a: 1}|1:7: port takes one value
		for: [1, 2]|1:6: for takes one value
		user:|1:[0-9]+: user takes one value
		allow-net: []|1:12: allow-net takes one value
		allow-port: 22-25|1:13: --allow-port: .22-25. has ports below 1024
		param: x|1:8: param is a map
		\nparam: {fetch_intervall: 3}|2:26: --param: there is no key .*did you mean "fetch_interval"
		[a]|1:1: options are keys of a map
		port: 1\nport: 2|2:[0-9]+: .*twice
	END
	[[ $n = 13 ]]
	printf 'param: { fetch_retry: %0600d }\n' 1 >c.yaml
	run_for 2 "$CULPRIT" agent --config c.yaml
	says_once '^culprit: c.yaml:1:23: it is too long\.$'
	run_for 3 "$CULPRIT" agent --config nowhere.yaml
	says_once 'nowhere.yaml cannot be opened: No such file'
	run_for 2 "$CULPRIT" agent --config ''
	says_once 'needs a file.s name'
}

code_of() { curl -so /dev/null -w '%{http_code}' "$1"; }
is_told() { [[ $(grep -cE "$1" "$2") -ge ${3-1} ]]; }

a_hangup_takes_what_can_change_and_names_the_rest() {
	own_servers
	printf 'threads: 2\nstop-file: %s\n' "$PWD/stop" >c.yaml
	serve c controller --config c.yaml --listen $any
	local list=http://127.0.0.1:$port_c/pinglist/10.0.0.1
	[[ $(code_of "$list") = 200 ]]
	touch stop
	[[ $(code_of "$list") = 404 ]]
	# A mistake changes nothing, however it is made.
	for bad in 'stop-file: [a' 'stop_file: other' 'send-s: 0'; do
		echo "$bad" >c.yaml
		: >c.err
		kill -HUP "$pid_c"
		within 10 is_told 'settings stay as they were: .*c.yaml:[12]:' c.err
		[[ $(code_of "$list") = 404 ]]
	done
	# What is said as before needs no restart.
	printf 'threads: 2\nset: { n_pods: 3 }\nstop-file: %s\n' \
	    "$PWD/stop" >c.yaml
	: >c.err
	kill -HUP "$pid_c"
	within 10 is_told 'read again; a restart takes: set$' c.err
	[[ $(code_of "$list") = 404 ]]
	printf 'stop-file: %s\nset: { n_pods: 3 }\nthreads: 3\n' \
	    "$PWD/other" >c.yaml
	: >c.err
	kill -HUP "$pid_c"
	within 10 is_told 'read again; a restart takes: threads, set$' c.err
	[[ $(code_of "$list") = 200 ]]
	mv c.yaml gone.yaml
	: >c.err
	kill -HUP "$pid_c"
	within 10 is_told 'stay as they were: .*c.yaml cannot be opened' c.err
	[[ $(code_of "$list") = 200 ]]
	: >c.err
	kill -TERM "$pid_c"
	wait "$pid_c" || fail "exit $?"
}

a_collector_takes_new_limits() {
	own_servers
	echo "total-mib: 1" >c.yaml
	serve c collector --config c.yaml --listen $any --dir batches
	echo "total-mib: 7" >c.yaml
	kill -HUP "$pid_c"
	within 10 is_told 'settings are read again$' c.err
	curl -s "http://127.0.0.1:$port_c/metrics" >metrics
	says '^culprit_collector_store_limit_bytes 7340032$' metrics
	: >c.err
}

an_agent_asks_others_after_a_hangup() {
	"$CULPRIT" agent --controller x 2>&1 | grep -q 'built without' &&
		skip "no libcurl"
	trap 'kill -9 $(jobs -p) 2>/dev/null || :' EXIT
	cat >c.yaml <<-'END'
		controller: http://127.0.0.1:1
		address: 127.0.0.1
		param: { fetch_retry: 1, fetch_interval: 10 }
	END
	: >err
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
	NOTIFY_SOCKET="$PWD/notify" "$CULPRIT" agent --config c.yaml \
	    --port "$(free_port)" "${user[@]}" >out 2>err &
	local pid=$!
	within 10 is_told 'http://127.0.0.1:1/pinglist.*connect' err
	sed -i 's/0.1:1/0.2:2/' c.yaml
	echo 'status: x' >>c.yaml
	kill -HUP $pid
	within 10 is_told 'settings are read again; a restart takes: status$' err
	within 10 is_told 'http://127.0.0.2:2/pinglist.*connect' err
	echo 'controller: http://10.0.0.9' >c.yaml
	kill -HUP $pid
	within 10 is_told 'stay as they were: .*10.0.0.9.* is another host' err
	kill -TERM $pid
	wait $pid || fail "exit $?"
	# A service manager hears of each hangup when it begins and ends.
	within 5 is_told STOPPING=1 said
	[[ $(tr '\n' ' ' <said) = "READY=1 RELOADING=1 READY=1 RELOADING=1 \
READY=1 STOPPING=1 " ]]
}

# Files that are installed are files of today's options, and units name them.
those_that_are_installed_are_read() {
	local verb
	for verb in agent controller collector; do
		sed 's/^# \([a-z-]*: .*\)/\1/' \
		    "$tree/experiments/live/$verb.yaml" >c.yaml
		[[ $(grep -c '^[a-z]' c.yaml) -ge 5 ]]
		run_for 2 "$CULPRIT" $verb --config c.yaml --no-such
		says 'there is no option --no-such'
		echo 'no-such: 1' >>c.yaml
		run_for 2 "$CULPRIT" $verb --config c.yaml
		says_once 'there is no option "no-such"'
		says "config \\\$\{CONFIG\}" \
		    "$tree/experiments/systemd/culprit-$verb.service"
		says '^ExecReload=kill -HUP' \
		    "$tree/experiments/systemd/culprit-$verb.service"
	done
}

# Of our own reader a mistake of YAML is told as such, and a document that is one
# as having keys that are no options.
the_manifest_is_yaml_and_names_options_that_exist() {
	local manifest=$tree/experiments/live/daemonset.yaml option n=0
	run_for 2 "$CULPRIT" agent --config "$manifest"
	says 'daemonset.yaml:[0-9]+:[0-9]+: there is no option "apiVersion"'
	[[ $(grep -c . stderr) -le 5 ]] # of its three keys, and what follows
	"$CULPRIT" agent --help >help
	for option in $(sed -n 's/^ *- --\([a-z-]*\)=.*/\1/p' "$manifest"); do
		grep -qE -e "--$option(=|$|  )" help || fail "no --$option"
		n=$((n + 1))
	done
	[[ $n = 4 ]]
	# The file of settings in it is one, and goes with those words.
	awk '/agent.yaml: \|/ { on = 1; next }
		on && !/^        / { exit } on { print substr($0, 9) }' \
	    "$manifest" >c.yaml
	[[ $(wc -l <c.yaml) = 7 ]]
	run_for 2 "$CULPRIT" agent --config c.yaml --address 10.0.0.17 \
	    --cert a.pem --key a.key --port 0
	says_once '[-]-port .0. is not a whole number'
	# Its version is that of the program, and a probe has room.
	grep -q "image: culprit:$("$CULPRIT" --version |
		awk 'NR == 1 { print $2 }')$" "$manifest" || fail "another version"
}

run_tests keys_are_the_long_options the_command_line_wins \
    mistakes_have_their_place a_hangup_takes_what_can_change_and_names_the_rest \
    a_collector_takes_new_limits an_agent_asks_others_after_a_hangup \
    those_that_are_installed_are_read \
    the_manifest_is_yaml_and_names_options_that_exist
