/* models/rack/traffic.c -- bursts into and out of a rack's servers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/rack/traffic.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/dist.h"
#include "sim/sort.h"

#define FIELD(m) offsetof(struct rack_traffic_params, m)

static const char *const rack_class_names[] = {
#define X(name, bursts, volume, connections) #name,
    RACK_CLASSES(X)
#undef X
	NULL};
static const struct {
	double bursts, volume, connections;
} rack_class_table[] = {
#define X(name, bursts, volume, connections) {bursts, volume, connections},
    RACK_CLASSES(X)
#undef X
};
static const char *const rack_gap_laws[] = {"exponential", "lognormal", NULL};
static const char *const rack_placements[] = {"packed", "spread", NULL};

/* All of these are ours but where a doc says otherwise. */
const struct sim_field rack_traffic_fields[] = {
    {"classes", SIM_F_SET, FIELD(classes), .names = rack_class_names,
	.def = "[web, cache, storage, batch]",
	.doc = "services; each server has one of them by chance"},
    {"gap", SIM_F_F64, FIELD(gap_ms), .min = 0.1, .max = 1e6, .unit = "ms",
	.def = "100",
	.doc = "from one burst of a server to the next, on average"},
    {"gap_law", SIM_F_ENUM, FIELD(gap_law), .names = rack_gap_laws,
	.def = "exponential", .doc = "law of these gaps"},
    {"gap_sigma", SIM_F_F64, FIELD(gap_sigma), .min = 0.01, .max = 4,
	.unit = "1", .def = "1", .when = "gap_law=lognormal",
	.doc = "of the logarithm of a gap"},
    {"volume", SIM_F_F64, FIELD(volume), .min = 1, .max = 1e10, .unit = "bytes",
	.def = "1.6e6", .doc = "of a burst, median"},
    {"volume_sigma", SIM_F_F64, FIELD(volume_sigma), .min = 0, .max = 4,
	.unit = "1", .def = "1", .doc = "of the logarithm of a volume"},
    {"conns_min", SIM_F_F64, FIELD(conns_min), .min = 1, .max = 1e4,
	.unit = "connections", .def = "3", .doc = "of a burst, at least"},
    {"conns_shape", SIM_F_F64, FIELD(conns_shape), .min = 0.1, .max = 100,
	.unit = "1", .def = "1.1", .doc = "of the Pareto law of their number"},
    {"conns_max", SIM_F_F64, FIELD(conns_max), .min = 1, .max = 1e4,
	.unit = "connections", .def = "300", .doc = "where that law is cut"},
    {"out", SIM_F_F64, FIELD(out), .min = 0, .max = 10, .unit = "1",
	.def = "0.5",
	.doc = "bursts that a server sends, for each it receives"},
    {"few", SIM_F_F64, FIELD(few_per_s), .min = 0, .max = 1e6, .unit = "1/s",
	.def = "20", .doc = "single transfers to a server, besides"},
    {"few_volume", SIM_F_F64, FIELD(few_volume), .min = 1, .max = 1e9,
	.unit = "bytes", .def = "20e3", .doc = "of such a one, mean"},
    {"diurnal", SIM_F_F64, FIELD(diurnal), .min = 0, .max = 1, .unit = "1",
	.def = "0.4",
	.doc = "by how much of its mean the rate of bursts swings"},
    {"hour", SIM_F_F64, FIELD(hour), .min = 0, .max = 24, .unit = "h",
	.def = "14", .doc = "of the day; the peak is at 20, the mean at 14"},
    {"crowd", SIM_F_F64, FIELD(crowd), .min = 0, .max = 1000, .unit = "1",
	.def = "1",
	.doc = "factor on the rate of services' bursts, and on ml_part up to "
	       "all servers"},
    {"warm", SIM_F_F64, FIELD(warm), .min = 0, .max = 1, .unit = "1",
	.def = "0",
	.doc = "of the connections of a service's burst, that stay and keep "
	       "their windows"},
    {"cross", SIM_F_F64, FIELD(cross), .min = 0, .max = 1, .unit = "1",
	.def = "0",
	.doc = "of services' bursts, that come from another region or go "
	       "there"},
    {"ml_share", SIM_F_F64, FIELD(ml_share), .min = 0, .max = 1, .unit = "1",
	.def = "0.7", .doc = "of a rack's servers that compute together"},
    {"ml_racks", SIM_F_F64, FIELD(ml_racks), .min = 0, .max = 1, .unit = "1",
	.def = "0.2",
	.doc = "of a region's racks with such jobs (unconfirmed)"},
    {"placement", SIM_F_ENUM, FIELD(placement), .names = rack_placements,
	.def = "packed",
	.doc = "jobs fill these racks, or are spread over all of the region"},
    {"barrier", SIM_F_DIST, FIELD(barrier_ms), .min = 0.1, .max = 1e5,
	.unit = "ms", .def = "{uniform: [30, 40]}", .when = "ml_share!=0",
	.doc = "from one barrier of a job to the next"},
    {"ml_part", SIM_F_F64, FIELD(ml_part), .min = 0, .max = 1, .unit = "1",
	.def = "0.25", .when = "ml_share!=0",
	.doc = "of a job's servers that receive after a barrier"},
    {"ml_conns", SIM_F_DIST, FIELD(ml_conns), .min = 1, .max = 1000, .whole = 1,
	.unit = "connections", .def = "{uniform: [2, 8]}",
	.when = "ml_share!=0", .doc = "of each server of a job, at a barrier"},
    {"ml_warm", SIM_F_F64, FIELD(ml_warm), .min = 0, .max = 1, .unit = "1",
	.def = "1", .when = "ml_share!=0",
	.doc = "of these, that stay and keep their windows"},
    {"ml_volume", SIM_F_F64, FIELD(ml_volume), .min = 1, .max = 1e10,
	.unit = "bytes", .def = "2.5e6", .when = "ml_share!=0",
	.doc = "that a server receives after a barrier, median"},
    {"jitter", SIM_F_F64, FIELD(jitter_us), .min = 0, .max = 1e6, .unit = "us",
	.def = "200", .when = "ml_share!=0",
	.doc = "until it does, on average, exponential"},
    {0},
};

