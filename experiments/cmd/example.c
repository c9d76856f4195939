/* experiments/cmd/example.c -- what people type, a few lines for each verb.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/example.h"

#include <string.h>

const struct cmd_example cmd_examples[] = {
    {"", "culprit run vigil_fig05a --smoke",
	"a small sweep -> results/out/vigil_fig05a.h5"},
    {"", "culprit plot vigil_fig05a",
	"-> plots/out/vigil_fig05a.svg, .pdf, .png"},
    {"", "culprit table vigil_fig05a | column -t", "the numbers that it shows"},
    {"run", "culprit run vigil_fig05b", "a figure of 007, whole"},
    {"run", "culprit run my_sweep.yaml --set traffic.conns=30 -o thirty.h5",
	"a spec of your own, one key changed"},
    {"run", "culprit run my_sweep.yaml --point 2 --run 17",
	"one cell again, explained"},
    {"run", "culprit run my_sweep.yaml --shard 3/16",
	"one of sixteen jobs of an array"},
    {"status", "culprit status my_sweep", "how far results/out/my_sweep.h5 is"},
    {"table", "culprit table vigil_fig05a | column -t", "a row a point"},
    {"table", "culprit table vigil_fig05a -c 'faults.*,*:accuracy_fault'",
	"columns by name or glob"},
    {"table", "culprit table vigil_fig05a --tidy --csv >tidy.csv",
	"a row a point, algorithm and metric, for pandas or ggplot"},
    {"table", "culprit table --runs vigil_fig05a >runs.tsv", "a row a run"},
    {"plot", "culprit plot vigil_fig05a",
	"-> plots/out/vigil_fig05a.svg, .pdf, .png"},
    {"plot", "culprit plot --term my_sweep", "in the terminal"},
    {"plot", "culprit plot my_sweep --metric recall --by faults.count -o a.pdf",
	"a curve for each count"},
    {"plot", "culprit plot my_sweep --heatmap --x faults.rate -o map.svg",
	"colours over two axes"},
    {"explain", "culprit explain vigil_fig05a --point 3 --run 1 -o cell.svg",
	"who was blamed for what, as a drawing"},
    {"report", "culprit report --all -o report.html",
	"all figures, tables and claims on one page"},
    {"merge", "culprit merge -o all.h5 results/out/my_sweep.*-of-16.h5",
	"what sixteen jobs of an array made"},
    {"gate", "culprit gate -j 2 my_gates.yaml --junit report.xml",
	"in a CI, with a report that it shows"},
    {"gate", "culprit gate --count 500 my_gates.yaml",
	"what to choose p0 and p1 by"},
    {"verify", "culprit verify", "all claims and tables"},
    {"verify", "culprit verify --strict vigil_fig05a",
	"one figure, which must be there"},
    {"verify", "culprit verify --archive artifact.tar.gz",
	"somebody's results: checksums, tables, some cells again"},
    {"dump", "culprit dump vigil_fig05a --point 3 --run 1 -o epoch.h5",
	"one cell, for h5py"},
    {"diagnose", "culprit diagnose epoch.h5", "what its algorithms say of it"},
    {"diagnose", "culprit diagnose epoch.h5 -a vote -b blame.tsv",
	"whom one algorithm blames for each failed flow"},
    {"topo", "culprit topo --set kind=fat_tree --set k=8 --check",
	"a fat-tree, its diameter and disjoint paths"},
    {"topo", "culprit topo --path 0,799 --ports 1024,80",
	"the links that one connection takes"},
    {"bounds", "culprit bounds --n-pod 4 --k 5", "five bad links, four pods"},
    {"bounds", "culprit bounds --set n_pods=4 --packets 50,50 --flows 1920000",
	"the same keys as in a spec"},
    {"bounds", "culprit bounds --p-bad 1e-3 --packets 50,50 --table >eps.tsv",
	"the chance to misrank, for a plot"},
    {"pinglist", "culprit pinglist --dc --set n_pods=4 -p ports=8765,8766",
	"how many lists and peers two data centres have"},
    {"pinglist", "culprit pinglist --server 0 -p levels=[tor] | head",
	"the list of one server"},
    {"pinglist", "culprit pinglist --all -o lists.xml", "all lists"},
    {"pinglist", "culprit pinglist --schema >pinglist.xsd",
	"what xmllint checks a list by"},
    {"controller", "culprit controller --set n_pods=4",
	"on 127.0.0.1:8080; curl http://127.0.0.1:8080/pinglist/10.0.0.1"},
    {"controller",
	"culprit controller vigil_fig03 --stop-file /etc/culprit/stop",
	"the lists of a spec's network"},
    {"collector",
	"culprit collector --dir /var/lib/culprit --listen 10.0.0.250:8081",
	"keep what agents send"},
    {"collector", "culprit collector --dir /var/lib/culprit --export day.h5",
	"a recording of it, for `culprit jobs`"},
    {"agent", "culprit agent --controller http://a:8080,http://b:8080 --once",
	"does a controller have a list for this host?"},
    {"agent",
	"culprit agent --controller http://a:8080 --collector http://a:8081",
	"probe, and send what is seen"},
    {"agent",
	"culprit agent --controller http://a:8080 --port 8765,8766 --dscp 46,8",
	"two QoS classes"},
    {"latency", "culprit latency --profile dc1 --timers linux",
	"one profile, by the timers of Linux"},
    {"record", "culprit record pingmesh_fig05 -o week.h5",
	"what the collector got in a week"},
    {"jobs", "culprit jobs week.h5 --window 1h",
	"drop rates, SLA and heat maps, an hour each"},
    {"jobs", "culprit jobs week.h5 --window 1d --job blackhole",
	"one job, by days"},
    {"trace run", "culprit trace run my_faults.yaml --point 3 -o traces.h5",
	"what analyzers keep of one cell"},
    {"trace lab", "culprit trace lab my_faults.yaml",
	"the same on this machine's kernel"},
    {"trace lab",
	"culprit trace lab my_faults.yaml --carrier gre --analyzers 2",
	"with copies that cross its network to two analyzers"},
    {"trace probe", "culprit trace probe my_faults.yaml tor0 t1.0",
	"how long a link takes there and back"},
    {"trace serve",
	"culprit trace serve my_network.yaml --if eth1 --listen 198.18.0.1 -o "
	"/var/tmp/t.h5",
	"an analyzer of copies that come over the network"},
    {"trace get", "culprit trace get traces.h5 'drop && confirmed'",
	"packets that were lost for certain"},
    {"trace get",
	"culprit trace get traces.h5 'tcp.flags & SYN' -w 'via == t2.1' --json",
	"connections that began over one switch"},
    {"trace show", "culprit trace show traces.h5 17", "its way, hop by hop"},
    {"trace counter", "culprit trace counter traces.h5 link:tor3->t1.5",
	"load, and latency as probed"},
    {"trace rules", "culprit trace rules -p sample_n=256",
	"a line a row of a switch's TCAM"},
    {"trace rules",
	"culprit trace rules --as sonic --source 172.16.0.3 --collector "
	"10.9.9.9",
	"a configuration of SONiC"},
    {"trace pcap",
	"culprit trace pcap in.pcap -t my_network.yaml --switches map -o t.h5",
	"what tcpdump wrote on a collector"},
    {"samples import", "culprit samples import day1-h1-zip -o samples.h5",
	"Meta's public data, as far as it is whole"},
    {"samples export", "culprit samples export samples.h5 --csv >samples.csv",
	"a row a bucket, for pandas"},
    {"samples export", "culprit samples export samples.h5 -o folder",
	"a file a run, in the form of that data"},
    {"trace debug", "culprit trace debug drop traces.h5 --json",
	"links that lose, and how"},
    {"trace explain", "culprit trace explain 'loop && layer > 0'",
	"how it is decided"},
    {"lab", "culprit lab check", "what this machine allows"},
    {"lab run", "culprit lab run real_vs_sim --smoke",
	"six scenes on real TCP"},
    {"algos", "culprit algos", "all of them, a line each"},
    {"algos", "culprit algos alg1", "one, with its parameters"},
    {"metrics", "culprit metrics", "all that is measured, a line each"},
    {"metrics", "culprit metrics vote:accuracy_fault_lo",
	"one, or a column of a table"},
    {"spec", "culprit spec faults", "a section, with an example"},
    {"spec", "culprit spec --schema >culprit.schema.json",
	"a schema for editors"},
    {"man", "culprit man run | man -l -", "a page, where none is installed"},
    {0},
};

int cmd_example_is_of(const struct cmd_example *x, const char *verb)
{
	const size_t n = strlen(verb);
	return strncmp(x->verb, verb, n) == 0 &&
	    (x->verb[n] == '\0' || x->verb[n] == ' ');
}

const struct cmd_example *cmd_example_first(const char *verb)
{
	const struct cmd_example *x = cmd_examples;
	while (x->verb && !cmd_example_is_of(x, verb))
		x++;
	return x;
}

void cmd_example_print(FILE *out, const char *verb)
{
	const struct cmd_example *x = cmd_example_first(verb);
	if (x->verb)
		fprintf(out, "%sExamples:\n", ftell(out) > 0 ? "\n" : "");
	for (; x->verb && cmd_example_is_of(x, verb); x++)
		fprintf(out, "  %s\n      %s\n", x->command, x->doc);
}
