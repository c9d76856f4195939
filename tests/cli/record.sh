#!/bin/bash
# tests/cli/record.sh -- culprit record: a file of probes, or a plain refusal.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

write_pings() {
	cat >pings.yaml <<-END
		figure: pings
		plane: pingmesh
		runs: 2
		topology: { n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2 }
		algorithms: [blackhole]
		pingmesh: { duration: 300, window: 100 }
		smoke: { pingmesh: { duration: 100, window: 100 } }
	END
}

it_writes_the_file_that_it_names() {
	write_pings
	run_for 0 "$CULPRIT" record pings.yaml -o a.h5
	says '^pings: [0-9]+ probes, 0 of VIPs, [0-9]+ counters -> a.h5$' stdout
	run_for 0 "$CULPRIT" record pings.yaml
	[[ -s results/out/pings.recording.h5 ]]
	same a.h5 results/out/pings.recording.h5
	run_for 0 "$CULPRIT" record pings.yaml -o b.h5 --run 1
	not cmp -s a.h5 b.h5
	run_for 0 "$CULPRIT" record pings.yaml -o b.h5 --smoke
	not cmp -s a.h5 b.h5
	run_for 0 "$CULPRIT" record pings.yaml -o c.h5 -s \
	    pingmesh.duration=100
	[[ $(h5dump -d /probes/src_port b.h5 | wc -l) = \
	    $(h5dump -d /probes/src_port c.h5 | wc -l) ]]
}

what_is_no_cell_is_refused() {
	write_pings
	run_for 2 "$CULPRIT" record
	says 'no spec'
	run_for 2 "$CULPRIT" record pings.yaml pings.yaml
	says 'one SPEC at a time'
	run_for 2 "$CULPRIT" record pings.yaml --run 2
	says_once 'point 0, run 2: the sweep has points 0 to 0 and runs 0 to 1'
	run_for 2 "$CULPRIT" record pings.yaml --point x
	says 'not a whole number'
	run_for 2 "$CULPRIT" record pings.yaml -s plane=auto \
	    -s 'algorithms=[vote]' -o x.h5
	says 'plane auto has no probes to record; set plane: pingmesh'
	run_for 2 "$CULPRIT" record nothing.yaml
	run_for 3 "$CULPRIT" record pings.yaml -o no/such/x.h5
	only_files pings.yaml
}

a_recording_is_analysed() {
	write_pings
	run_for 0 "$CULPRIT" record pings.yaml -o a.h5 -s noise.rate=0.02 \
	    -s pingmesh.sla.min_probes=100
	says ' 8 counters -> a.h5$' stdout
	run_for 0 "$CULPRIT" jobs a.h5 --window=5m -q
	[[ ! -s stderr ]]
	says '^data centre 0: [0-9]+ probes, 100 % seen$' stdout
	says '^  highest drop rate: 0[.]1[0-9]*, from 0 s on$' stdout
	says '^  highest P99: .* s, from 0 s on .mean of the servers' stdout
	says '^  alerts: .*data_centre .1., in 1 window$' stdout
	run_for 0 "$CULPRIT" jobs a.h5 -q
	says '^culprit: 1 of 1 windows .* 0 to 600 s, .*: 50 % seen[.]$'
	run_for 0 "$CULPRIT" record pings.yaml -o b.h5 -s noise.rate=0
	run_for 0 "$CULPRIT" jobs b.h5 --window=5m -q
	says '^  no drops$' stdout
	says '^  alerts: none, of scopes with [0-9]+ probes or more$' stdout
}

# Four servers of which each probes two others each 10 s.
write_bulk() {
	cat >bulk.yaml <<-END
		figure: bulk
		plane: pingmesh_bulk
		topology: { n_pods: 2, n_tors: 1, n_t1: 2, n_t2: 2, n_hosts: 2 }
		noise: { rate: 0.01 }
		pingmesh:
		  duration: 1800
		  pinglist: { tor_interval_s: 10, dc_interval_s: 10 }
	END
}

in_bulk_tables_of_jobs_are_written() {
	write_bulk
	run_for 0 "$CULPRIT" record bulk.yaml
	says '^bulk: 3 windows of 1440 probes, [0-9]+ late or failed; [0-9]+ rows of tables -> results/out/bulk.jobs.h5$' stdout
	run_for 0 "$CULPRIT" record bulk.yaml -o a.h5
	same a.h5 results/out/bulk.jobs.h5
	h5dump -a /jobs a.h5 | grep -q \
	    '"drop_rate sla heatmap blackhole silent_drop counters"'
	[[ $(h5dump -d /summary/n_probes -y -w 1 a.h5 |
	    grep -c '480') = 3 ]]
	[[ $(h5dump -d /counters/kind -y -w 1 a.h5 |
	    grep -cE '^ +0,?$') -ge 24 ]]
	run_for 0 "$CULPRIT" record bulk.yaml -o b.h5 -s pingmesh.window=450 \
	    -s pingmesh.duration=450
	h5dump -a /jobs b.h5 | grep -q '"drop_rate sla heatmap blackhole silent_drop"'
	run_for 2 "$CULPRIT" record bulk.yaml -o c.h5 \
	    -s pingmesh.repair.on=true
	says_once 'those of a network that nobody repairs'
	# Windows need not be of whole intervals between probes.
	run_for 0 "$CULPRIT" record bulk.yaml -o d.h5 -s pingmesh.window=601 \
	    -s pingmesh.duration=601
	echo mine >mine.h5
	run_for 2 "$CULPRIT" record bulk.yaml -o mine.h5
	[[ $(cat mine.h5) = mine && ! -e c.h5 ]]
}

run_tests it_writes_the_file_that_it_names what_is_no_cell_is_refused \
    a_recording_is_analysed in_bulk_tables_of_jobs_are_written
