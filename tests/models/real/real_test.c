/* tests/models/real/real_test.c -- time, services and opening.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/rigs/loopback.h"

/* --- timers ------------------------------------------------------------- */

static void set_timer(struct loop *g, topo_host h, sim_ns at, uint64_t token)
{
	const struct agent_action a = {.kind = AGENT_SET_TIMER,
	    .token = token,
	    .at_ns = at};
	loop_act(g, h, &a);
}

static void timers_come_in_order_and_not_early(void **state)
{
	static const uint64_t ms[] = {60, 20, 40, 20, 0, 100};
	static const unsigned order[] = {4, 1, 3, 2, 0, 5};
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	const sim_ns start = loop_now(&g);
	for (unsigned i = 0; i < 6; i++)
		set_timer(&g, i % LOOP_HOSTS, start + ms[i] * SIM_MS, i);
	set_timer(&g, 0, SIM_NEVER, 99);
	for (unsigned i = 0; i < 6; i++) {
		loop_await(&g, AGENT_TIMER);
		assert_int_equal(g.ev.token, order[i]);
		assert_int_equal(g.host, order[i] % LOOP_HOSTS);
		assert_in_range(g.at, start + ms[order[i]] * SIM_MS,
		    start + ms[order[i]] * SIM_MS + LOOP_SLOW);
	}
	assert_false(loop_next(&g, 20 * SIM_MS));
	fabric_real_close(g.f);
}

/* What was under way is lost, what comes meanwhile too, and then it begins. */
static void a_host_that_is_off_hears_nothing_of_its_former_life(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	const sim_ns start = loop_now(&g);
	set_timer(&g, 1, start + 10 * SIM_MS, 1);
	set_timer(&g, 2, start + 20 * SIM_MS, 2);
	set_timer(&g, 1, start + 30 * SIM_MS, 3);
	loop_connect(&g, 1, loop_ip(2), g.p.port[0], 0);
	assert_true(g.base->ops->is_on(g.base, 1));
	fabric_real_off(g.f, 1);
	assert_false(g.base->ops->is_on(g.base, 1));
	assert_true(g.base->ops->is_on(g.base, 2));
	loop_await(&g, AGENT_TIMER);
	assert_int_equal(g.ev.token, 2);
	assert_false(loop_next(&g, 30 * SIM_MS));
	/* Whoever has the place of a connection is not its. */
	loop_connect(&g, 0, loop_ip(2), g.p.port[0], 0);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.host, 0);
	/* Not on before it knows. */
	set_timer(&g, 1, 0, 4);
	assert_false(loop_next(&g, 5 * SIM_MS));
	assert_ok(fabric_real_on(g.f, 1, test_err()));
	assert_false(g.base->ops->is_on(g.base, 1));
	loop_await(&g, AGENT_START);
	assert_int_equal(g.host, 1);
	assert_true(g.base->ops->is_on(g.base, 1));
	loop_connect(&g, 1, loop_ip(2), g.p.port[0], 0);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.host, 1);
	assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
	/* On and off again before it knew: it never was on. */
	fabric_real_off(g.f, 1);
	assert_ok(fabric_real_on(g.f, 1, test_err()));
	fabric_real_off(g.f, 1);
	assert_false(loop_next(&g, 5 * SIM_MS));
	assert_false(g.base->ops->is_on(g.base, 1));
	assert_ok(fabric_real_on(g.f, 2, test_err())); /* it is */
	assert_false(loop_next(&g, 5 * SIM_MS));
	fabric_real_close(g.f);
}

static void poll_ends_when_it_is_told_to(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	const sim_ns end = loop_now(&g) + 30 * SIM_MS;
	set_timer(&g, 0, end + LOOP_SLOW, 1);
	assert_false(loop_next_until(&g, end));
	assert_in_range(loop_now(&g), end, end + LOOP_SLOW);
	/* A timer that is set to a past time fires at once, but a poll until a
	 * past time does not see it. */
	set_timer(&g, 0, 0, 2);
	assert_false(loop_next_until(&g, end));
	loop_await(&g, AGENT_TIMER);
	assert_int_equal(g.ev.token, 2);
	assert_true(loop_next_until(&g, SIM_NEVER));
	assert_int_equal(g.ev.token, 1);
	fabric_real_close(g.f);
}

