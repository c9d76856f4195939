#!/bin/bash
# tests/cli/jobs.sh -- culprit jobs: a recording in, tables beside it.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

writer=$BUILD/tests/experiments/pingmesh/dsa_test
[[ $writer = /* ]] || writer=$tree/$writer
[[ $CULPRIT = /* ]] || CULPRIT=$tree/$CULPRIT

# An hour, of which 50 minutes are recorded; see write_scene() there.
record() {
	[[ -x $writer ]] || skip "no $writer"
	"$writer" write rec.h5
}

results_stand_beside_the_recording() {
	record
	cp rec.h5 before
	run_for 0 "$CULPRIT" jobs rec.h5
	says '^rec.h5: 6 x 600 s -> rec.10min.h5$' stdout
	says '^data centre 0: 11250 probes, 78.1[0-9]* % seen$' stdout
	says '^data centre 1: 12000 probes, 83.3[0-9]* % seen$' stdout
	says '^  highest P99: 250 us, from [0-9]+ s on$' stdout
	says '^  alerts: ' stdout
	says '^  patterns: normal \(5\)$' stdout
	says '^culprit: 7 of 12 windows were seen in part; the least is 3000 to 3600 s'
	says '6/6 windows'
	for window in 5m 1h 1d 900 0.5e3; do
		run_for 0 "$CULPRIT" jobs rec.h5 --window=$window -q
		[[ $(wc -l <stderr) = 1 ]]
	done
	same rec.h5 before
	only_files rec.h5 before rec.10min.h5 rec.5min.h5 rec.1h.h5 \
	    rec.1day.h5 rec.900s.h5 rec.500s.h5
}

the_same_command_gives_the_same_bytes() {
	record
	run_for 0 "$CULPRIT" jobs rec.h5 -q -o a.h5
	cp stdout first
	run_for 0 "$CULPRIT" jobs rec.h5 -q -o b/c/a.h5
	same a.h5 b/c/a.h5
	run_for 0 "$CULPRIT" jobs rec.h5 -q -o a.h5
	same stdout first
	only_files rec.h5 a.h5 b b/c b/c/a.h5 first
}

black_holes_show_in_an_hour() {
	record
	run_for 0 "$CULPRIT" jobs rec.h5 --window=1h -q
	says '^  ToRs to reload: none$' stdout
	says '^  ToRs to reload: 1 \(0 s\)$' stdout
	says '^  random drops: none \(1\)$' stdout
	run_for 0 "$CULPRIT" jobs rec.h5 --window=1h -q --json
	[[ $(json stdout 'd["reload"]') = \
	    "[{'data_centre': 1, 'tor': 1, 'from_s': 0}]" ]]
	[[ $(json stdout '[w["n_reload"] for w in d["windows"]]') = \
	    "[0, 1]" ]]
	[[ $(json stdout '[w["tor_pattern"] for w in d["windows"]]') = \
	    "['normal', 'normal']" ]]
}

windows_are_chosen_by_time() {
	record
	run_for 0 "$CULPRIT" jobs rec.h5 --from 600 --to 1800 --json -q
	[[ $(json stdout '[(w["data_centre"], w["from_s"], w["to_s"])
	    for w in d["windows"]]') = \
	    "[(0, 600, 1200), (1, 600, 1200), (0, 1200, 1800), (1, 1200, 1800)]" ]]
	[[ $(json stdout '[w["seen_share"] for w in d["windows"]][:2]') = \
	    "[0.9375, 1]" ]]
	[[ $(json stdout 'sum(w["n_probes"] for w in d["windows"])') = 9300 ]]
	says '2 of 4 windows were seen in part'
	run_for 0 "$CULPRIT" jobs rec.h5 --from 2700 --to 2701 --json -q
	[[ $(json stdout '[(w["seen_share"], w["n_silent"])
	    for w in d["windows"]]') = "[(0.46875, 1), (0.5, 0)]" ]]
}

jobs_are_chosen_by_name() {
	record
	run_for 0 "$CULPRIT" jobs rec.h5 --job sla,counters --job blackhole \
	    --json -q
	[[ $(json stdout 'd["windows"][1]["tor_pattern"]') = not_run ]]
	[[ $(json stdout 'd["windows"][1]["n_reload"]') = 1 ]]
	run_for 0 "$CULPRIT" jobs rec.h5 --window 5m --json -q
	[[ $(json stdout '[(w["p99_us"], w["seen_share"], w["n_probes"])
	    for w in d["windows"]][:2]') = \
	    "[(524.288, 0.9375, 1125), (524.288, 1, 1200)]" ]]
}

other_programs_read_the_tables() {
	record
	run_for 0 "$CULPRIT" jobs rec.h5 --window 1h -q
	if command -v h5dump >/dev/null; then
		h5dump rec.1h.h5 >/dev/null
	fi
	/usr/bin/python3 -c 'import h5py, xarray, h5netcdf, netCDF4' ||
		skip "a module of python3 is missing"
	/usr/bin/python3 - <<-'END'
		import xarray as xr
		for engine in "h5netcdf", "netcdf4":
		    def table(name):
		        return xr.open_dataset("rec.1h.h5", group=name,
		                               engine=engine)
		    root = xr.open_dataset("rec.1h.h5", engine=engine)
		    assert root.attrs["services"] == "web db", root.attrs
		    tors = table("blackhole_tors")
		    assert list(tors.action.values) == [0] * 5 + [1, 0, 0]
		    words = tors.action.attrs["flag_meanings"].split()
		    assert words == ["none", "reload", "defer", "escalate"]
		    assert (tors.data_centre.values[4:] == 1).all()
		    assert tors.score.attrs["units"] == "1"
		    sla = table("sla")
		    services = sla.where(sla.kind == 4, drop=True)
		    assert list(services.data_centre.values) == [0, 1]
		    assert list(services.id.values) == [0, 1]
		    for name in ("drop_rate", "heatmap", "silent_drop_cells",
		                 "counters", "summary"):
		        t = table(name)
		        assert list(t.sizes) == ["row"], name
		        for key in ("data_centre", "from_s", "to_s",
		                    "seen_share", "n_probes"):
		            assert key in t, (name, key)
	END
}

mistakes_are_named() {
	record
	run_for 2 "$CULPRIT" jobs
	says 'which RECORDING'
	run_for 2 "$CULPRIT" jobs rec.h5 rec.h5
	says 'several recordings need -o FILE'
	for window in 0 -1 x 5min 2e9; do
		run_for 2 "$CULPRIT" jobs rec.h5 --window=$window
		says "window \"$window\" is not in"
	done
	run_for 2 "$CULPRIT" jobs rec.h5 --job slo
	says 'no job "slo"; did you mean "sla"'
	run_for 2 "$CULPRIT" jobs rec.h5 --from 10 --to 10
	says 'is not after'
	run_for 2 "$CULPRIT" jobs rec.h5 --from 3600
	says_once 'rec.h5: no window begins at .*: the end is at 3600 s'
	run_for 2 "$CULPRIT" jobs rec.h5 --window=1 --to=1e9
	says_once 'windows are more than'
	ln -s rec.h5 link.h5
	for output in rec.h5 link.h5 ./rec.h5; do
		run_for 2 "$CULPRIT" jobs rec.h5 -o $output
		says_once 'would replace .*, which is read'
	done
	echo "dear diary" >diary
	run_for 2 "$CULPRIT" jobs rec.h5 -o diary
	says_once 'diary exists, .*--force'
	run_for 0 "$CULPRIT" jobs rec.h5 -o diary --force -q
	run_for 0 "$CULPRIT" jobs rec.h5 -o diary -q
	grep -q "dear diary" diary~ || fail "the diary was not kept"
	only_files rec.h5 link.h5 diary diary~
}

damaged_recordings_are_refused() {
	record
	run_for 3 "$CULPRIT" jobs none.h5
	says_once 'none.h5: No such file'
	echo "not a recording" >text
	run_for 3 "$CULPRIT" jobs text
	says_once 'does not end as tables of culprit do'
	size=$(stat -c %s rec.h5)
	for i in 1 2 3 4 5 6 7; do
		head -c $((size * i / 8)) rec.h5 >cut.h5
		run_for 3 "$CULPRIT" jobs cut.h5
		says_once 'cut.h5: it'
		cp rec.h5 cut.h5
		printf '\xa5\x5a\xa5' | dd of=cut.h5 bs=1 conv=notrunc \
		    seek=$((size * i / 8)) status=none
		run_for 3 "$CULPRIT" jobs cut.h5
		says_once 'cut.h5: it'
	done
	# Its own results are none either.
	run_for 0 "$CULPRIT" jobs rec.h5 -q -o out.h5
	run_for 3 "$CULPRIT" jobs out.h5
	says_once 'out.h5: it is no recording'
	only_files rec.h5 text cut.h5 out.h5
}

results_that_cannot_be_written_are_told() {
	record
	mkdir folder
	run_for 2 "$CULPRIT" jobs rec.h5 -o folder
	says_once 'folder is no file'
	echo old >file
	run_for 3 "$CULPRIT" jobs rec.h5 -o file/out.h5
	says_once 'file'
	[[ $(cat file) = old ]]
	only_files rec.h5 file folder
}

run_tests results_stand_beside_the_recording \
    the_same_command_gives_the_same_bytes black_holes_show_in_an_hour \
    windows_are_chosen_by_time jobs_are_chosen_by_name \
    other_programs_read_the_tables mistakes_are_named \
    damaged_recordings_are_refused results_that_cannot_be_written_are_told
