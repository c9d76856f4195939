# tests/faults/verbs.py -- the commands that are tried, and what they read.
# SPDX-License-Identifier: GPL-3.0-or-later
"""GIVEN is what lies in the folder that a verb is run in: texts by name, and
what the commands of SETUP make of them. VERBS are the commands. Those in AGAIN
are run once more, without a fault, after each run in which not all went well,
and have to leave what one run leaves."""

import os

CLOS = ["-s", "n_pods=2", "-s", "n_tors=2", "-s", "n_t1=2", "-s", "n_t2=2",
        "-s", "n_hosts=2"]
SHAPE = "{n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2}"

# Slurm as far as a plan sees it, if tasks were done at once: the array's tasks
# one by one, then what depends on them, and nobody in the queue.
SBATCH = """\
#!/bin/sh
for word; do
	case $word in
	--array=*) tasks=${word#--array=} ;;
	esac
done
case ${tasks:-none} in
none) sh "$word" >&2 ;;
*-*) tasks=$(seq "${tasks%-*}" "${tasks#*-}") ;;
*) tasks=$(echo "$tasks" | tr , ' ') ;;
esac
for task in $tasks; do
	SLURM_ARRAY_TASK_ID=$task sh "$word" >&2
done
echo 7
"""

GIVEN = {
    "spec.yaml": f"""\
figure: faulty
seed: 1
topology: {SHAPE}
traffic: {{conns: 5, packets: 20}}
faults: {{kind: drop, count: 1, rate: 0.1}}
algorithms: [vote, cover]
sweep: {{grid: {{faults.rate: [0.1, 0.5]}}}}
runs: 2
claims:
  - {{metric: accuracy_fault, text: as if, value: 0.9, confirmed: false}}
""",
    "pings.yaml": f"""\
figure: pings
plane: pingmesh
topology: {SHAPE}
algorithms: [blackhole]
pingmesh: {{duration: 300, window: 100}}
""",
    "gates.yaml": f"""\
figure: easy
topology: {SHAPE}
traffic: {{conns: 20, packets: 50}}
noise: {{rate: 0}}
faults: {{count: 1, classes: [tor-t1], rate: 0.5}}
algorithms: [vote]
gates:
  - {{name: first, algorithm: vote, metric: worst_first_rate, at_least: 1,
     p0: 0.5, p1: 0.9}}
""",
    "claims.yaml": """\
claims:
  - {id: holds, figure: faulty, certainty: S, text: "a lot",
     metric: accuracy_kept, algorithm: vote, at: {faults.rate: 0.5},
     relation: ">=", value: 0 %}
""",
    "sums.yaml": """\
figure: sums
seed: 7
plane: telemetry
runs: 2
topology: {kind: fat_tree, k: 4, oversub: 2}
noise: {rate: {uniform: [0, 1e-4]}}
faults: {count: 2, rate: 0.03}
telemetry: {kinds: [int, a1], flows: 20}
algorithms: [flock]
""",
    "racks.yaml": """\
figure: racks
plane: rack
topology: {n_pods: 1, n_tors: 2, n_t1: 1, n_t2: 1, n_hosts: 4}
rack: {length: 0.1}
algorithms: [loss_cause]
""",
    "traces.yaml": f"""\
figure: traces
plane: everflow
topology: {SHAPE}
traffic: {{conns: 20, packets: 50}}
faults: {{kind: drop, count: 1, classes: [t1-t2], rate: 0.3}}
everflow: {{rules: [control, debug, sample, retx], debug: [drop], settle: 5}}
""",
    "lab.yaml": """\
figure: lab
topology: {n_pods: 1, n_tors: 2, n_t1: 1, n_t2: 1, n_hosts: 1}
faults: {kind: drop, count: 1, rate: 0.1}
algorithms: [vote]
""",
    "bin/sbatch": SBATCH,
    "bin/squeue": "#!/bin/sh\n",
}

# A collector's file, of 12 minutes of 8 servers.
BATCHES = "batches/batches-20260203-0001.cpmb"
FLEET = ["python3", "tests/cli/lib/fleet_file.py", "1770120000", "12", "9000"]

# Root has to say whom a daemon becomes.
USER = ["--user", "root"] if os.getuid() == 0 else []

SWEEP = ["spec.yaml", "-q", "-j", "1"]
LIVE = ["jobs", "--continuous", "batches", *CLOS, "--until"]
SHARDS = ["submit", *SWEEP, "-n", "2", "--poll", "0.05", "--wait", "0.05"]
VERIFY = ["verify", "--claims", "./claims.yaml"]

SETUP = [
    ["run", "spec.yaml", "-q", "-o", "done.h5"],
    ["run", "spec.yaml", "-q", "-o", "results/out/faulty.h5"],
    ["run", "spec.yaml", "-q", "--shard", "1/2", "-o", "s1.h5"],
    ["run", "spec.yaml", "-q", "--shard", "2/2", "-o", "s2.h5"],
    [*VERIFY, "--write", "faulty"],
    ["dump", "spec.yaml", "-o", "epoch.h5"],
    ["dump", "sums.yaml", "-o", "sums.h5"],
    ["convert", "sums.h5", "--edges", "sums.edges", "--trace", "sums.gz"],
    ["topo", *CLOS, "--graphml", "net.graphml"],
    ["record", "pings.yaml", "-o", "pings.h5"],
    ["samples", "run", "racks.yaml", "-o", "samples.h5"],
    ["samples", "export", "samples.h5", "-o", "public"],
    ["trace", "run", "traces.yaml", "-o", "traces.h5"],
    [*LIVE, "2026-02-03T12:31:00Z", "--db", "half.db"],
]

