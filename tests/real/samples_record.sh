#!/bin/bash
# tests/real/samples_record.sh -- a recorder at one end of a pair of interfaces.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Each test is in a network namespace of its own, with va and vb, which are wired
# to each other and silent unless a test sends.
if [[ -z ${ALONE-} ]]; then
	[[ $(id -u) = 0 ]] && ALONE=yes exec unshare -nm bash "$0" "$@"
	echo "SKIP eBPF takes root"
	exit 0
fi
. tests/cli/lib/common.sh

export PYTHONDONTWRITEBYTECODE=1
memory=()
[[ $BUILD != *-san ]] || memory=(--memory-mib 0) # sanitizers take memory

# Nothing speaks unasked: no IPv6, and addresses of the link are known.
make_pair() {
	ip link del va 2>/dev/null || :
	ip link add name va type veth peer name vb
	for i in va vb; do
		echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6
		ip link set $i up
	done
	chmod 755 . ..
}

# [dir=DIR] start NAME OPTION...: at va; sets pid.
start() {
	local name=$1
	shift
	: >"$name.out"
	"$CULPRIT" samples record --if va --dir "${dir-$name}" \
	    --status "$name.status" -p jitter=0 "${memory[@]}" "$@" \
	    >"$name.out" 2>"$name.err" &
	pid=$!
	trap 'kill -KILL $(jobs -p) 2>/dev/null || :' EXIT
	within 10 grep -q ': samples v' "$name.out" && return
	grep -qE 'refused here|no hooks that end|without eBPF' "$name.err" &&
		skip "$(cat "$name.err")"
	cat "$name.err"
	fail "no recorder"
}

ends() { # CODE NAME
	local code=0
	wait "$pid" || code=$?
	[[ $code = "$1" ]] || { cat "$2.err"; fail "exit code $code"; }
}

# status NAME EXPRESSION: of the log, which SIGUSR1 brings up to date.
status() {
	local n
	n=$(grep -c '{"recorder"' "$1.err" || :)
	kill -USR1 "$pid"
	within 5 more_than "$n" "$1.err" || fail "no status"
	grep '{"recorder"' "$1.err" | tail -n 1 | sed 's/^[^{]*//' >now
	json now "$2"
}
more_than() { [[ $(grep -c '{"recorder"' "$2") -gt $1 ]]; }
says_of() { [[ $(status "$1" "$2") = True ]]; }

# Programs at both sides of an interface, as the kernel counts them.
programs() {
	python3 - "$1" <<-'END'
		import ctypes, os, socket, struct, sys
		libc = ctypes.CDLL(None, use_errno=True)
		call = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
		n = 0
		for side in 46, 47:
		    attr = ctypes.create_string_buffer(struct.pack("IIIIQII",
		        socket.if_nametoindex(sys.argv[1]), side, 0, 0, 0, 0, 0)
		        + bytes(96), 128)
		    if libc.syscall(call, 16, attr, 128) < 0:
		        raise OSError(ctypes.get_errno(), "BPF_PROG_QUERY")
		    n += struct.unpack_from("I", attr, 24)[0]
		print(n)
	END
}
has_programs() { [[ $(programs "$1") = "$2" ]]; }

# send FROM N: frames of all sizes from one end, as raw Ethernet.
send() {
	python3 - "$@" <<-'END'
		import random, socket, sys
		random.seed(5)
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind((sys.argv[1], 0))
		for i in range(int(sys.argv[2])):
		    s.send(bytes(12) + b"\x88\xb5"
		        + bytes(random.randrange(46, 1500)))
	END
}

counters() { # NAME: bytes in, bytes out
	awk -v n="$1:" '$1 == n { print $2, $10 }' /proc/self/net/dev
}

# The sum of what is kept is what the interface says went through it, to the
# byte: a run of 20 s begins with the first frame.
what_is_kept_is_what_went_through() {
	make_pair
	start st --widths 10ms --every 0.2s --once
	within 10 says_of st 'd["runs"]["n_own"] == 1'
	local before after
	before=$(counters va)
	send va 300
	send vb 500
	after=$(counters va)
	ends 0 st
	says 'ends: 1 runs kept, 0 found no room, 0 dropped' st.err
	run_for 0 "$CULPRIT" samples export st --csv
	# shellcheck disable=SC2086 # words are meant
	python3 - $before $after <<-'END'
		import csv, sys
		b = list(map(int, sys.argv[1:]))
		rows = list(csv.DictReader(open("stdout")))
		assert sum(int(r["in_bytes"]) for r in rows) == b[2] - b[0] > 0
		assert sum(int(r["out_bytes"]) for r in rows) == b[3] - b[1] > 0
		assert {r["width_ns"] for r in rows} == {"10000000"}
		assert rows[0]["bucket"] == "0"
	END
	run_for 0 "$CULPRIT" samples show st
	says "^$(hostname), run 0 of all: 20000 ms in 2000 buckets of 10 ms" stdout
	[[ ! -s stderr ]]
}

