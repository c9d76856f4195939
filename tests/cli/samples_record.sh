#!/bin/bash
# tests/cli/samples_record.sh -- a recorder's command line, and what it keeps.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Those that record are in tests/real/samples_record.sh.
. tests/cli/lib/common.sh

memory=()
[[ $BUILD != *-san ]] || memory=(--memory-mib 0) # sanitizers take memory

refuses() { # CODE PATTERN OPTION...
	run_for "$1" timeout 20 "$CULPRIT" samples record "${memory[@]}" \
	    "${@:3}"
	says "$2"
	[[ $(grep -c '^culprit' stderr) = 1 ]] || { cat stderr; fail "lines"; }
	[[ ! -s stdout ]]
	only_files
}

mistakes_are_named() {
	local c=(--if lo --dir st)
	refuses 2 'if NAME: at which interface' --dir st
	refuses 2 'dir DIR: where are runs to be kept' --if lo
	refuses 2 'did you mean --every' "${c[@]}" --evry 1s
	refuses 2 'there is no interface "nosuch"; there are: .*lo' \
	    --if nosuch --dir st
	refuses 2 'every 0.001 is not in \[0.1, 86400\] s' "${c[@]}" --every 1ms
	refuses 2 'every: "10" is no time' "${c[@]}" --every 10
	refuses 2 'widths.*2ms' "${c[@]}" --widths 1ms,2ms
	refuses 2 'widths: of none there are no runs' "${c[@]}" --widths ""
	refuses 2 'start.*did you mean "aligned"' "${c[@]}" --start algned
	refuses 2 'mark "tos" is not ttl, dscp or none' "${c[@]}" --mark tos
	for region in 10.0.0.0 10.0.0.0/33 fd00::/129 10.0.0.0/0 x/8; do
		refuses 2 "region \"$region\" is no network" "${c[@]}" \
		    --region $region
	done
	refuses 2 'max-age: less than a second' "${c[@]}" --max-age 1ms
	refuses 2 'max-mib "2" is not a whole number in \[3,' "${c[@]}" \
	    --max-mib 2
	refuses 2 'host: a name has 63 bytes at most' "${c[@]}" \
	    --host "$(printf '%064d' 0)"
	refuses 2 'there is no key "jiter"; did you mean "jitter"' "${c[@]}" \
	    -p jiter=0
	refuses 2 'for "0" is not in' "${c[@]}" --for 0
}

# lo says no speed, which is asked for before rights are.
what_an_interface_carries_must_be_known() {
	refuses 2 'interface lo does not say what its line carries: --line' \
	    --if lo --dir st
	refuses 2 'interface lo does not say what its line carries: --line' \
	    --if lo --dir st --region 10.0.0.0/8 --region fd00::/16 \
	    --mark dscp --wire --widths 1ms --start aligned --sync 10s
}

without_rights_it_says_which() {
	local as=()
	[[ $(id -u) != 0 ]] || as=(setpriv --reuid 65534 --regid 65534
	    --clear-groups)
	chmod 755 .. .
	run_for 2 "${as[@]}" "$CULPRIT" samples record --if lo --dir st \
	    --line 1000 "${memory[@]}"
	says 'eBPF is refused here: .* CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN|built without eBPF'
	only_files
}

# A folder as a recorder writes it, by another program: N runs of 4 buckets.
make_folder() { # DIR HOST N
	mkdir -p "$1"
	python3 - "$@" <<-'END'
		import struct, sys
		def fnv(b):
		    h = 0xcbf29ce484222325
		    for x in b:
		        h = (h ^ x) * 0x100000001b3 % 2**64
		    return struct.pack("<Q", h)
		def varint(x):
		    x = x * 2 if x >= 0 else -2 * x - 1
		    out = b""
		    while x > 127:
		        out += bytes([x % 128 + 128])
		        x //= 128
		    return out + bytes([x])
		def column(v):
		    return b"".join(varint(x - y) for x, y in zip(v, [0] + v))
		folder, host, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
		head = struct.pack("<8sII64s", b"culpritM", 1, 2**32 - 1,
		    host.encode())
		with open(f"{folder}/samples-20260203-0001.cpms", "wb") as f:
		    f.write(head + fnv(head))
		    for i in range(n):
		        bucket, size = [0, 1, 3], [900000, 1500 + i, 800000]
		        zero = [0] * 3
		        rows = b"".join(map(column, [bucket, size, size, zero,
		            zero, zero, zero, zero, [7] * 3])) + bytes(48)
		        h = struct.pack("<4sIIIQQQIIII", b"MsRn", len(rows),
		            len(rows), 0, (1770000000 + 10 * i) * 10**9, 10**6,
		            10**10, 4, 0, 3, 2) + fnv(rows)
		        f.write(h + fnv(h) + rows)
	END
}

# The format is that of its page, since this is all that wrote it.
a_folder_is_read_as_a_file_is() {
	make_folder rack/a a 3
	make_folder rack/b b 3
	run_for 0 "$CULPRIT" samples bursts rack --json
	[[ ! -s stderr ]]
	[[ $(json stdout 'len(d), sorted({x["host"] for x in d})') = \
	    "(12, ['a', 'b'])" ]]
	run_for 0 "$CULPRIT" samples rack rack
	[[ $(awk 'NR > 1 { print $1, $2 }' stdout | wc -l) = 3 ]]
	run_for 0 "$CULPRIT" samples show rack b --run 2
	says '^b, run 5 of all: 4 ms in 4 buckets of 1 ms$' stdout
	run_for 0 "$CULPRIT" samples show rack/a
	run_for 0 "$CULPRIT" samples cause rack --all
	run_for 0 "$CULPRIT" samples export rack --csv
	[[ $(wc -l <stdout) = 19 ]]
	[[ $(grep -c '^1770000010001000000,1000000,0,[01],[23],1,1501,1501,' \
	    stdout) = 2 ]]
}

what_is_damaged_or_torn_is_told_and_left_out() {
	local f=st/samples-20260203-0001.cpms
	make_folder st a 3
	printf '\377' | dd of=$f bs=1 seek=300 conv=notrunc 2>/dev/null
	truncate -s -5 $f
	run_for 0 "$CULPRIT" samples export st --csv
	[[ $(wc -l <stdout) = 4 ]]
	says_once "^culprit: st: 1 damaged place is left out, the first in \
st/samples-20260203-0001.cpms at byte [0-9]+; [0-9]+ bytes at ends of files"
	printf 'culpritM\2' | dd of=$f conv=notrunc 2>/dev/null
	run_for 3 "$CULPRIT" samples show st
	says_once "cannot read st/samples-.*: it has version 2; this .* reads 1"
	rm $f
	run_for 3 "$CULPRIT" samples show st
	says_once 'st has no samples: neither files such as samples-'
}

run_tests mistakes_are_named what_an_interface_carries_must_be_known \
    without_rights_it_says_which a_folder_is_read_as_a_file_is \
    what_is_damaged_or_torn_is_told_and_left_out