/* The actions of one agent fail at once, again and again. Others must get their
 * events all the same. */
static void nobody_is_starved(void **state)
{
	struct loop g;
	unsigned heard = 0;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	struct agent_action bad = loop_connect_of(&g, 0, loop_ip(1), 1, 0);
	bad.tuple.src_ip = UINT32_C(0xc0000201);
	loop_act(&g, 0, &bad);
	loop_connect(&g, 1, loop_ip(2), g.p.port[0], 0);
	for (unsigned i = 0; i < 1000 && !heard; i++) {
		loop_await(&g, AGENT_CONNECT_DONE);
		heard = g.host == 1;
		if (!heard)
			loop_act(&g, 0, &bad);
	}
	assert_true(heard);
	fabric_real_close(g.f);
}

/* --- services ----------------------------------------------------------- */

struct service {
	struct loop *g;
	int pipe[2];
	int later; /* 1: answer when there is a byte in the pipe */
	unsigned n_taken, n_ready;
	topo_host host[8];
	uint64_t token[8];
	unsigned n;
	char upload[16];
};

static int fetch(void *arg, topo_host host, uint64_t token, struct sim_err *e)
{
	struct service *s = arg;
	if (!s->later)
		return fabric_real_fetched(s->g->f, host, token, 1, "now", 3,
		    e);
	s->host[s->n] = host;
	s->token[s->n++] = token;
	return 0;
}

static int upload(void *arg, topo_host host, uint64_t token, const void *data,
    size_t n, struct sim_err *e)
{
	struct service *s = arg;
	assert_true(n < sizeof(s->upload));
	memcpy(s->upload, data, n);
	return fabric_real_uploaded(s->g->f, host, token, 1, e);
}

static int counters(void *arg, topo_host host, const void *data, size_t n,
    struct sim_err *e)
{
	(void)host;
	(void)e;
	memcpy(((struct service *)arg)->upload, data, n);
	return 0;
}

static int ready(void *arg, struct sim_err *e)
{
	struct service *s = arg;
	char c;
	int rc = 0;
	assert_int_equal(read(s->pipe[0], &c, 1), 1);
	s->n_ready++;
	while (rc == 0 && s->n > 0) {
		s->n--;
		rc = fabric_real_fetched(s->g->f, s->host[s->n], s->token[s->n],
		    1, "later", 5, e);
	}
	return rc;
}

static void taken(void *arg, topo_host host, uint64_t token)
{
	struct service *s = arg;
	(void)host;
	assert_in_range(token, 100, 110);
	s->n_taken++;
}

static void ask(struct loop *g, enum agent_action_kind kind, topo_host h,
    uint64_t token)
{
	const struct agent_action a = {.kind = kind,
	    .token = token,
	    .data = "bytes",
	    .n_bytes = 5};
	loop_act(g, h, &a);
}

static void services_answer_at_once_or_later(void **state)
{
	struct loop g;
	struct service s = {.g = &g};
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	/* Without services a fetch and an upload fail. */
	ask(&g, AGENT_FETCH, 1, 100);
	loop_await(&g, AGENT_FETCH_DONE);
	assert_int_equal(g.ev.ok, 0);
	ask(&g, AGENT_UPLOAD, 1, 100);
	loop_await(&g, AGENT_UPLOAD_DONE);
	assert_int_equal(g.ev.ok, 0);
	ask(&g, AGENT_COUNTERS, 1, 100);

	assert_int_equal(pipe2(s.pipe, O_CLOEXEC), 0);
	const struct fabric_real_services services = {.arg = &s,
	    .fetch = fetch,
	    .upload = upload,
	    .counters = counters,
	    .taken = taken,
	    .fd = s.pipe[0],
	    .ready = ready};
	assert_ok(fabric_real_serve(g.f, &services, test_err()));
	ask(&g, AGENT_FETCH, 1, 101);
	loop_await(&g, AGENT_FETCH_DONE);
	assert_int_equal(g.ev.ok, 1);
	assert_int_equal(g.ev.n, 3);
	assert_memory_equal(g.ev.data, "now", 3);
	assert_int_equal(s.n_taken, 0);
	ask(&g, AGENT_UPLOAD, 2, 102);
	loop_await(&g, AGENT_UPLOAD_DONE);
	assert_int_equal(s.n_taken, 1);
	assert_int_equal(g.ev.ok, 1);
	assert_string_equal(s.upload, "bytes");
	s.upload[0] = '\0';
	ask(&g, AGENT_COUNTERS, 2, 0);
	assert_string_equal(s.upload, "bytes");

	s.later = 1;
	ask(&g, AGENT_FETCH, 0, 103);
	ask(&g, AGENT_FETCH, 2, 104);
	assert_false(loop_next(&g, 20 * SIM_MS));
	assert_int_equal(write(s.pipe[1], "x", 1), 1);
	loop_await(&g, AGENT_FETCH_DONE);
	assert_int_equal(g.host, 2);
	assert_int_equal(g.ev.token, 104);
	assert_memory_equal(g.ev.data, "later", 5);
	assert_int_equal(s.n_ready, 1);
	/* A document that its agent never got is given back at the close. */
	fabric_real_close(g.f);
	assert_int_equal(s.n_taken, 3);
	close(s.pipe[0]);
	close(s.pipe[1]);
}

