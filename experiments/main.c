/* experiments/main.c -- culprit VERB ...
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/program.h"
#include "results/provenance.h"
#include "sim/deps.h"

const struct cmd_verb cmd_verbs[] = {
    {"run", "run a spec's sweep, or go on with it", cmd_run},
    {"submit", "the same as shards, on a cluster", cmd_submit},
    {"status", "how far a sweep is", cmd_status},
    {"table", "results as TSV or JSON, with exact intervals", cmd_table},
    {"plot", "results as SVG, PDF and PNG, or in the terminal", cmd_plot},
    {"explain", "one cell of a sweep, drawn: what broke, who said what",
	cmd_explain},
    {"report", "results as one page of HTML, to be looked into", cmd_report},
    {"merge", "join the results of shards", cmd_merge},
    {"gate", "accuracy gates: good or bad, with stated error rates", cmd_gate},
    {"arena", "which algorithm finds the fault with least telemetry",
	cmd_arena},
    {"tune", "parameters of an algorithm that do best on a spec", cmd_tune},
    {"verify", "results against the papers and earlier results", cmd_verify},
    {"dump", "one epoch as HDF5, to be checked by anybody", cmd_dump},
    {"diagnose", "algorithms on such an epoch, or on your own", cmd_diagnose},
    {"convert", "such an epoch as a trace of Flock, or one read", cmd_convert},
    {"topo", "describe, check, trace and export a network", cmd_topo},
    {"bounds", "what 007's theorems promise for a network", cmd_bounds},
    {"pinglist", "whom each server probes, as Pingmesh's XML", cmd_pinglist},
    {"controller", "serve pinglists to agents over HTTP", cmd_controller},
    {"collector", "take what agents saw over HTTP, and keep it", cmd_collector},
    {"agent", "probe from this host, as controllers say", cmd_agent},
    {"doctor", "are those three well? Lists, data, SLAs, budgets", cmd_doctor},
    {"ca", "certificates by which those three know each other", cmd_ca},
    {"latency", "connect times of probes in healthy networks", cmd_latency},
    {"record", "one run of Pingmesh as its collector saw it", cmd_record},
    {"jobs", "Pingmesh's analysis of a recording, by windows", cmd_jobs},
    {"alerts", "what those jobs found, from a database", cmd_alerts},
    {"trace", "packets by the copies that switches mirror, as Everflow",
	cmd_trace},
    {"samples", "what hosts count in milliseconds, as Millisampler",
	cmd_samples},
    {"lab", "a network for real, of namespaces of this machine", cmd_lab},
    {"algos", "the diagnosis algorithms and their parameters", cmd_algos},
    {"metrics", "what each number means: definition, unit, range", cmd_metrics},
    {"spec", "the keys of a spec: units, ranges, defaults", cmd_spec},
    {"man", "the manual pages, as mdoc", cmd_man},
    {"complete", NULL, cmd_complete},
    {0},
};
enum { N_VERBS = sizeof(cmd_verbs) / sizeof(cmd_verbs[0]) - 1 };

static int print_version(int argc, char **argv);
static int cmd_help(int argc, char **argv);

const struct cmd_verb cmd_options[] = {
    {"--help", "the verbs; `culprit VERB --help`: all options of one",
	cmd_help},
    {"--version", "version, commit, libraries", print_version},
    {"--cite", "how to cite it; `--cite bibtex` or `cff`: in that form alone",
	cmd_cite},
    {0},
};
enum { N_OPTIONS = sizeof(cmd_options) / sizeof(cmd_options[0]) - 1 };

const char cmd_program_doc[] =
    "Simulate faults in a datacenter network, run diagnosis algorithms on what "
    "can\nbe observed, and score them against the truth.";
const char cmd_exit_codes[] =
    "0 good; 1 a gate or verification failed; 2 usage or spec error;\n3 runs "
    "failed, or results cannot be read or written.";
const long long cmd_epoch = CULPRIT_EPOCH;

static void print_help(FILE *out)
{
	fprintf(out, "Usage: culprit VERB [OPTION...] ...\n%s\n\n",
	    cmd_program_doc);
	for (int i = 0; i < N_VERBS; i++)
		if (cmd_verbs[i].doc)
			fprintf(out, "  %-10s %s\n", cmd_verbs[i].name,
			    cmd_verbs[i].doc);
	fprintf(out,
	    "\n  culprit run vigil_fig05b --smoke  a small sweep -> "
	    "results/out/vigil_fig05b.h5\n"
	    "  culprit plot vigil_fig05b         -> "
	    "plots/out/vigil_fig05b.svg, .pdf, .png\n"
	    "  culprit VERB --help               all options of a verb\n"
	    "  culprit --version, --cite         what to name in a paper\n\n"
	    "Exit codes: %s\n",
	    cmd_exit_codes);
}

static int cmd_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	print_help(stdout);
	return CMD_GOOD;
}

static int print_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	char libraries[RES_LIBRARIES_BYTES];
	printf("culprit %s\n", res_version());
	for (const struct res_provenance *p = res_provenance(); p->name; p++)
		printf("%s %s\n", p->name, p->value);
	res_libraries(libraries);
	printf("libraries %s\n", libraries);
	return CMD_GOOD;
}

/* A program may be started with descriptors 0 to 2 closed. The next file that
 * it opens, a results file say, would be taken for stdout or stderr, and
 * messages be written into it. So they are opened here on a device, in the
 * direction in which using them fails, as it would have failed when closed. */
