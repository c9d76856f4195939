#!/bin/bash
# tests/browser/run.sh -- pages in a headless Chromium, as people use them.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/browser/run.sh BUILD
# Pictures of what was looked at are left in BUILD/tests/browser.
set -eu
build=$PWD/$1
if ! python3 -c 'import sys; sys.path.insert(0, "tests/browser")
import browser; sys.exit(browser.find() is None)'; then
	echo "check-browser SKIPPED: there is no chromium" \
	    "(on Debian: apt-get install chromium)"
	exit 0
fi
here=$PWD/tests/browser
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$build/tests/browser"
cd "$work"

# Its title, paper and labels try to be markup.
cat >small.yaml <<-'END'
	figure: small
	title: "<script>xss = 1</script> \"it's\" & co"
	paper: "<img src=x onerror='xss = 1'>"
	runs: 8
	topology: { n_pods: 2, n_tors: 6, n_t1: 3, n_t2: 2, n_hosts: 4 }
	traffic: { conns: 30, packets: 50 }
	noise: { rate: 1e-4 }
	faults: { count: 2, rate: 1e-2 }
	algorithms: [vote, { name: alg1, label: "<b onload='xss = 1'>" }, cover]
	sweep: { grid: { faults.count: [1, 2, 4, 8] } }
END
cat >claims.yaml <<-'END'
	claims:
	  - { id: a, figure: small, certainty: S, text: "<script>xss = 1</script>",
	      metric: accuracy_fault, algorithm: vote, relation: ">=", value: 50 % }
	  - { id: b, figure: small, certainty: R, text: "none is found",
	      metric: recall, algorithm: cover, relation: "<=", value: 1 % }
	  - { id: c, figure: small, certainty: R, text: "precision",
	      metric: precision, algorithm: cover }
	  - { id: d, figure: small, certainty: S, text: "n",
	      metric: n_flagged, algorithm: cover, relation: ">=", value: 1 }
	  - { id: e, figure: small, certainty: S, text: "in words",
	      note: "nothing" }
END
printf '# Why\n\n## Because (`b`)\n\nOf <script>xss = 1</script> `it`.\n' \
    >differs.md
"$build/culprit" run small.yaml -q -o one.h5
cp one.h5 two.h5
# A label that tries, too.
"$build/culprit" arena -q -o arena --size s --families single,none --set runs=2 \
    --telemetries int,a2 --plot --algorithms \
    'alg1,{name: flock, label: "<b onload=xss=1>"},sieve' >arena.out
"$build/culprit" report one.h5 two.h5 arena -q --claims ./claims.yaml -o page.html
python3 "$here/report.py" page.html "$build/tests/browser"
