/* experiments/cmd/samples.c -- culprit samples: what hosts count in buckets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/samples.h"

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/subverb.h"

/* In the order in which --help lists them. */
static const struct cmd_verb cmd_samples_verbs[] = {
    {"run", "one cell of a spec of racks, as a file of samples",
	cmd_samples_run},
    {"record", "count on this host, for good", cmd_samples_record},
    {"show", "one run of one host, drawn", cmd_samples_show},
    {"bursts", "bursts of hosts, and what met in them", cmd_samples_bursts},
    {"rack", "how many hosts of a rack burst at a time", cmd_samples_rack},
    {"cause", "whether full buffers lost packets, or a bad link",
	cmd_samples_cause},
    {"import", "runs that Meta published, as a file of samples",
	cmd_samples_import},
    {"export", "a file of samples in that form, or as a table",
	cmd_samples_export},
    {"sketch", "what sketches of 128 bits tell of N connections",
	cmd_samples_sketch},
    {"lab", "a rack of this machine's kernel, and what its hosts count",
	cmd_samples_lab},
    {"verify", "samples held against a capture of the same packets",
	cmd_samples_verify},
    {0},
};

const struct cmd_family cmd_samples_family = {
    .name = "samples",
    .doc = "Look at what hosts count in buckets of milliseconds and less, as "
	   "Millisampler (IMC'22) does.",
    .without = "samples of what? `culprit samples --help` lists what it can do",
    .verbs = cmd_samples_verbs,
};

int cmd_samples(int argc, char **argv)
{
	return cmd_subverb(&cmd_samples_family, argc, argv);
}
