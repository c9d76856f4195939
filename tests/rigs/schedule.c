/* tests/rigs/schedule.c -- seeded schedules of a machine, checked at every step.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/schedule.h"

#include "tests/test.h"

enum { TRIES = 20000, TEXT = 16384 };

/* Each doubling of the time has as many values of X as the next, over a million
 * to one. */
sim_ns schedule_time(uint32_t x, sim_ns longest)
{
	return x == 0
	    ? 0
	    : (sim_ns)((double)longest * exp2(20 * ((double)x / 0x1p32 - 1)));
}

/* --- living --------------------------------------------------------------- */
static void draw(const struct schedule_machine *m, struct schedule_found *f)
{
	struct sim_rng rng;
	const struct sim_seed where = {.seed = f->seed, .run = f->run};
	uint32_t all = 0;
	sim_rng_init(&rng, &where, SIM_STREAM_TEST, 0);
	for (uint32_t k = 0; m->kind[k].name; k++)
		all += m->kind[k].weight;
	f->n = f->n_drawn =
	    m->n_least + sim_rng_below(&rng, m->n_most - m->n_least + 1);
	for (size_t i = 0; i < f->n; i++) {
		uint32_t k = 0, left = sim_rng_below(&rng, all);
		while (left >= m->kind[k].weight)
			left -= m->kind[k++].weight;
		f->step[i] = (struct schedule_step){k, sim_rng_u32(&rng),
		    sim_rng_u32(&rng)};
	}
}

static const char *live(const struct schedule_machine *m, void *life,
    const struct schedule_found *f, struct schedule_tally *tally)
{
	const struct sim_seed where = {.seed = f->seed, .run = f->run};
	const char *broken = m->begin(life, &where, tally);
	tally->n_schedules++;
	for (size_t i = 0; i < f->n && !broken; i++) {
		broken = m->step(life, f->step[i]);
		tally->n_steps++;
	}
	if (!broken && m->end)
		broken = m->end(life);
	tally->hash = m->hash ? m->hash(life) : 0;
	if (m->close)
		m->close(life);
	return broken;
}

static void *life_of(const struct schedule_machine *m)
{
	void *life = malloc(m->size);
	assert_non_null(life);
	return life;
}

const char *schedule_live(const struct schedule_machine *m,
    const struct schedule_found *f, struct schedule_tally *tally)
{
	void *life = life_of(m);
	const char *broken = live(m, life, f, tally);
	free(life);
	return broken;
}

/* --- the shortest --------------------------------------------------------- */
struct shrinking {
	const struct schedule_machine *m;
	void *life;
	struct schedule_found *f, other;
	struct schedule_tally tally; /* of no interest */
	uint32_t n_tries, most;
};

/* Take the other one if it breaks the same. */
static int take_if_broken(struct shrinking *s)
{
	if (s->n_tries++ >= s->most ||
	    live(s->m, s->life, &s->other, &s->tally) != s->f->broken)
		return 0;
	*s->f = s->other;
	return 1;
}

/* Leave out N steps from I on. */
static int leave_out(struct shrinking *s, size_t i, size_t n)
{
	struct schedule_found *o = &s->other;
	*o = *s->f;
	o->n -= n;
	memmove(&o->step[i], &o->step[i + n], (o->n - i) * sizeof(o->step[0]));
	return take_if_broken(s);
}

/* Pieces of half of the schedule, then of a quarter, and so on; of the last first,
 * as what comes after the defect is of no use. Returns whether one was left out. */
static int shorten(struct shrinking *s)
{
	int did = 0;
	for (size_t piece = (s->f->n + 1) / 2; piece > 0; piece /= 2)
		for (size_t i = s->f->n; i >= piece;) {
			i -= piece;
			did |= leave_out(s, i, piece);
		}
	return did;
}

static uint32_t *number_of(struct schedule_found *f, size_t step, int is_y)
{
	return is_y ? &f->step[step].y : &f->step[step].x;
}

