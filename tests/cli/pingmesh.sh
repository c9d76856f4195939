#!/bin/bash
# tests/cli/pingmesh.sh -- plane pingmesh: its figures, and no algorithm at all.
# SPDX-License-Identifier: GPL-3.0-or-later
. tests/cli/lib/common.sh

# Read along windows; nothing but what the jobs find.
write_probes() {
	cat >probes.yaml <<-'END'
		figure: probes
		plane: pingmesh
		runs: 2
		topology: { n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2 }
		noise: { rate: 1e-3 }
		pingmesh: { duration: 200, window: 100, along: window }
		sweep: { grid: { pingmesh.pinglist.tor_interval_s: [10, 20] } }
		claims:
		  - { metric: drop_rate, value: 1e-3, text: said }
	END
	run_for 0 "$CULPRIT" run probes.yaml -q -o probes.h5
}

what_has_no_algorithm_is_run_and_read() {
	write_probes
	says '^probes: 4 of 4 cells done -> probes.h5$' stdout
	run_for 0 "$CULPRIT" status probes.h5
	says '^probes: 4 of 4 cells done' stdout
	run_for 0 "$CULPRIT" table --all probes.h5
	[[ $(wc -l <stdout) = 5 ]]
	says 'drop_rate_trials' stdout
	not grep -q : <(sed 's/claim:drop_rate//; q' stdout)
	run_for 0 "$CULPRIT" table --runs probes.h5
	[[ $(wc -l <stdout) = 9 ]]
	run_for 0 "$CULPRIT" run probes.yaml --point 1 --run 1
	says 'of Pingmesh.s agents the collector had' stdout
	for i in 1 2; do
		run_for 0 "$CULPRIT" run probes.yaml -q --shard $i/2 -o $i.h5
	done
	run_for 0 "$CULPRIT" merge -o both.h5 1.h5 2.h5
	"$CULPRIT" table --all probes.h5 >want.tsv
	"$CULPRIT" table --all both.h5 >got.tsv
	same got.tsv want.tsv
}

what_has_no_algorithm_is_verified_and_gated() {
	write_probes
	mkdir -p results/out results/expected
	echo 'claims: []' >results/expected/none.yaml
	mv probes.h5 results/out/
	run_for 0 "$CULPRIT" verify --claims none --write probes
	run_for 0 "$CULPRIT" verify --claims none --strict probes
	says '^probes +weak +[0-9]+ of [0-9]+ numbers exactly as in' stdout
	sed '/^sweep/,$d; /^runs/d; s/, along: window//' probes.yaml >gates.yaml
	cat >>gates.yaml <<-'END'
		gates:
		  - { name: few drops, metric: drop_rate, unit: run, at_most: 0.5,
		      p0: 0.5, p1: 0.99, alpha: 0.01, beta: 0.01, max_runs: 20 }
	END
	run_for 0 "$CULPRIT" gate gates.yaml
	sed -i 's/metric: drop_rate/metric: recall, algorithm: vote/' gates.yaml
	run_for 2 "$CULPRIT" gate gates.yaml
	says 'there is no algorithm here with the label "vote"[.]$'
}

readers_open_what_has_no_algorithm() {
	for module in h5py xarray h5netcdf netCDF4; do
		/usr/bin/python3 -c "import $module" 2>/dev/null ||
			skip "no python3-$module"
	done
	write_probes
	/usr/bin/python3 - <<-'END'
		import h5py, xarray
		f = h5py.File("probes.h5")
		assert "algorithm" not in f and "hits_all" not in f
		for engine in "netcdf4", "h5netcdf":
		    d = xarray.open_dataset("probes.h5", engine=engine)
		    assert d.n_probes.shape == (2, 2, 2) and "run" in d.n_probes.dims
		    assert "algorithm" not in d.variables
	END
}

any_probes_are_drawn() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	write_probes
	cp "$tree/plots/style.gp" "$tree/plots/sweep.gp" .
	run_for 0 "$CULPRIT" plot probes.h5 --script sweep.gp --format svg
	says 'drop_rate' plots/out/probes.svg
	run_for 0 "$CULPRIT" plot probes.h5 --script sweep.gp --term
	says 'drop_rate' stdout
	# What algorithms would have found has no panel.
	not grep -E 'accuracy|precision|recall' plots/out/probes.svg
	cut -f 2 plots/out/probes.curves.tsv | sort -u >metrics
	not grep -E 'accuracy|precision|recall' metrics
}

# Each shipped figure, from end to end. Its script may read any of its columns,
# so one that a spec no longer measures shows here.
shipped_figures_are_drawn_from_their_smoke() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	local spec name
	ln -s "$tree/plots" plots
	for spec in "$tree"/experiments/pingmesh_*.yaml; do
		name=$(basename "$spec" .yaml)
		run_for 0 "$CULPRIT" run "$spec" --smoke -q -o "$name.h5"
		run_for 0 "$CULPRIT" plot -o out --format svg "$name.h5"
		! grep -i 'warning\|undefined' stderr || fail "$name"
		[[ -s out/$name.svg ]]
	done
}

run_tests what_has_no_algorithm_is_run_and_read \
    what_has_no_algorithm_is_verified_and_gated \
    readers_open_what_has_no_algorithm any_probes_are_drawn \
    shipped_figures_are_drawn_from_their_smoke