/* --- one server or job at a time -------------------------------------------*/

struct rack_source {
	struct rack_flows *out;
	const struct rack_params *r;
	const struct rack_traffic_params *p;
	sim_ns until;
	struct sim_rng rng;
	const struct sim_seed *where;
	uint32_t base, server;
	uint32_t next_conn[2];  /* inwards, outwards */
	uint32_t first_warm[2]; /* of the server's services */
	uint8_t sends, cross;   /* this burst is with another region */
	struct sim_rng far;     /* draws which ones are */
};

static double rack_lognormal(struct sim_rng *rng, double median, double sigma)
{
	return median * exp(gsl_ran_gaussian_ziggurat(&rng->gsl, sigma));
}

static int rack_source_add(struct rack_source *s, double at_ns, double bytes,
    uint32_t conn, uint32_t warm, struct sim_err *e)
{
	const double n = fmin(ceil(bytes / s->r->segment), 1e9);
	const struct rack_flow f = {.start_ns = (uint64_t)at_ns,
	    .server = s->server,
	    .segments = n < 1 ? 1 : (uint32_t)n,
	    .conn = conn,
	    .warm = warm,
	    .out = s->sends,
	    .cross = s->cross};
	return at_ns < (double)s->until ? rack_flows_add(s->out, &f, e) : 0;
}

/* Of N connections a share SHARE. */
static uint32_t rack_part(uint32_t n, double share)
{
	return (uint32_t)floor(n * share + 0.5);
}

/* BYTES over N connections, of which the first are warm, the others new. */
static int rack_source_burst(struct rack_source *s, double at_ns, double bytes,
    uint32_t n, struct sim_err *e)
{
	/* A connection that stays has the same other end all the time. */
	const uint32_t warm = s->cross ? 0 : rack_part(n, s->p->warm);
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		const uint32_t stays =
		    i < warm ? s->first_warm[s->sends] + i : 0;
		rc = rack_source_add(s, at_ns, bytes / n,
		    stays ? stays : s->next_conn[s->sends]++, stays, e);
	}
	return rc;
}

static double rack_gap(struct rack_source *s, double mean_ms)
{
	const double sigma = s->p->gap_sigma;
	if (s->p->gap_law == RACK_GAP_EXPONENTIAL)
		return gsl_ran_exponential(&s->rng.gsl, mean_ms);
	return rack_lognormal(&s->rng, mean_ms * exp(-sigma * sigma / 2),
	    sigma);
}

static uint32_t rack_conns(struct rack_source *s, double factor)
{
	const struct rack_traffic_params *p = s->p;
	const double n = p->conns_min * factor *
	    pow(sim_rng_u01_open(&s->rng), -1 / p->conns_shape);
	return (uint32_t)fmax(fmin(n, p->conns_max), 1);
}

