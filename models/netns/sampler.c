/* models/netns/sampler.c -- a host's traffic in short buckets, by eBPF.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/sampler.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "models/bpf/sampler.h"
#include "models/netns/program.h"
#include "models/obs_packet.h"
#include "sim/embed.h"
#include "sim/vec.h"

enum { ETHERNET_BYTES = 14, USUAL_TOS_MARK = 0x80 };

SIM_EMBED(netns_sampler, NETNS_SAMPLER_OBJECT);

struct netns_sampler {
	struct netns_sampler_params p;
	struct obs_index index[SAMPLER_WIDTHS];
	struct bpf_object *object;
	struct netns_program_shared state, cpus, echoes, n_echoed;
	uint32_t n_cpus;
	uint64_t ahead; /* of what is armed now is CLOCK_TAI */
	int link[2];    /* -1: none */
};

/* --- opening -------------------------------------------------------------- */

static int sampler_widths(struct netns_sampler *s, struct sim_err *e)
{
	static const uint64_t usual[] = {10000000, 1000000, 100000};
	for (int w = 0; w < SAMPLER_WIDTHS; w++) {
		if (s->p.width_ns[w] == 0)
			s->p.width_ns[w] = usual[w];
		if (!obs_index_make(&s->index[w], s->p.width_ns[w]))
			return sim_fail(e, SIM_ERANGE,
			    "Buckets of %llu ns cannot be counted: a width is "
			    "%d to %d ns, and a round number.",
			    (unsigned long long)s->p.width_ns[w],
			    OBS_WIDTH_MIN_NS, OBS_WIDTH_MAX_NS);
	}
	return 0;
}

static int sampler_is_given(const struct netns_sampler_params *p)
{
	return p->clock == NETNS_SAMPLER_GIVEN ||
	    p->clock == NETNS_SAMPLER_GIVEN_ALIGNED;
}

static int sampler_constants(const struct netns_sampler *s,
    struct bpf_object *o, struct sim_err *e)
{
	const struct netns_sampler_params *p = &s->p;
	struct sampler_config want = {.net6 = {p->net6[0], p->net6[1]},
	    .mask6 = {p->mask6[0], p->mask6[1]},
	    .net4 = p->net4,
	    .mask4 = p->mask4,
	    .given = sampler_is_given(p),
	    .aligned = p->clock == NETNS_SAMPLER_ALIGNED ||
		p->clock == NETNS_SAMPLER_GIVEN_ALIGNED,
	    .mark_ttl = p->mark == NETNS_SAMPLER_MARK_TTL ? OBS_TTL_RETX : 0,
	    .mark_tos = p->mark != NETNS_SAMPLER_MARK_DSCP ? 0
		: p->mark_tos                              ? p->mark_tos
							   : USUAL_TOS_MARK,
	    .wire = p->wire_bytes,
	    .mac_bytes = p->no_link ? 0 : ETHERNET_BYTES,
	    .n_echoes = p->n_echoes};
	memcpy(want.index, s->index, sizeof(want.index));
	return netns_program_constants(o, &want, sizeof(want), e);
}

static int sampler_set_up(void *arg, struct bpf_object *o, struct sim_err *e)
{
	const struct netns_sampler *s = arg;
	int rc;
	if ((rc = sampler_constants(s, o, e)) < 0 ||
	    (rc = netns_program_size(o, "cpus", s->n_cpus, e)) < 0)
		return rc;
	return netns_program_size(o, "echoes", s->p.n_echoes, e);
}

static int sampler_share(struct netns_sampler *s, struct sim_err *e)
{
	const struct bpf_object *o = s->object;
	int rc;
	if ((rc = netns_program_share(o, ".data.state",
		 sizeof(struct sampler_state), 1, &s->state, e)) < 0 ||
	    (rc = netns_program_share(o, "cpus", sizeof(struct sampler_cpu),
		 s->n_cpus, &s->cpus, e)) < 0 ||
	    (rc = netns_program_share(o, "echoes", sizeof(struct sampler_echo),
		 s->p.n_echoes > 0 ? s->p.n_echoes : 1, &s->echoes, e)) < 0 ||
	    (rc = netns_program_share(o, ".data.echoed", sizeof(uint32_t), 1,
		 &s->n_echoed, e)) < 0)
		return rc;
	struct sampler_state *state = s->state.at;
	state->enabled = s->p.mark_always ? SAMPLER_MARK : 0;
	return 0;
}

