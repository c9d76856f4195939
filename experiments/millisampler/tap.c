/* experiments/millisampler/tap.c -- a capture, as what its hosts sent and got.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/tap.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/obs_buckets.h"
#include "models/obs_packet.h"
#include "sim/inet.h"
#include "sim/text.h"
#include "sim/vec.h"

enum { TAP_USUAL_TOS = 0x80, TAP_NOBODY = XP_TAP_MAX_HOSTS };

#define X(name, text) text,
const char *const xp_tap_retx_names[] = {XP_TAP_RETX(X) NULL};
#undef X

/* --- hosts and their addresses ---------------------------------------------*/

static int tap_mac(const char *text, struct xp_tap_address *a)
{
	unsigned b[6];
	int n = 0;
	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2],
		&b[3], &b[4], &b[5], &n) != 6 ||
	    text[n] != '\0')
		return 0;
	for (int i = 0; i < 6; i++)
		a->a[1] = a->a[1] << 8 | b[i];
	return 1;
}

static int tap_parse(const char *text, struct xp_tap_address *a)
{
	uint8_t bytes[16];
	if (inet_pton(AF_INET, text, bytes) == 1) {
		a->version = 4;
		a->a[1] = sim_inet_get32(bytes);
		return 1;
	}
	if (inet_pton(AF_INET6, text, bytes) == 1) {
		a->version = 6;
		a->a[0] = sim_inet_get64(bytes);
		a->a[1] = sim_inet_get64(bytes + 8);
		return 1;
	}
	return tap_mac(text, a);
}

static const struct xp_tap_address *tap_find(const struct xp_tap_params *p,
    uint8_t version, const uint64_t a[2])
{
	for (uint32_t i = 0; i < p->n_addresses; i++) {
		const struct xp_tap_address *x = &p->address[i];
		if (x->version == version && x->a[1] == a[1] && x->a[0] == a[0])
			return x;
	}
	return NULL;
}

static int tap_add(struct xp_tap_params *p, const char *text, struct sim_err *e)
{
	struct xp_tap_address a = {.host = p->n_hosts};
	char quoted[64];
	if (!tap_parse(text, &a))
		return sim_fail(e, SIM_EINVAL,
		    "%s is no address: write 10.0.0.1, fd00::1 or "
		    "02:00:00:00:00:01.",
		    sim_quote(quoted, text));
	if (tap_find(p, a.version, a.a))
		return sim_fail(e, SIM_EINVAL, "%s is given twice.", text);
	if (p->n_addresses == XP_TAP_MAX_ADDRESSES)
		return sim_fail(e, SIM_ELIMIT,
		    "hosts have more than %d addresses.", XP_TAP_MAX_ADDRESSES);
	p->address[p->n_addresses++] = a;
	return 0;
}

int xp_tap_host(struct xp_tap_params *p, const char *text, struct sim_err *e)
{
	const uint32_t before = p->n_addresses;
	const char *list = strchr(text, '=');
	struct sim_name name = {""};
	char *copy, *save = NULL;
	if (p->n_hosts == XP_TAP_MAX_HOSTS)
		return sim_fail(e, SIM_ELIMIT, "there are more than %d hosts.",
		    XP_TAP_MAX_HOSTS);
	if (list)
		snprintf(name.text, sizeof(name.text), "%.*s",
		    (int)(list - text), text);
	int rc = sim_dup(&copy, list ? list + 1 : text, e);
	if (rc < 0)
		return rc;
	for (char *a = strtok_r(copy, ",", &save); rc == 0 && a;
	     a = strtok_r(NULL, ",", &save)) {
		if (name.text[0] == '\0')
			snprintf(name.text, sizeof(name.text), "%s", a);
		rc = tap_add(p, a, e);
	}
	if (rc == 0 && p->n_addresses == before)
		rc = sim_fail(e, SIM_EINVAL, "a host needs an address.");
	if (rc == 0)
		p->host[p->n_hosts++] = name;
	else
		p->n_addresses = before;
	free(copy);
	return rc;
}

/* --- whose a packet is ------------------------------------------------------*/

struct tap_ends {
	uint32_t from, to; /* TAP_NOBODY: of nobody */
};

/* The six bytes of it. */
static uint64_t tap_mac_at(const uint8_t *mac)
{
	return (uint64_t)sim_inet_get32(mac) << 16 | sim_inet_get16(mac + 4);
}

static void tap_ends_by_mac(const struct xp_tap_params *p,
    const struct xp_frame *f, struct tap_ends *ends)
{
	const uint64_t to[2] = {0, tap_mac_at(f->mac)},
		       from[2] = {0, tap_mac_at(f->mac + 6)};
	const struct xp_tap_address *src = tap_find(p, 0, from),
				    *dst = tap_find(p, 0, to);
	if (src)
		ends->from = src->host;
	if (dst)
		ends->to = dst->host;
	/* To all is to the host, if there is only one that it may be. */
	else if ((f->mac[0] & 1) && p->n_hosts == 1 && ends->from != 0)
		ends->to = 0;
}

static struct tap_ends tap_ends_of(const struct xp_tap_params *p, int by_mac,
    const struct xp_frame *f)
{
	struct tap_ends ends = {TAP_NOBODY, TAP_NOBODY};
	if (f->key.version != 0) {
		const uint8_t v = (uint8_t)f->key.version;
		const struct xp_tap_address *src = tap_find(p, v, f->key.src),
					    *dst = tap_find(p, v, f->key.dst);
		ends.from = src ? src->host : TAP_NOBODY;
		ends.to = dst ? dst->host : TAP_NOBODY;
	}
	if (by_mac && f->mac)
		tap_ends_by_mac(p, f, &ends);
	return ends;
}