static int rack_service(struct rack_source *s, enum rack_class class,
    double rate, struct sim_err *e)
{
	const double pi = acos(-1);
	const double day =
	    1 + s->p->diurnal * cos(2 * pi * (s->p->hour - 20) / 24);
	const double all =
	    rate * day * s->p->crowd * rack_class_table[class].bursts;
	const double mean_ms = s->p->gap_ms / all;
	if (all <= 0)
		return 0;
	/* The first gap began at some time before. */
	double t = rack_gap(s, mean_ms) * sim_rng_u01(&s->rng) * 1e6;
	int rc = 0;
	for (; rc == 0 && t < (double)s->until;
	     t += rack_gap(s, mean_ms) * 1e6) {
		const double bytes = rack_lognormal(&s->rng,
		    s->p->volume * rack_class_table[class].volume,
		    s->p->volume_sigma);
		s->cross =
		    s->p->cross > 0 && sim_rng_u01(&s->far) < s->p->cross;
		rc = rack_source_burst(s, t, bytes,
		    rack_conns(s, rack_class_table[class].connections), e);
	}
	s->cross = 0;
	return rc;
}

/* What one process draws is its own, however long the others go on. */
enum { RACK_DRAWS_IN, RACK_DRAWS_OUT, RACK_DRAWS_FEW, RACK_N_DRAWS };

static void rack_source_seed(struct rack_source *s, uint32_t what)
{
	sim_rng_init(&s->rng, s->where, SIM_STREAM_RACK_TRAFFIC,
	    (s->base + s->server) * RACK_N_DRAWS + what);
}

static int rack_few(struct rack_source *s, uint32_t warm, struct sim_err *e)
{
	double t = 0;
	int rc = 0;
	rack_source_seed(s, RACK_DRAWS_FEW);
	while (rc == 0 && s->p->few_per_s > 0 && t < (double)s->until) {
		t += gsl_ran_exponential(&s->rng.gsl, 1e9 / s->p->few_per_s);
		rc = rack_source_add(s, t,
		    gsl_ran_exponential(&s->rng.gsl, s->p->few_volume), warm,
		    warm, e);
	}
	return rc;
}

static enum rack_class rack_class_of(struct rack_source *s)
{
	uint32_t n =
	    sim_rng_below(&s->rng, (uint32_t)__builtin_popcount(s->p->classes));
	for (uint32_t i = 0; i < RACK_N_CLASSES; i++)
		if ((s->p->classes >> i & 1) && n-- == 0)
			return (enum rack_class)i;
	return RACK_CLASS_web;
}

static int rack_server(struct rack_source *s, struct sim_err *e)
{
	rack_source_seed(s, RACK_DRAWS_IN);
	const enum rack_class class = rack_class_of(s);
	sim_rng_init(&s->far, s->where, SIM_STREAM_RACK_CROSS,
	    s->base + s->server);
	int rc = rack_service(s, class, 1, e);
	s->sends = 1;
	rack_source_seed(s, RACK_DRAWS_OUT);
	if (rc == 0)
		rc = rack_service(s, class, s->p->out, e);
	s->sends = 0;
	return rc;
}

/* BYTES over N connections, of which the first are those from CONN on. */
static int rack_job_burst(struct rack_source *s, double at_ns, double bytes,
    uint32_t n, uint32_t conn, struct sim_err *e)
{
	const uint32_t warm = rack_part(n, s->p->ml_warm);
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		const uint32_t stays = i < warm ? conn + i : 0;
		rc = rack_source_add(s, at_ns, bytes / n,
		    stays ? stays : s->next_conn[0]++, stays, e);
	}
	return rc;
}

/* N servers from 0 on compute together. Each has its warm connections, and
 * takes part in a barrier by a draw of its own. */
static int rack_job(struct rack_source *s, uint32_t n, uint32_t base,
    struct sim_err *e)
{
	struct sim_rng *rng = &s->rng;
	/* One draw after the other: of two in one expression C leaves it to the
	 * compiler which is first. */
	double t = dist_at(&s->p->barrier_ms, sim_rng_u01(rng));
	t = t * sim_rng_u01(rng) * 1e6;
	const uint32_t most = (uint32_t)s->p->ml_conns.b;
	int rc = 0;
	for (; t < (double)s->until;
	     t += dist_at(&s->p->barrier_ms, sim_rng_u01(rng)) * 1e6)
		for (s->server = 0; s->server < n; s->server++) {
			const int part =
			    sim_rng_u01(rng) < s->p->ml_part * s->p->crowd;
			const uint32_t k = dist_whole(&s->p->ml_conns, rng);
			const double at = t +
			    gsl_ran_exponential(&rng->gsl,
				s->p->jitter_us * 1e3);
			const double bytes = rack_lognormal(rng,
			    s->p->ml_volume, s->p->volume_sigma / 2);
			if (part)
				rc = rack_job_burst(s, at, bytes, k,
				    base + s->server * most, e);
			if (rc < 0)
				return rc;
		}
	return 0;
}

/* --- a rack ----------------------------------------------------------------*/

