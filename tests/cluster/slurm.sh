#!/bin/bash
# tests/cluster/slurm.sh -- a Slurm of two nodes on this machine; sourced.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Everything that it writes is in $site, everything that it starts is a child of
# ours: munged with a key and a socket of its own, slurmctld, a slurmd for each of
# the nodes n1 and n2. Nothing of the machine's own Slurm, if it has one, is read.

# slurm_up FOLDER: exports SLURM_CONF.
slurm_up() {
	site=$1
	mkdir -m 755 "$site" "$site/munge"
	# munged wants its socket to be within reach of everybody.
	chmod go+x "$(dirname "$site")"
	mkdir "$site/state"
	dd if=/dev/urandom of="$site/munge/key" bs=128 count=1 status=none
	chmod 600 "$site/munge/key"
	write_conf >"$site/slurm.conf"
	export SLURM_CONF=$site/slurm.conf
	munged --foreground --key-file="$site/munge/key" \
	    --socket="$site/munge/socket" --pid-file="$site/munge/pid" \
	    --seed-file="$site/munge/seed" --log-file="$site/munge/log" \
	    >"$site/munged.out" 2>&1 &
	munged_pid=$!
	within 10 test -S "$site/munge/socket" || return
	slurmctld -D -c >"$site/slurmctld.out" 2>&1 &
	ctld_pid=$!
	within 20 scontrol ping >/dev/null || return
	node_up n1
	node_up n2
	within 30 nodes_are idle 2
}

# Ports that a machine is unlikely to use, moved by our own number, so that two
# of these may run at the same time.
write_conf() {
	local host port=$((20000 + $$ % 4000 * 4))
	host=$(hostname)
	cat <<-END
		ClusterName=culprit
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$port
		AuthType=auth/munge
		AuthInfo=socket=$site/munge/socket
		CredType=cred/munge
		SlurmUser=root
		SlurmdUser=root
		StateSaveLocation=$site/state
		SlurmdSpoolDir=$site/spool-%n
		SlurmctldPidFile=$site/slurmctld.pid
		SlurmdPidFile=$site/slurmd-%n.pid
		PlugStackConfig=/dev/null
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		JobCompType=jobcomp/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SchedulerType=sched/builtin
		SchedulerParameters=batch_sched_delay=0
		MpiDefault=none
		SwitchType=switch/none
		ReturnToService=2
		SlurmdTimeout=10
		KillWait=2
		MinJobAge=10
		NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 \
		Port=[$((port + 1))-$((port + 2))] CPUs=2 State=UNKNOWN
		PartitionName=all Nodes=ALL Default=YES State=UP
	END
}

# Tests run in shells of their own, so what is to be known is in files.
node_up() { # NAME
	slurmd -D -N "$1" >>"$site/slurmd-$1.out" 2>&1 &
	echo $! >"$site/pid-$1"
	disown # that it was killed is no news
}

# The daemon alone; what it started goes on.
node_kill() { # NAME
	kill -KILL "$(cat "$site/pid-$1")"
}

nodes_are() { # STATE N
	[[ $(sinfo --noheader --Node --format='%T' | grep -c "^$1") = "$2" ]]
}

# Ends all, those that Slurm or a test that failed has started too: their words
# name the folder that is ours alone.
slurm_down() {
	[[ -n ${site-} ]] || return 0
	if [[ -n ${ctld_pid-} ]]; then
		scancel --user=root 2>/dev/null || true
		within 20 no_jobs || true
	fi
	end_all "$(pgrep -f -- "$(dirname "$site")" | grep -vx $$)"
	end_all "${ctld_pid-} $(cat "$site"/pid-n? 2>/dev/null)"
	end_all "${munged_pid-}"
}

end_all() { # PIDS
	local pid
	for pid in $1; do
		kill "$pid" 2>/dev/null || true
	done
	for pid in $1; do
		within 20 is_gone "$pid" || kill -KILL "$pid"
	done
}

no_jobs() { [[ -z $(squeue --noheader 2>/dev/null) ]]; }

# What is ours is a zombie until we wait for it, and so may others be.
is_gone() {
	[[ ! -e /proc/$1 || $(cut -d' ' -f3 "/proc/$1/stat") = Z ]]
}