VERBS = {
    "run": ["run", *SWEEP, "-o", "out.h5"],
    "run -j 2": ["run", "spec.yaml", "-q", "-j", "2", "-o", "out.h5"],
    "run again": ["run", *SWEEP, "-o", "done.h5"],
    "submit": [*SHARDS, "-o", "out.h5"],
    "submit parallel": [*SHARDS, "-e", "parallel", "-o", "out.h5"],
    "submit slurm": [*SHARDS, "-e", "slurm", "-o", "out.h5"],
    "status": ["status", "done.h5"],
    "table": ["table", "done.h5"],
    "table json": ["table", "--json", "done.h5"],
    "plot": ["plot", "-o", ".", "done.h5"],
    "merge": ["merge", "-o", "out.h5", "s1.h5", "s2.h5"],
    "gate": ["gate", "gates.yaml", "-j", "2", "--junit", "gates.xml"],
    "verify": VERIFY,
    "verify write": [*VERIFY, "--write", "faulty"],
    "arena": ["arena", "--size", "s", "--telemetries", "a2", "--families",
              "single", "--algorithms", "flock", "--set", "runs=1", "-q",
              "-j", "1", "-o", "arena"],
    "tune": ["tune", "sums.yaml", "flock", "-n", "3"],
    "dump": ["dump", "spec.yaml", "-o", "out.h5"],
    "diagnose": ["diagnose", "epoch.h5"],
    "convert": ["convert", "sums.h5", "--edges", "out.edges", "--trace",
                "out.gz"],
    "convert back": ["convert", "--edges", "sums.edges", "--trace", "sums.gz",
                     "-o", "out.h5"],
    "record": ["record", "pings.yaml", "-o", "out.h5"],
    "jobs": ["jobs", "pings.h5", "--window", "5m", "-q", "-o", "out.h5"],
    "jobs live": [*LIVE, "2026-02-03T12:31:00Z", "--db", "out.db"],
    "jobs live on": [*LIVE, "2026-02-03T14:31:00Z", "--db", "half.db"],
    "alerts": ["alerts", "half.db", "--show", "all"],
    "alerts json": ["alerts", "half.db", "--show", "heat_map", "--json"],
    "doctor": ["doctor", "--db", "half.db"],
    "explain": ["explain", "spec.yaml"],
    "report": ["report", "done.h5", "-o", "out.html"],
    "topo": ["topo", "net.graphml"],
    "topo check": ["topo", "--check", *CLOS],
    "pinglist": ["pinglist", *CLOS, "-n", "0"],
    "latency": ["latency", "--runs", "100"],
    "bounds": ["bounds"],
    "algos": ["algos"],
    "metrics": ["metrics"],
    "spec": ["spec"],
    "samples run": ["samples", "run", "racks.yaml", "-o", "out.h5"],
    "samples import": ["samples", "import", "public", "-o", "out.h5"],
    "samples export": ["samples", "export", "samples.h5", "-o", "out"],
    "samples bursts": ["samples", "bursts", "samples.h5", "--json"],
    "samples cause": ["samples", "cause", "samples.h5", "--all"],
    "samples show": ["samples", "show", "samples.h5", "-o", "out.svg"],
    "trace run": ["trace", "run", "traces.yaml", "-o", "out.h5"],
    "trace get": ["trace", "get", "traces.h5", "drop", "--json"],
    "trace show": ["trace", "show", "traces.h5", "0"],
    "trace debug": ["trace", "debug", "drop", "traces.h5"],
    "trace rules": ["trace", "rules", "traces.yaml", "--as", "bpf"],
    "controller": ["controller", "--listen", "127.0.0.1:0", *CLOS, *USER],
    "collector": ["collector", "--listen", "127.0.0.1:0", "--dir", "st", *USER],
    "agent": ["agent", "--address", "127.0.0.1", "--port", "FREE",
              "--allow-port", "8765", "--controller", "http://127.0.0.1:9", *USER],
    "jobs daemon": ["jobs", "--continuous", "batches", "--db", "live.db", *CLOS],
}

# These are of the kernel's networks, and each has one of its own: for root alone.
REAL = {
    "lab up": ["lab", "up", "lab.yaml"],
    "lab up tun": ["lab", "up", "--tun", "lab.yaml"],
    "recorder": ["samples", "record", "--if", "lo", "--dir", "st", "--line", "1000",
                 "--memory-mib", "0", *USER],
}
REAL_PREFIX = ["unshare", "--net"]
VERBS |= REAL

# These live until they are told to end (daemon.py).
DAEMONS = {"controller", "collector", "agent", "jobs daemon", *REAL}

AGAIN = {"run", "run -j 2", "submit", "submit parallel", "submit slurm", "arena",
         "jobs live", "jobs live on", "verify write"}

# Verbs that say how it stands, and exit with 1 if it stands ill.
ILL = {"doctor"}