uint32_t rack_traffic_jobs(const struct rack_params *r,
    const struct rack_traffic_params *p, uint32_t rack)
{
	const double before = floor(rack * p->ml_racks);
	const int has = floor((rack + 1.0) * p->ml_racks) > before;
	const double n = r->n_servers * p->ml_share;
	if (p->placement == RACK_SPREAD)
		return (uint32_t)lround(n * p->ml_racks);
	return has ? (uint32_t)lround(n) : 0;
}

static int rack_flow_order(const void *a, const void *b)
{
	const struct rack_flow *x = a, *y = b;
	if (x->start_ns != y->start_ns)
		return SIM_ORDER(x->start_ns, y->start_ns);
	if (x->conn != y->conn)
		return SIM_ORDER(x->conn, y->conn);
	return x->out - y->out;
}

static int rack_flows_sort(struct rack_flows *f, struct sim_err *e)
{
	struct rack_flow *row = malloc((f->n + 1) * sizeof(*row));
	if (!row)
		return sim_fail(e, SIM_ENOMEM,
		    "No memory to sort %zu transfers.", f->n);
	const size_t n = f->n;
	for (size_t i = 0; i < n; i++)
		row[i] = rack_flows_at(f, i);
	qsort(row, n, sizeof(*row), rack_flow_order);
	rack_flows_clear(f);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = rack_flows_add(f, &row[i], e);
	free(row);
	return rc;
}

/* Names of warm connections come first, those of jobs, then one a server, then
 * those of services; of the rest of the 2^32 each server and direction has an
 * equal part. Servers of a job have no services, and leave it theirs. */
static int rack_traffic_add(struct rack_source *s, uint32_t rack,
    struct sim_err *e)
{
	const uint32_t n = s->r->n_servers;
	const uint32_t jobs = rack_traffic_jobs(s->r, s->p, rack);
	const uint32_t of_jobs = n * (uint32_t)s->p->ml_conns.b;
	const uint32_t of_one =
	    rack_part((uint32_t)s->p->conns_max, s->p->warm);
	const uint32_t services = 1 + of_jobs + n;
	const uint32_t first = services + 2 * n * of_one;
	const uint32_t part = (UINT32_MAX - first) / (2 * n);
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		s->server = i;
		s->next_conn[0] = first + 2 * i * part;
		s->next_conn[1] = s->next_conn[0] + part;
		s->first_warm[0] = services + 2 * i * of_one;
		s->first_warm[1] = s->first_warm[0] + of_one;
		rc = rack_few(s, 1 + of_jobs + i, e);
		if (rc == 0 && i >= jobs)
			rc = rack_server(s, e);
	}
	if (rc < 0 || jobs == 0)
		return rc;
	s->server = n;
	s->next_conn[0] = first;
	rack_source_seed(s, RACK_DRAWS_IN);
	return rack_job(s, jobs, 1, e);
}

int rack_traffic(struct rack_flows *out, const struct rack_params *r,
    const struct rack_traffic_params *p, uint32_t rack, sim_ns until,
    const struct sim_seed *where, struct sim_err *e)
{
	struct rack_source s = {.out = out,
	    .r = r,
	    .p = p,
	    .until = until,
	    .where = where,
	    .base = rack * (r->n_servers + 1)};
	if (p->classes == 0)
		return sim_fail(e, SIM_EINVAL,
		    "classes is empty: servers must have one of web, cache, "
		    "storage, batch.");
	if (rack >= UINT32_MAX / RACK_N_DRAWS / (r->n_servers + 1))
		return sim_fail(e, SIM_EINVAL,
		    "rack %u of %u servers is beyond the last that has a name.",
		    rack, r->n_servers);
	rack_flows_clear(out);
	const int rc = rack_traffic_add(&s, rack, e);
	return rc < 0 ? rc : rack_flows_sort(out, e);
}

/* --- how it clusters -------------------------------------------------------*/

double rack_dispersion(const uint64_t count[], size_t n, size_t k)
{
	const size_t m = k > 0 ? n / k : 0;
	double mean = 0, square = 0;
	for (size_t i = 0; i < m; i++) {
		double sum = 0;
		for (size_t j = 0; j < k; j++)
			sum += (double)count[i * k + j];
		const double off = sum - mean;
		mean += off / (double)(i + 1);
		square += off * (sum - mean);
	}
	return m > 1 && mean > 0 ? square / (double)(m - 1) / mean : NAN;
}

void rack_traffic_count(const struct rack_flows *f, sim_ns width_ns,
    uint64_t count[], size_t n)
{
	memset(count, 0, n * sizeof(count[0]));
	for (size_t i = 0; i < f->n; i++)
		if (f->start_ns[i] / width_ns < n)
			count[f->start_ns[i] / width_ns] += f->segments[i];
}
