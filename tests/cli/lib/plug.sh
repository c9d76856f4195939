# tests/cli/lib/plug.sh -- sweeps with an algorithm from outside.
# SPDX-License-Identifier: GPL-3.0-or-later

# A sweep of two points with an algorithm $1, as `exec: x`, and more of it, $2.
write_plug() {
	cat >plug.yaml <<-END
		figure: plug
		seed: 5
		runs: 12
		topology: { n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, n_hosts: 4 }
		traffic: { conns: 20, packets: 50 }
		faults: { count: 1, rate: 1e-2 }
		algorithms: [vote, { $1 ${2-} }]
		sweep: { grid: { faults.count: [1, 3] } }
	END
}

silent() {
	! grep -qE -e "$1" "${2-stdout}" || fail "${2-stdout} says: $1"
}

# The columns of algorithm $1 as they stand in a table.
columns_of() {
	"$CULPRIT" table "$2" | awk -F'\t' -v a="$1:" '
		NR == 1 { for (i = 1; i <= NF; i++) if (index($i, a) == 1) k[i] }
		{ line = ""
		  for (i = 1; i <= NF; i++) if (i in k) line = line $i "\t"
		  print line }'
}

# Sets `python` to one that has numpy, or ends the test.
find_numpy() {
	for python in python3 /usr/bin/python3 ''; do
		[[ $python ]] || skip "no numpy"
		"$python" -c 'import numpy' 2>/dev/null && break
	done
}
