/* experiments/plug/probe.c -- what a plug-in says of itself, as a description.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Run in a process of its own, which may crash: nothing is written before all of
 * it is known.
 */
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/plug/about.h"
#include "experiments/plug/library.h"
#include "sim/text.h"

/* As one line, and whatever it is, as text. */
static void probe_put_text(struct sim_text *t, const char *word,
    const char *text)
{
	char line[512];
	snprintf(line, sizeof(line), "%s", text ? text : "");
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 127)
			*at = ' ';
	sim_put(t, "%s %s\n", word, line);
}

/* Bits as words; those that have none are refused by number, since leaving one
 * out would change answers in silence. */
static void probe_put_bits(struct sim_text *t, const char *word, uint64_t bits,
    const struct plug_word *known)
{
	char line[200];
	struct sim_text text = {line, sizeof(line), 0};
	line[0] = '\0';
	for (; known->word; known++)
		if (bits & known->abi) {
			sim_put(&text, " %s", known->word);
			bits &= ~known->abi;
		}
	sim_put(t, "%s%s\n", word, line);
	if (bits)
		sim_put(t,
		    "failed it %s features 0x%" PRIx64 " that this "
		    "culprit has not\n",
		    word, bits);
}

static const char *probe_word(const char *text)
{
	return text && *text && !strpbrk(text, " \n") ? text : "?";
}

static void probe_put_param(struct sim_text *t, const struct culprit_param *p)
{
	static const char *const types[] = {"u32", "f64", "bool"};
	char lo[32], hi[32], def[32];
	sim_format_f64(lo, p->min);
	sim_format_f64(hi, p->max);
	sim_format_f64(def, p->def);
	sim_put(t, "param %s %s %s %s %s %s", probe_word(p->name),
	    p->type <= CULPRIT_BOOL ? types[p->type] : "?", lo, hi,
	    p->type != CULPRIT_BOOL ? def
		: p->def != 0       ? "true"
				    : "false",
	    probe_word(p->unit));
	probe_put_text(t, "", p->doc);
}

/* Libraries of the user's that came with it; those of the system are as much its
 * as the C library is. */
struct probe_libraries {
	size_t n, n_before;
	struct sim_text *t;
};

static int probe_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct probe_libraries *x = arg;
	const char *name = info->dlpi_name;
	(void)size;
	if (x->n++ >= x->n_before && x->t && strchr(name, '/') &&
	    strncmp(name, "/lib", 4) != 0 && strncmp(name, "/usr/lib", 8) != 0)
		probe_put_text(x->t, "file", name);
	return 0;
}

void plug_probe_put(struct sim_text *t, const struct culprit_plugin *p)
{
	const char *at = (const char *)p->param;
	probe_put_text(t, "name", p->name);
	probe_put_text(t, "doc", p->doc);
	probe_put_text(t, "paper", p->paper);
	probe_put_bits(t, "needs", p->needs, plug_about_needs);
	probe_put_bits(t, "says", p->says, plug_about_says);
	/* One more than there may be is told like many more. */
	for (uint64_t i = 0; i < p->n_params && i <= PLUG_MAX_PARAMS; i++)
		probe_put_param(t, (const void *)(at + i * p->param_stride));
}

void plug_library_probe(void *arg)
{
	char *text = calloc(1, PLUG_ABOUT_BYTES);
	struct sim_text t = {text, PLUG_ABOUT_BYTES, 0};
	const struct culprit_plugin *p;
	struct sim_err e = {0};
	if (!text)
		return;
	struct probe_libraries before = {0};
	dl_iterate_phdr(probe_library, &before);
	struct probe_libraries after = {.n_before = before.n, .t = &t};
	sim_put(&t, "culprit %d\n", PLUG_VERSION);
	if (plug_library_load(arg, &p, &e) == 0) {
		plug_probe_put(&t, p);
		dl_iterate_phdr(probe_library, &after);
	} else {
		probe_put_text(&t, "failed", e.msg);
	}
	sim_put(&t, "end\n");
	for (size_t at = 0; at < t.n && t.n < PLUG_ABOUT_BYTES;) {
		const ssize_t n = write(4, text + at, t.n - at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	_exit(0);
}