/* A smaller number, nothing at best, else as much less as will do. */
static int lessen(struct shrinking *s, size_t step, int is_y)
{
	const uint32_t was = *number_of(s->f, step, is_y);
	for (unsigned by = 0; by < 32 && was >> by > 0; by++) {
		s->other = *s->f;
		*number_of(&s->other, step, is_y) = was - (was >> by);
		if (take_if_broken(s))
			return 1;
	}
	return 0;
}

static int simplify(struct shrinking *s)
{
	int did = 0;
	for (size_t i = 0; i < s->f->n; i++)
		for (int is_y = 0; is_y < 2; is_y++)
			while (lessen(s, i, is_y))
				did = 1;
	return did;
}

static void shrink(const struct schedule_machine *m, void *life,
    struct schedule_found *f)
{
	struct shrinking *s = calloc(1, sizeof(*s));
	assert_non_null(s);
	s->m = m;
	s->life = life;
	s->f = f;
	s->most = m->n_tries ? m->n_tries : TRIES;
	while (s->n_tries < s->most && (shorten(s) || simplify(s)))
		;
	free(s);
}

int schedule_search(const struct schedule_machine *m, uint64_t seed,
    uint32_t first, uint32_t n, struct schedule_found *f,
    struct schedule_tally *tally)
{
	void *life = life_of(m);
	assert_true(m->n_most <= SCHEDULE_MOST);
	f->broken = NULL;
	for (uint32_t i = 0; i < n && !f->broken; i++) {
		f->seed = seed;
		f->run = first + i;
		draw(m, f);
		f->broken = live(m, life, f, tally);
	}
	if (f->broken)
		shrink(m, life, f);
	free(life);
	return f->broken != NULL;
}

/* --- as a test ------------------------------------------------------------ */
static uint32_t schedule_number(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);
	return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

static void tell(const struct schedule_machine *m,
    const struct schedule_found *f)
{
	char text[TEXT];
	size_t n = 0;
	for (size_t i = 0; i < f->n && n < sizeof(text) - 128; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "    {%u, %u, %u}, /* %s */\n", f->step[i].kind,
		    f->step[i].x, f->step[i].y, m->kind[f->step[i].kind].name);
	text[n] = '\0';
	fail_msg("%s: \"%s\" does not hold.\n%zu of %zu steps of schedule %u "
		 "are enough (TEST_SEED=%llu SCHEDULES_FIRST=%u "
		 "SCHEDULES=1):\n%s",
	    m->name, f->broken, f->n, f->n_drawn, f->run,
	    (unsigned long long)f->seed, f->run, text);
}

void schedule_hold(const struct schedule_machine *m, uint32_t n)
{
	struct schedule_tally tally = {0};
	struct schedule_found f = {0};
	n = schedule_number("SCHEDULES", n);
	if (schedule_search(m, test_seed(),
		schedule_number("SCHEDULES_FIRST", 0), n, &f, &tally))
		tell(m, &f);
	print_message("%s: %llu schedules, %llu steps\n", m->name,
	    (unsigned long long)tally.n_schedules,
	    (unsigned long long)tally.n_steps);
	for (uint32_t i = 0; m->seen[i]; i++)
		print_message("%14llu  %s\n", (unsigned long long)tally.seen[i],
		    m->seen[i]);
	for (uint32_t i = 0; m->seen[i] && n >= 1000; i++)
		if (tally.seen[i] == 0 && !(m->rare >> i & 1))
			fail_msg("%s, never: %s", m->name, m->seen[i]);
}

void schedule_hold_steps(const struct schedule_machine *m, uint32_t run,
    const struct schedule_step step[], size_t n)
{
	struct schedule_tally tally = {0};
	struct schedule_found f = {.seed = test_seed(),
	    .run = run,
	    .n = n,
	    .n_drawn = n};
	assert_true(n <= SCHEDULE_MOST);
	memcpy(f.step, step, n * sizeof(step[0]));
	if ((f.broken = schedule_live(m, &f, &tally)))
		tell(m, &f);
}