static void hold_std_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* Output that got lost, as on a full disk, must not end in a good exit code: nor
 * that of argp, which prints its help and ends the program itself. */
static void main_check_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	fprintf(stderr, "culprit: standard output: write error.\n");
	_exit(CMD_TROUBLE);
}

/* Options of the program itself are near words too. */
static int no_verb(const char *name)
{
	const char *names[N_VERBS + N_OPTIONS];
	size_t n = 0;
	for (const struct cmd_verb *o = cmd_options; o->name; o++)
		names[n++] = o->name;
	for (const struct cmd_verb *v = cmd_verbs; v->name; v++)
		if (v->doc)
			names[n++] = v->name;
	const char *near = sim_did_you_mean(name, names, n);
	fprintf(stderr, "culprit: there is no %s \"%s\"%s%s%s\n",
	    *name == '-' ? "option" : "verb", name,
	    near ? "; did you mean \"" : "; try `culprit --help`.",
	    near ? near : "", near ? "\"?" : "");
	return CMD_USAGE;
}

static int is_one_of(const char *word, const char *a, const char *b,
    const char *c)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0 ||
	    strcmp(word, c) == 0;
}

int main(int argc, char **argv)
{
	char title[64], help[] = "--help";
	/* argp ends the program by itself when the command line is wrong; this
	 * is the code that it ends with. */
	argp_err_exit_status = CMD_USAGE;
	hold_std_descriptors();
	atexit(main_check_output);
	/* A file that grows past `ulimit -f` is then a write that fails, and is
	 * reported with its name, as a full disk is. */
	signal(SIGXFSZ, SIG_IGN);
	/* By default libraries print or abort where we report (sim/deps.h). */
	sim_deps_quiet();
	if (argc < 2) {
		print_help(stderr);
		return CMD_USAGE;
	}
	if (is_one_of(argv[1], "--version", "-V", "version"))
		return print_version(argc, argv);
	if (strcmp(argv[1], "--cite") == 0)
		return cmd_cite(argc - 1, argv + 1);
	if (is_one_of(argv[1], "--help", "-h", "help")) {
		if (argc == 2 || argv[1][0] == '-') {
			print_help(stdout);
			return CMD_GOOD;
		}
		/* As in other programs of this kind, `help VERB` is
		 * `VERB --help`. */
		argv[1] = argv[2];
		argv[2] = help;
		argc = 3;
	}
	for (int i = 0; i < N_VERBS; i++) {
		if (strcmp(argv[1], cmd_verbs[i].name) != 0)
			continue;
		/* argp takes the program's name for messages from argv[0]. */
		snprintf(title, sizeof(title), "culprit %s", cmd_verbs[i].name);
		argv[1] = title;
		return cmd_verbs[i].main(argc - 1, argv + 1);
	}
	return no_verb(argv[1]);
}
