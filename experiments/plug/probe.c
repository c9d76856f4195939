/* experiments/plug/probe.c -- what a plug-in says of itself, as a description.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Run in a process of its own, which may crash: nothing is written before all of
 * it is known.
 */
#include <dlfcn.h>
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
	const char *own; /* the plug-in itself, which whoever asked knows */
};

static int probe_is_of_system(const char *path)
{
	static const char *const folders[] = {"/lib/", "/lib32/", "/lib64/",
	    "/libx32/"};
	const char *at = strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strncmp(at, folders[i], strlen(folders[i])) == 0)
			return 1;
	return 0;
}

/* By its real path: the name by which it was loaded may be relative to where this
 * process was started, which whoever reads it is not told. */
static int probe_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct probe_libraries *x = arg;
	(void)size;
	if (x->n++ < x->n_before || !x->t || !strchr(info->dlpi_name, '/'))
		return 0;
	char *path = realpath(info->dlpi_name, NULL);
	if (path && strcmp(path, x->own) != 0 && !probe_is_of_system(path))
		probe_put_text(x->t, "file", path);
	free(path);
	return 0;
}

/* What a library has no business with: ending its process or beginning others;
 * what all of a process shares; a clock or draws of its own, by which an answer would
 * not come again. */
static const char *const probe_banned[] = {"exit", "_exit", "_Exit",
    "quick_exit", "abort", "fork", "vfork", "system", "popen", "execve",
    "pthread_create", "raise", "kill", "signal", "sigaction", "sigprocmask",
    "setlocale", "setenv", "putenv", "chdir", "alarm", "setitimer",
    "fesetround", "fesetenv", "setrlimit", "time", "clock", "clock_gettime",
    "gettimeofday", "rand", "srand", "random", "srandom", "drand48", "srand48",
    "getrandom", "getentropy", "arc4random", NULL};

/* Symbols that are not its own: all before the first that a GNU hash table has, or
 * some of all that the older one counts. */
static size_t probe_n_symbols(const ElfW(Dyn) * d)
{
	size_t n = 0;
	for (; d->d_tag != DT_NULL; d++) {
		const uint32_t *table = (const void *)d->d_un.d_ptr;
		if (d->d_tag == DT_HASH)
			n = table[1];
		else if (d->d_tag == DT_GNU_HASH && n == 0)
			n = table[1];
	}
	return n;
}

static void probe_put_imports(struct sim_text *t, const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	struct link_map *map = NULL;
	const ElfW(Sym) *symbol = NULL;
	const char *names = NULL;
	const char *word = "warns ";
	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) < 0 || !map)
		return;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SYMTAB)
			symbol = (const void *)d->d_un.d_ptr;
		else if (d->d_tag == DT_STRTAB)
			names = (const void *)d->d_un.d_ptr;
	const size_t n = symbol && names ? probe_n_symbols(map->l_ld) : 0;
	for (size_t i = 1; i < n; i++) {
		const char *name = names + symbol[i].st_name;
		if (symbol[i].st_shndx != SHN_UNDEF ||
		    !probe_banned[sim_word_find(probe_banned, name)])
			continue;
		sim_put(t, "%s%s", word, name);
		word = ", ";
	}
	if (*word == ',')
		sim_put(t, "\n");
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
	char *own = realpath(arg, NULL);
	struct probe_libraries after = {0, before.n, &t, own ? own : ""};
	sim_put(&t, "culprit %d\n", PLUG_VERSION);
	if (plug_library_load(arg, &p, &e) == 0) {
		plug_probe_put(&t, p);
		probe_put_imports(&t, arg);
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
