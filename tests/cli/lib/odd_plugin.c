/* tests/cli/lib/odd_plugin.c -- a plug-in, good or in a bad way.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ODD in the environment says which way. It accuses the link with most failed
 * flows on it; at windows whose seed is divisible by 3 it does what ODD names.
 */
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algos/plugin.h"

static uint32_t n_links, n_asked, *votes;

static int is(const char *way)
{
	const char *odd = getenv("ODD");
	return odd && strcmp(odd, way) == 0;
}

static int deeper(uint32_t n)
{
	volatile char here[4096];
	here[n % 4096] = 0;
	return n == 0 ? 0 : deeper(n - 1) + here[n % 4096];
}

__attribute__((constructor)) static void load(void)
{
	if (is("load_crash"))
		raise(SIGSEGV);
	if (is("load_exit")) {
		fprintf(stderr, "I won't\n");
		_exit(4);
	}
	if (is("locale"))
		setlocale(LC_ALL, "");
}

static int start(void **work, const struct culprit_topo *t, char *error,
    uint64_t n)
{
	*work = NULL;
	n_links = t->n_links;
	if (is("open_fails")) {
		snprintf(error, n, "too large for me");
		return 1;
	}
	if (is("open_crash"))
		raise(SIGSEGV);
	free(votes);
	votes = calloc(n_links, sizeof(*votes));
	return votes ? 0 : 1;
}

static void stop(void *work)
{
	(void)work;
	if (is("close_crash"))
		raise(SIGBUS);
}

static void good(const struct culprit_window *w, struct culprit_answer *out)
{
	memset(votes, 0, n_links * sizeof(*votes));
	for (uint64_t f = 0; f < w->n_flows; f++)
		for (uint64_t i = w->off[f]; w->n_retx[f] && i < w->off[f + 1];
		     i++)
			if (w->link[i] < n_links)
				votes[w->link[i]]++;
	for (uint32_t l = 0; l < n_links; l++)
		if (votes[l] > 0) {
			out->id[out->n] = l;
			out->score[out->n++] = votes[l];
		}
	for (uint32_t i = 1; i < out->n; i++)
		if (out->score[i] > out->score[0]) {
			const double s = out->score[0];
			const uint32_t id = out->id[0];
			out->score[0] = out->score[i];
			out->id[0] = out->id[i];
			out->score[i] = s;
			out->id[i] = id;
		}
	out->n_flagged = out->n > 0;
}

static void set(struct culprit_answer *out, uint32_t id, double score)
{
	out->n = 1;
	out->id[0] = id;
	out->score[0] = score;
}

static void grow(size_t n)
{
	char *p = malloc(n);
	if (p)
		memset(p, 1, n);
}

static int odd(struct culprit_answer *out, char *error, uint64_t n)
{
	if (is("segfault"))
		raise(SIGSEGV);
	if (is("null"))
		*(volatile int *)(uintptr_t)n_links = 1;
	if (is("abort"))
		abort();
	if (is("stack"))
		return deeper(UINT32_MAX);
	if (is("hang"))
		for (;;)
			pause();
	if (is("spin"))
		for (volatile int i = 0;; i++)
			continue;
	if (is("exit"))
		exit(3);
	if (is("_exit"))
		_exit(3);
	if (is("says")) {
		snprintf(error, n, "I don't like\nthis window");
		return -1;
	}
	if (is("mute"))
		return 7;
	if (is("range"))
		set(out, n_links, 1);
	if (is("nan"))
		set(out, 1, NAN);
	if (is("many"))
		out->n = UINT32_MAX;
	if (is("flagged"))
		out->n_flagged = out->n + 1;
	if (is("twice")) {
		set(out, 1, 1);
		out->id[out->n++] = 1;
		out->score[1] = 1;
	}
	if (is("rounds"))
		fesetround(FE_UPWARD);
	return 0;
}

static int diagnose(void *work, const struct culprit_window *w,
    struct culprit_answer *out, char *error, uint64_t n)
{
	(void)work;
	n_asked++;
	good(w, out);
	if (is("leak"))
		grow((size_t)100 << 20);
	if (is("hog"))
		grow((size_t)5 << 30);
	if (is("moody") && n_asked % 2 == 0)
		set(out, 0, 1);
	return w->seed % 3 == 0 ? odd(out, error, n) : 0;
}

static struct culprit_param params[] = {
    {"scale", "votes", "what a flow counts", CULPRIT_F64, 0, 0.5, 8, 1},
};

static struct culprit_plugin it = {sizeof(struct culprit_plugin),
    sizeof(struct culprit_param), "odd", "for tests", "none",
    CULPRIT_NEEDS_FLOWS | CULPRIT_NEEDS_HOPS, CULPRIT_SAYS_FLAGS, 1, params,
    start, diagnose, stop};

#ifdef OLD
const struct culprit_plugin *culprit_plugin_2(void);
const struct culprit_plugin *culprit_plugin_2(void)
{
	return &it;
}
#elif !defined(NONE)
const struct culprit_plugin *culprit_plugin_1(void)
{
	if (is("crash"))
		raise(SIGILL);
	if (is("null_plugin"))
		return NULL;
	if (is("small"))
		it.size = 24;
	if (is("stride"))
		it.param_stride = 8;
	if (is("needs"))
		it.needs |= 0x200;
	if (is("says_more"))
		it.says |= UINT64_C(1) << 40;
	if (is("nameless"))
		it.name = NULL;
	if (is("lines"))
		it.doc = "one\nneeds all";
	if (is("range_0"))
		params[0].def = 9;
	if (is("words"))
		params[0].unit = "two words";
	if (is("no_word"))
		params[0].unit = "";
	if (is("type"))
		params[0].type = 17;
	if (is("without"))
		it.close = NULL;
	/* As a later interface has it: longer, with an element that is too. */
	if (is("later")) {
		static struct {
			struct culprit_plugin p;
			void *more[4];
		} later;
		static struct {
			struct culprit_param p;
			void *more[2];
		} param[2];
		param[0].p = params[0];
		param[1].p = params[0];
		param[1].p.name = "second";
		later.p = it;
		later.p.size = sizeof(later);
		later.p.n_params = 2;
		later.p.param = &param[0].p;
		later.p.param_stride = sizeof(param[0]);
		return &later.p;
	}
	return &it;
}
#endif