int netns_sampler_open(struct netns_sampler **out,
    const struct netns_sampler_params *p, struct sim_err *e)
{
	struct netns_sampler *s = NULL;
	*out = NULL;
	int rc = SIM_ZALLOC(&s, 1, e);
	if (rc < 0)
		return rc;
	libbpf_print_fn_t before = netns_program_quiet();
	s->p = *p;
	s->link[0] = s->link[1] = -1;
	if ((rc = sampler_widths(s, e)) == 0 &&
	    (rc = netns_program_permit(e)) == 0 &&
	    (rc = netns_program_cpus(&s->n_cpus, e)) == 0 &&
	    (rc = netns_program_load(&s->object, "sampler", netns_sampler_begin,
		 netns_sampler_size, sampler_set_up, s, e)) == 0)
		rc = sampler_share(s, e);
	if (rc < 0)
		netns_sampler_close(s);
	else
		*out = s;
	libbpf_set_print(before);
	return rc;
}

void netns_sampler_close(struct netns_sampler *s)
{
	if (!s)
		return;
	for (int i = 0; i < 2; i++)
		if (s->link[i] >= 0)
			close(s->link[i]);
	netns_program_unshare(&s->state);
	netns_program_unshare(&s->cpus);
	netns_program_unshare(&s->echoes);
	netns_program_unshare(&s->n_echoed);
	bpf_object__close(s->object);
	free(s);
}

int netns_sampler_attach(struct netns_sampler *s, uint32_t ifindex,
    struct sim_err *e)
{
	int rc = netns_program_attach(s->object, "sampler_ingress", ifindex,
	    BPF_TC_INGRESS, NETNS_PROGRAM_SAMPLER, e);
	if (rc < 0)
		return rc;
	rc = netns_program_attach(s->object, "sampler_egress", ifindex,
	    BPF_TC_EGRESS, NETNS_PROGRAM_SAMPLER, e);
	if (rc < 0)
		netns_program_detach(ifindex, BPF_TC_INGRESS,
		    NETNS_PROGRAM_SAMPLER);
	return rc;
}

void netns_sampler_detach(uint32_t ifindex)
{
	netns_program_detach(ifindex, BPF_TC_INGRESS, NETNS_PROGRAM_SAMPLER);
	netns_program_detach(ifindex, BPF_TC_EGRESS, NETNS_PROGRAM_SAMPLER);
}

int netns_sampler_hold(struct netns_sampler *s, uint32_t ifindex,
    struct sim_err *e)
{
	const int rc = netns_program_hold(s->object, "sampler_ingress", ifindex,
	    BPF_TC_INGRESS, &s->link[0], e);
	return rc < 0 ? rc
		      : netns_program_hold(s->object, "sampler_egress", ifindex,
			    BPF_TC_EGRESS, &s->link[1], e);
}

int netns_sampler_holds(const struct netns_sampler *s)
{
	return netns_program_holds(s->link[0]) &&
	    netns_program_holds(s->link[1]);
}

uint32_t netns_sampler_n_cpus(const struct netns_sampler *s)
{
	return s->n_cpus;
}

/* --- runs ----------------------------------------------------------------- */

static uint64_t sampler_clock(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* By how much TAI is ahead of the clock that the program reads. Between two
 * readings of the one stands one of the other; those that were closest tell. */
static uint64_t sampler_ahead(void)
{
	enum { TRIES = 8 };
	uint64_t ahead = 0, least = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		const uint64_t from = sampler_clock(CLOCK_MONOTONIC),
			       tai = sampler_clock(CLOCK_TAI),
			       apart = sampler_clock(CLOCK_MONOTONIC) - from;
		if (apart < least) {
			least = apart;
			ahead = tai - from - apart / 2;
		}
	}
	return ahead;
}

void netns_sampler_arm(struct netns_sampler *s, uint32_t widths)
{
	struct sampler_state *state = s->state.at;
	widths &= SAMPLER_ALL & ~netns_sampler_armed(s);
	s->ahead = sampler_is_given(&s->p) ? 0 : sampler_ahead();
	for (int w = 0; w < SAMPLER_WIDTHS; w++) {
		if (!(widths >> w & 1))
			continue;
		state->run[w].ahead = s->ahead;
		__atomic_store_n(&state->run[w].start, 0, __ATOMIC_RELEASE);
	}
	__atomic_fetch_or(&state->enabled, widths, __ATOMIC_SEQ_CST);
}