static int find_dip(void *arg, topo_host host, const struct topo_tuple *t,
    uint32_t *dip)
{
	(void)host;
	*dip = *(uint32_t *)arg;
	return t->dst_port == 80;
}

static void slb_queries_are_answered_at_once(void **state)
{
	struct agent_action a = {.kind = AGENT_SLB_QUERY, .token = 5};
	uint32_t dip = 42;
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	loop_act(&g, 1, &a);
	loop_await(&g, AGENT_SLB_REPLY);
	assert_int_equal(g.ev.ok, 0);
	assert_int_equal(g.ev.token, 5);
	fabric_real_slb(g.f, find_dip, &dip);
	for (unsigned i = 0; i < 2; i++) {
		a.tuple.dst_port = (uint16_t)(80 + i);
		loop_act(&g, 1, &a);
		loop_await(&g, AGENT_SLB_REPLY);
		assert_int_equal(g.ev.ok, i == 0);
		if (i == 0)
			assert_int_equal(g.ev.dip, 42);
	}
	fabric_real_close(g.f);
}

/* --- opening ------------------------------------------------------------ */

/* Take a capability from this thread, or give it back. 0: it has it not. */
static int may(unsigned cap, int yes)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2];
	assert_int_equal(syscall(SYS_capget, &h, d), 0);
	if (!(d[cap / 32].permitted >> cap % 32 & 1))
		return 0;
	if (yes)
		d[cap / 32].effective |= UINT32_C(1) << cap % 32;
	else
		d[cap / 32].effective &= ~(UINT32_C(1) << cap % 32);
	assert_int_equal(syscall(SYS_capset, &h, d), 0);
	return 1;
}

static void without_raw_sockets_only_probes_are_refused(void **state)
{
	const struct agent_action a = {.kind = AGENT_PROBE, .ttl = 1};
	(void)state;
	for (unsigned way = 0; way < 2; way++) {
		struct sim_err e;
		struct loop g;
		loop_defaults(&g);
		g.p.no_probe = way;
		const int had = way == 0 && may(CAP_NET_RAW, 0);
		loop_open(&g);
		if (had)
			may(CAP_NET_RAW, 1);
		assert_false(g.base->caps.can_probe_ttl);
		assert_int_equal(g.base->ops->submit(g.base, 0, &a, 1, &e),
		    SIM_EUNSUPPORTED);
		loop_connect(&g, 0, loop_ip(1), g.p.port[1], 10);
		loop_await(&g, AGENT_PING_REQUEST);
		loop_answer(&g, 10);
		loop_await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		fabric_real_close(g.f);
	}
}

static unsigned knob(const char *path)
{
	unsigned value = 0;
	FILE *in = fopen(path, "re");
	if (in && fscanf(in, "%u", &value) != 1)
		value = 0;
	if (in)
		fclose(in);
	return value;
}

