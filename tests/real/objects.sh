#!/bin/bash
# tests/real/objects.sh -- simulated and real agents are the same objects.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

declare -A agents=([pingmesh]=algos/pingmesh/agent.o
    [path]=algos/vigil/path_agent.o)

# Every program is linked with libculprit.a, so what it holds is what runs.
algorithms_are_linked_as_they_were_compiled() {
	local lib=$BUILD/libculprit.a
	for source in $(cd "${tree:?}" && find algos -name '*.c'); do
		o=$BUILD/${source%.c}.o name=$(basename "$source" .c).o same=0
		for i in $(seq "$(ar t "$lib" | grep -cx "$name")"); do
			ar xN "$i" "$lib" "$name"
			cmp -s "$name" "$o" && same=$((same + 1))
		done
		[[ $same = 1 ]] || fail "$name differs"
	done
	for agent in "${!agents[@]}"; do
		nm -A "$lib" 2>/dev/null |
			grep -E " [A-Za-z] algo_${agent}_agent\$" |
			grep -v ' U ' >defined
		[[ $(wc -l <defined) = 1 ]]
		grep -q ":$(basename "${agents[$agent]}"):" defined
	done
}

# The programs of both worlds have the agents, of the size they were compiled
# to, and the agents ask nothing of either world.
one_agent_is_in_both_worlds() {
	local sim=$BUILD/culprit real=$BUILD/tests/real/fabric_real_test
	for agent in "${!agents[@]}"; do
		o=$BUILD/${agents[$agent]}
		for program in "$o" "$sim" "$real"; do
			nm -S "$program" |
				sed -n "s/^[0-9a-f]* \([0-9a-f]*\) [A-Z] \
\(algo_${agent}_agent.*\)$/\1 \2/p" | sort >now
			[[ -s now ]]
			[[ $program = "$o" ]] && cp now want
			[[ -z $(comm -23 want now) ]] || fail "$program"
		done
		nm -u "$o" | grep -E ' U (fabric|real|netns|sock|epoll)' &&
			fail "$agent knows where it is"
	done
	return 0
}

run_tests algorithms_are_linked_as_they_were_compiled \
    one_agent_is_in_both_worlds