uint32_t netns_sampler_armed(const struct netns_sampler *s)
{
	const struct sampler_state *state = s->state.at;
	return __atomic_load_n(&state->enabled, __ATOMIC_ACQUIRE) & SAMPLER_ALL;
}

uint64_t netns_sampler_started(const struct netns_sampler *s, uint32_t width)
{
	const struct sampler_state *state = s->state.at;
	return __atomic_load_n(&state->run[width].start, __ATOMIC_ACQUIRE);
}

/* Programs run within what RCU waits for, so that after this call none is left
 * that had seen the run enabled. */
static int sampler_settle(struct sim_err *e)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0
	    ? 0
	    : sim_fail(e, SIM_EIO,
		  "The packets under way cannot be waited for: %s.",
		  strerror(errno));
}

/* A bucket in which nothing was counted is not written either, as zeroing would
 * cost more than reading. */
static void sampler_add_up(struct obs_bucket to[], struct obs_bucket from[])
{
	static const struct obs_bucket zero;
	for (int i = 0; i < OBS_BUCKETS; i++) {
		if ((from[i].in_bytes | from[i].out_bytes) == 0)
			continue;
		obs_bucket_merge(&to[i], &from[i]);
		from[i] = zero;
	}
}

int netns_sampler_take(struct netns_sampler *s, uint32_t width,
    struct obs_bucket bucket[], struct netns_sampler_run *run,
    struct sim_err *e)
{
	struct sampler_state *state = s->state.at;
	struct sampler_cpu *cpu = s->cpus.at;
	__atomic_fetch_and(&state->enabled, ~(1u << width), __ATOMIC_SEQ_CST);
	int rc = sampler_settle(e);
	if (rc < 0)
		return rc;
	const struct sampler_run got = state->run[width];
	*run = (struct netns_sampler_run){.start_ns = got.start == 0
		? 0
		: got.start + got.ahead,
	    .width_ns = s->index[width].width};
	memset(bucket, 0, OBS_BUCKETS * sizeof(*bucket));
	for (uint32_t i = 0; i < s->n_cpus; i++) {
		sampler_add_up(bucket, cpu[i].bucket[width]);
		run->n_missed += cpu[i].n_missed[width];
		cpu[i].n_missed[width] = 0;
	}
	return 0;
}

struct netns_sampler_count netns_sampler_count(const struct netns_sampler *s)
{
	const struct sampler_cpu *cpu = s->cpus.at;
	struct netns_sampler_count sum = {0};
	for (uint32_t i = 0; i < s->n_cpus; i++) {
		sum.n_retx += cpu[i].n_retx;
		sum.n_unmarked += cpu[i].n_failed;
		sum.n_deep += cpu[i].n_deep;
		sum.n_false += cpu[i].n_false;
	}
	return sum;
}

/* --- of tests ------------------------------------------------------------- */

void netns_sampler_now(struct netns_sampler *s, uint64_t now_ns)
{
	struct sampler_state *state = s->state.at;
	__atomic_store_n(&state->now, now_ns, __ATOMIC_SEQ_CST);
}

int netns_sampler_try(struct netns_sampler *s, int out,
    const struct netns_frame *frame, uint32_t gso_segs, void *after,
    struct netns_cost *cost, struct sim_err *e)
{
	const struct __sk_buff skb = {.gso_segs = gso_segs};
	struct netns_program_result got = {.after = after};
	int rc =
	    netns_program_try(netns_program_fd(s->object,
				  out ? "sampler_egress" : "sampler_ingress"),
		&skb, frame, &got, e);
	if (rc < 0)
		return rc;
	cost->ns = got.ns;
	return netns_program_try_empty(frame, &cost->empty_ns, e);
}

uint32_t netns_sampler_n_echoed(const struct netns_sampler *s)
{
	return __atomic_load_n((const uint32_t *)s->n_echoed.at,
	    __ATOMIC_ACQUIRE);
}

struct netns_sampler_echo netns_sampler_echo(const struct netns_sampler *s,
    uint32_t i)
{
	const struct sampler_echo *x =
	    (const struct sampler_echo *)s->echoes.at +
	    (i & (s->p.n_echoes - 1));
	return (struct netns_sampler_echo){x->t + s->ahead, x->seen};
}