/* As many waits as the kernel has; the first `linear` + 1 are equal. */
static void the_kernels_waits_are_told(void **state)
{
	const unsigned linear =
	    knob("/proc/sys/net/ipv4/tcp_syn_linear_timeouts");
	(void)state;
	for (unsigned retries = 0; retries < 4; retries++) {
		struct loop g;
		loop_defaults(&g);
		g.p.syn_retries = retries;
		g.p.syn_rto_s = 3;
		loop_open(&g);
		unsigned n = linear +
		    (retries ? retries
			     : knob("/proc/sys/net/ipv4/tcp_syn_retries"));
		const sim_ns *rto = g.base->caps.syn_rto_ns;
		sim_ns want = 3 * SIM_SEC;
		for (unsigned i = 0; i < 8; i++) {
			assert_int_equal(rto[i], i < n ? want : 0);
			want *= i >= linear ? 2 : 1;
		}
		assert_in_range(g.base->caps.clock_res_ns, 1, SIM_MS);
		fabric_real_close(g.f);
	}
}

static void what_cannot_be_opened_is_said(void **state)
{
	struct fabric_real_host host[2] = {{loop_ip(0), -1}, {loop_ip(0), -1}};
	struct fabric_real *f;
	struct sim_err e;
	struct loop g;
	(void)state;
	loop_defaults(&g);
	assert_int_equal(fabric_real_open(&f, host, 0, &g.p, &e), SIM_EINVAL);
	assert_null(f);
	assert_int_equal(fabric_real_open(&f, host, 2, &g.p, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "hosts 0 and 1 have the same address"));
	host[1].address = loop_ip(1);
	struct fabric_real *first;
	assert_ok(fabric_real_open(&first, host + 1, 1, &g.p, &e));
	assert_int_equal(fabric_real_open(&f, host, 2, &g.p, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "host 1: port "));
	fabric_real_close(first);
	host[1].ns = 9999;
	assert_int_equal(fabric_real_open(&f, host, 2, &g.p, &e), SIM_EIO);
	host[1].ns = -1;
	g.p.n_classes = FABRIC_REAL_CLASSES + 1;
	assert_int_equal(fabric_real_open(&f, host, 2, &g.p, &e), SIM_EINVAL);
	g.p.n_classes = 1;
	g.p.max_flights = UINT32_MAX / 64;
	struct rlimit before, few;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	if (before.rlim_max < g.p.max_flights) {
		assert_int_equal(fabric_real_open(&f, host, 2, &g.p, &e),
		    SIM_ELIMIT);
		assert_non_null(strstr(e.msg, "`ulimit -Hn` allows"));
	}
	/* A soft limit that is too low is raised as far as needed. */
	g.p.max_flights = 500;
	few = before;
	few.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_ok(fabric_real_open(&f, host, 2, &g.p, test_err()));
	fabric_real_close(f);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static int open_and_use(void *arg, struct sim_err *e)
{
	struct loop *g = arg;
	const struct fabric_real_host host = {loop_ip(0), -1};
	struct agent_action a = {.kind = AGENT_SET_TIMER};
	int rc = fabric_real_open(&g->f, &host, 1, &g->p, e);
	if (rc < 0)
		return rc;
	g->base = fabric_real_fabric(g->f);
	rc = g->base->ops->submit(g->base, 0, &a, 1, e);
	a.kind = AGENT_SLB_QUERY;
	if (rc == 0)
		rc = g->base->ops->submit(g->base, 0, &a, 1, e);
	a.kind = AGENT_FETCH;
	if (rc == 0)
		rc = g->base->ops->submit(g->base, 0, &a, 1, e);
	g->base->ops->close(g->base);
	return rc;
}

static void failed_allocations_are_told(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	test_each_alloc_fails(open_and_use, &g);
	fabric_real_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(timers_come_in_order_and_not_early),
	    cmocka_unit_test(
		a_host_that_is_off_hears_nothing_of_its_former_life),
	    cmocka_unit_test(poll_ends_when_it_is_told_to),
	    cmocka_unit_test(nobody_is_starved),
	    cmocka_unit_test(services_answer_at_once_or_later),
	    cmocka_unit_test(slb_queries_are_answered_at_once),
	    cmocka_unit_test(without_raw_sockets_only_probes_are_refused),
	    cmocka_unit_test(the_kernels_waits_are_told),
	    cmocka_unit_test(what_cannot_be_opened_is_said),
	    cmocka_unit_test(failed_allocations_are_told),
	};
	return cmocka_run_group_tests_name("models/real/real", tests, NULL,
	    NULL);
}