/* --- reading ----------------------------------------------------------------*/

struct xp_tap {
	const struct xp_tap_params *p;
	struct xp_capture *capture;
	struct algo_resent *resent;
	int by_mac;
	uint8_t mark_ttl, mark_tos;
	struct xp_tap_said said;
};

static int tap_next(struct xp_tap *t, struct xp_capture *c, struct xp_frame *f,
    struct sim_err *e)
{
	struct xp_captured x;
	const int rc = xp_capture_next(c, &x, e);
	if (rc > 0)
		*f = xp_frame_read(&x);
	if (rc != SIM_EPARSE || !t->p->may_be_cut)
		return rc;
	t->said.was_cut = 1;
	return 0;
}

/* All packets of some systems have that bit, as their TTL begins at 128. */
static int tap_choose(struct xp_tap *t, const char *path, struct sim_err *e)
{
	struct xp_capture *c;
	struct xp_frame f;
	uint64_t n = 0, n_marked = 0;
	int rc = xp_capture_open(&c, path, e);
	while (rc == 0 && (rc = tap_next(t, c, &f, e)) > 0) {
		const struct tap_ends ends = tap_ends_of(t->p, t->by_mac, &f);
		rc = 0;
		if (!f.has_tcp ||
		    (ends.from == TAP_NOBODY && ends.to == TAP_NOBODY))
			continue;
		n++;
		n_marked += (f.ttl & OBS_TTL_RETX) != 0;
	}
	xp_capture_close(c);
	t->said.retx =
	    n_marked > 0 && 2 * n_marked < n ? XP_TAP_TTL : XP_TAP_SEQ;
	return rc;
}

int xp_tap_open(struct xp_tap **out, const char *path,
    const struct xp_tap_params *p, struct sim_err *e)
{
	struct xp_tap *t;
	*out = NULL;
	int rc = SIM_ZALLOC(&t, 1, e);
	if (rc < 0)
		return rc;
	t->p = p;
	t->said.retx = p->retx;
	for (uint32_t i = 0; i < p->n_addresses; i++)
		t->by_mac |= p->address[i].version == 0;
	if (p->n_hosts == 0)
		rc = sim_fail(e, SIM_EINVAL,
		    "%s is a capture: --host ADDRESS says whose packets are "
		    "counted.",
		    path);
	/* What comes by a pipe can be read once. */
	else if (p->retx == XP_TAP_AUTO && strcmp(path, "-") == 0)
		t->said.retx = XP_TAP_SEQ;
	else if (p->retx == XP_TAP_AUTO)
		rc = tap_choose(t, path, e);
	if (rc == 0)
		rc = xp_capture_open(&t->capture, path, e);
	if (rc == 0 && t->said.retx == XP_TAP_SEQ)
		rc = algo_resent_open(&t->resent, XP_TAP_FLOWS, e);
	if (t->said.retx == XP_TAP_TTL)
		t->mark_ttl = OBS_TTL_RETX;
	if (t->said.retx == XP_TAP_DSCP)
		t->mark_tos = p->mark_tos ? p->mark_tos : TAP_USUAL_TOS;
	if (rc < 0)
		xp_tap_close(t);
	else
		*out = t;
	return rc;
}

void xp_tap_close(struct xp_tap *t)
{
	if (!t)
		return;
	xp_capture_close(t->capture);
	algo_resent_close(t->resent);
	free(t);
}

const struct xp_tap_said *xp_tap_said(const struct xp_tap *t)
{
	return &t->said;
}

static int tap_is_resent(struct xp_tap *t, const struct xp_frame *f)
{
	if (!t->resent)
		return f->proto == TOPO_PROTO_TCP &&
		    ((f->ttl & t->mark_ttl) | (f->tos & t->mark_tos)) != 0;
	return f->has_tcp &&
	    algo_resent_packet(t->resent, &f->key, f->seq, f->n_payload,
		f->tcp_flags & OBS_TCP_SYN, f->tcp_flags & OBS_TCP_FIN);
}

static void tap_count(struct xp_tap *t, const struct xp_frame *f,
    const struct tap_ends *ends)
{
	struct xp_tap_said *s = &t->said;
	const int strange = ends->from == TAP_NOBODY && ends->to == TAP_NOBODY;
	if (s->n_packets++ == 0 || f->t < s->first_ns)
		s->first_ns = f->t;
	if (f->t > s->last_ns)
		s->last_ns = f->t;
	if (s->last_ns - f->t > s->back_ns)
		s->back_ns = s->last_ns - f->t;
	s->n_strange += strange;
	s->n_of_hosts += !strange;
	s->n_cut += !strange && f->is_cut;
}

int xp_tap_each(struct xp_tap *t, xp_tap_hear *hear, void *arg,
    struct sim_err *e)
{
	struct xp_frame f;
	int rc;
	while ((rc = tap_next(t, t->capture, &f, e)) > 0) {
		const struct tap_ends ends = tap_ends_of(t->p, t->by_mac, &f);
		const uint32_t host[2] = {ends.to, ends.from};
		tap_count(t, &f, &ends);
		if (ends.from == ends.to) {
			t->said.n_within += ends.from != TAP_NOBODY;
			continue;
		}
		const uint8_t again = (uint8_t)tap_is_resent(t, &f);
		for (int out = 0; out < 2; out++) {
			struct obs_seen seen =
			    xp_frame_seen(&f, out, &t->p->region);
			seen.retx = again;
			if (host[out] != TAP_NOBODY &&
			    (rc = hear(arg, host[out], f.t, &seen, e)) < 0)
				return rc;
		}
	}
	if (t->resent)
		t->said.n_forgotten = algo_resent_n_forgotten(t->resent);
	return rc;
}
