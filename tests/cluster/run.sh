#!/bin/bash
# tests/cluster/run.sh -- sweeps on a real Slurm of two nodes, as things break.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/cluster/run.sh BUILD; as root. Output goes to
# BUILD/tests/cluster.log too. slurm.sh says what is started; it is all gone at
# the end, and no file outside of a temporary folder is written.
BUILD=$PWD/$1
. tests/cli/lib/common.sh
. tests/cluster/slurm.sh
. tests/cluster/faults.sh

if [[ $(id -u) != 0 ]]; then
	echo "check-cluster SKIPPED: it takes root"
	exit 0
fi
for tool in sbatch slurmctld slurmd munged parallel mpirun; do
	command -v "$tool" >/dev/null || {
		echo "check-cluster SKIPPED: there is no $tool"
		exit 0
	}
done
mkdir -p "$BUILD/tests"
exec > >(exec tee "$BUILD/tests/cluster.log") 2>&1
trap 'slurm_down 2>/dev/null; rm -rf "$top"' EXIT
trap 'exit 130' INT TERM
daemons() {
	ps -eo pid,stat,comm | awk '$2 !~ /Z/ && $3 ~ /slurm|munge/'
}
daemons | awk '{ print $1 }' >"$top/before"
touch "$top/begin"
prepare
slurm_up "$top/site" || {
	echo "FAIL no Slurm came up"
	tail -n 20 "$top"/site/*.out
	exit 1
}
echo "slurm $(sbatch --version | cut -d' ' -f2), nodes n1 and n2 of 2 CPUs each"
run_tests an_array_of_8_is_a_plain_run \
    ranks_of_mpi_are_a_plain_run \
    parallel_is_a_plain_run \
    a_killed_task_is_run_again \
    a_killed_slurmd_costs_no_cell \
    a_crashed_node_is_done_without \
    a_drained_node_is_gone_without \
    a_full_disk_on_one_shard_is_waited_out \
    a_killed_submit_is_taken_up_while_jobs_run \
    a_stopped_slurmctld_is_waited_for \
    a_job_that_is_cancelled_is_run_again
code=$?
cat "$top/notes"
# Files outside of our folder, mounts and processes.
slurm_down 2>/dev/null
left=$(find /etc/slurm* /etc/munge /var/lib/slurm* /var/spool/slurm* \
    /var/log/slurm* /var/lib/munge /var/log/munge /run/slurm* /run/munge \
    -newer "$top/begin" 2>/dev/null
	daemons | grep -vwFf "$top/before"
	mount | grep -F "$top")
if [[ -n $left ]]; then
	printf 'FAIL something is left\n%s\n' "$left"
	code=1
else
	echo "ok nothing_is_left"
fi
site=
exit $code