nothing_is_left_of_it() {
	make_pair
	tc qdisc show dev va >tc.before
	start st --widths 1ms --every 0.2s
	has_programs va 2
	[[ $(ps -o user= -p "$pid") = nobody ]]
	for line in CapEff CapPrm CapInh CapAmb CapBnd; do
		says "^$line:.0000000000000000$" "/proc/$pid/status"
	done
	says '^NoNewPrivs:.1$' "/proc/$pid/status"
	[[ -e $BUILD/experiments/live/seccomp_none.o ]] ||
		says '^Seccomp:.2$' "/proc/$pid/status"
	kill "$pid"
	ends 0 st
	within 5 has_programs va 0
	start st --widths 1ms --every 0.2s
	within 20 says_of st 'd["runs"]["n_kept"] > 0'
	says_of st 'd["n_refused_calls"] == 0'
	kill -KILL "$pid"
	ends 137 st
	within 5 has_programs va 0
	[[ $(tc filter show dev va ingress; tc filter show dev va egress) = "" ]]
	tc qdisc show dev va | diff tc.before -
	# What it kept is there, and is gone on with.
	start st --widths 1ms --every 0.2s
	says_of st 'd["folder"]["n_runs"] > 0'
	kill -INT "$pid"
	ends 0 st
	[[ $(find st -type f | wc -l) = 1 ]]
}

an_interface_has_one_recorder() {
	make_pair
	start st
	run_for 2 "$CULPRIT" samples record --if va --dir other "${memory[@]}"
	says_once 'va: another recorder is at this interface'
	run_for 3 "$CULPRIT" samples record --if vb --dir st "${memory[@]}"
	says_once 'another recorder holds st: each needs a folder of its own'
	has_programs va 2
	within 5 has_programs vb 0
	kill "$pid"
	ends 0 st
}

# Silence of an interface that is no more is no silence of the host.
without_its_interface_it_ends() {
	make_pair
	start st --widths 1ms --every 0.2s
	within 10 says_of st 'd["runs"]["n_own"] == 1'
	ip link del va
	ends 3 st
	says 'fails: interface va has gone' st.err
	[[ $(python3 -c 'import os
print(sum(os.path.getsize(f"st/{n}") for n in os.listdir("st")))') = 0 ]]
}

a_full_disk_costs_runs_alone() {
	make_pair
	mkdir disk
	mount -t tmpfs -o size=64k,mode=777 none disk
	dir=disk/st start st --widths 1ms --every 0.2s
	head -c 70000 /dev/zero >disk/full 2>/dev/null || :
	within 20 says_of st 'd["runs"]["n_unkept"] > 0'
	says 'runs are not kept: cannot .*: No space left on device' st.err
	rm disk/full
	within 20 says_of st 'd["runs"]["n_kept"] > 0'
	says 'runs are kept again; [0-9]+ were not' st.err
	kill "$pid"
	ends 0 st
	run_for 0 "$CULPRIT" samples export disk/st --csv
	umount disk
}

# Two ends, runs at one time: a rack, whose buckets are shared.
a_rack_samples_at_one_time() {
	make_pair
	local a
	mkdir -m 777 rack
	start rack/a --widths "" --sync 4.1s --start aligned --once --host a
	a=$pid
	"$CULPRIT" samples record --if vb --dir rack/b --widths "" --sync 4.1s \
	    --start aligned --once --host b "${memory[@]}" >b.out 2>b.err &
	pid=$!
	ends 0 b
	wait "$a"
	# An end may have had one run more than the other before that.
	run_for 0 "$CULPRIT" samples rack rack
	python3 - <<-'END'
		import csv
		rows = list(csv.DictReader(open("stdout"), delimiter="\t"))
		print(rows)
		assert max(int(r["hosts"]) for r in rows) == 2
		assert all(int(r["start_ns"]) % 10**6 == 0 for r in rows)
	END
}

tests=${TESTS:-what_is_kept_is_what_went_through nothing_is_left_of_it \
    an_interface_has_one_recorder without_its_interface_it_ends \
    a_full_disk_costs_runs_alone a_rack_samples_at_one_time}
# shellcheck disable=SC2086
run_tests $tests
