/* algos/pingmesh/pinglist.c -- Pingmesh's pinglists: whom each server probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/pinglist.h"

#include <assert.h>
#include <string.h>

#include "sim/bytes.h"
#include "sim/text.h"

const char *const algo_pinglist_levels[] = {"tor", "dc", "inter_dc", "vip",
    NULL};
const char *const algo_pinglist_pings[] = {"tcp", "http", NULL};

#define FIELD(name) offsetof(struct algo_pinglist_params, name)
#define SIZE(name)  sizeof(((struct algo_pinglist_params *)0)->name)
/* An interval field: the hard limits are also the limits of what a spec may
 * say. */
#define INTERVAL(member, default_, doc_)                                       \
	{                                                                      \
		.name = #member, .type = SIM_F_U32, .offset = FIELD(member),   \
		.min = ALGO_PINGLIST_MIN_INTERVAL_S,                           \
		.max = ALGO_PINGLIST_MAX_INTERVAL_S, .unit = "s",              \
		.def = (default_), .doc = (doc_)                               \
	}

const struct sim_field algo_pinglist_fields[] =
    {{"levels", SIM_F_SET, FIELD(levels), .names = algo_pinglist_levels,
	 .def = "[tor, dc, inter_dc, vip]", .unit = "1",
	 .doc = "graphs that lists are made of"},
	{"max_peers", SIM_F_U32, FIELD(max_peers), .min = 1, .max = 16777216,
	    .def = "5000", .unit = "peers", .doc = "cap a server"},
	INTERVAL(min_interval_s, "10",
	    "least time between two probes of a pair"),
	INTERVAL(tor_interval_s, "10", "of an entry under the same ToR"),
	INTERVAL(dc_interval_s, "30", "of an entry under another ToR"),
	INTERVAL(inter_dc_interval_s, "60",
	    "of an entry in another data centre"),
	INTERVAL(vip_interval_s, "60", "of an entry for a service"),
	{"inter_dc_servers", SIM_F_U32, FIELD(inter_dc_servers), .max = 1024,
	    .def = "4", .unit = "servers",
	    .doc = "of each podset (a pod of the Clos) that probe other data "
		   "centres"},
	{"payload_probes", SIM_F_BOOL, FIELD(payload_probes), .def = "false",
	    .unit = "1", .doc = "a second entry, with a payload, for each"},
	{"payload_bytes", SIM_F_U32, FIELD(payload_bytes), .min = 1,
	    .max = ALGO_PINGLIST_MAX_PAYLOAD, .def = "1000", .unit = "bytes",
	    .doc = "size of a payload", .when = "payload_probes=true"},
	{"http_probes", SIM_F_BOOL, FIELD(http_probes), .def = "false",
	    .unit = "1", .doc = "another entry, an HTTP ping, for each"},
	{"ports", SIM_F_STR, FIELD(ports), .size = SIZE(ports), .def = "8765",
	    .unit = "1", .doc = "TCP ports, one a QoS class: 8765,8766"},
	{"vips", SIM_F_STR, FIELD(vips), .size = SIZE(vips), .def = "",
	    .unit = "1", .doc = "addresses of services: 198.18.0.1,198.18.0.2"},
	{"vip_port", SIM_F_U32, FIELD(vip_port), .min = 1, .max = 65535,
	    .def = "80", .unit = "1", .doc = "TCP port of the services",
	    .when = "vips!="},
	{0}};

/* --- rings ---------------------------------------------------------------
 * The offsets kept are d(j) = 1 + floor(j * half / n_pairs), j < n_pairs, then
 * n / 2, then n - d(j) with j falling: ascending, and symmetric, so a member
 * keeps another exactly when that one keeps it. */
static struct algo_pinglist_ring make_ring(uint32_t n, uint32_t quota)
{
	struct algo_pinglist_ring r = {.n = n};
	if (quota >= n - 1) {
		r.n_kept = n - 1;
		return r;
	}
	r.n_pairs = quota / 2;
	r.half = (n - 1) / 2;
	r.middle = quota % 2 == 1 && n % 2 == 0;
	r.n_kept = 2 * r.n_pairs + r.middle;
	return r;
}

/* Offset number K of those that are kept, ascending. The upper half mirrors the
 * lower one. */
static uint32_t offset_at(const struct algo_pinglist_ring *r, uint32_t k)
{
	if (k < r->n_pairs)
		return 1 + (uint32_t)((uint64_t)k * r->half / r->n_pairs);
	if (k == r->n_pairs && r->middle)
		return r->n / 2;
	return r->n - offset_at(r, r->n_kept - 1 - k);
}

/* How many d(j) are at most Z <= half: j * half / n_pairs < Z solved for j,
 * rounded up. */
static uint32_t pairs_to(const struct algo_pinglist_ring *r, uint32_t z)
{
	const uint64_t x = (uint64_t)z * r->n_pairs;
	return (uint32_t)((x + r->half - 1) / r->half);
}

/* How many offsets are at most Z < n. */
static uint32_t offsets_to(const struct algo_pinglist_ring *r, uint32_t z)
{
	if (z <= r->half)
		return pairs_to(r, z);
	const uint32_t lower = r->n_pairs + r->middle;
	if (r->n - z - 1 >= r->half)
		return lower;
	return lower + r->n_pairs - pairs_to(r, r->n - z - 1);
}

uint32_t algo_pinglist_ring_at(const struct algo_pinglist_ring *r,
    uint32_t member, uint32_t k)
{
	assert(k < r->n_kept);
	if (r->n_kept + 1 == r->n)
		return k + (k >= member);
	/* A member's peers by ascending address, the order of its list. Offsets
	 * from n - member on wrap around to the ring's beginning, so they come
	 * first. */
	const uint32_t ahead = offsets_to(r, r->n - 1 - member);
	const uint32_t behind = r->n_kept - ahead;
	if (k < behind)
		return offset_at(r, ahead + k) - (r->n - member);
	return member + offset_at(r, k - behind);
}

/* --- lists in parameters -------------------------------------------------- */
/* Cut the next word off the list at *TEXT; 0 at its end, -1 if it is longer
 * than any good one. */
static int next_word(const char **text, char word[16])
{
	const char *p = *text;
	if (!*p)
		return 0;
	const size_t n = strcspn(p, ",");
	if (n >= 16)
		return -1;
	memcpy(word, p, n);
	word[n] = '\0';
	/* A comma at the end would hide an empty word. */
	*text = p + n + (p[n] == ',' && p[n + 1]);
	if (*text == p + n && p[n])
		return -1;
	return 1;
}

/* A port stands for a QoS class: section 6.2 has agents listen on a second port
 * for traffic of low priority. */
static int read_ports(struct algo_pinglist *l, const char *list,
    struct sim_err *e)
{
	char word[16], quote[64];
	const char *p = list;
	uint64_t port;
	int more;
	while ((more = next_word(&p, word)) > 0) {
		if (sim_parse_u64(word, &port, NULL) < 0 || port < 1 ||
		    port > UINT16_MAX)
			break;
		if (l->n_classes == ALGO_PINGLIST_MAX_CLASSES)
			return sim_fail(e, SIM_ELIMIT,
			    "ports: more than %d classes.",
			    ALGO_PINGLIST_MAX_CLASSES);
		for (uint32_t i = 0; i < l->n_classes; i++)
			if (l->port[i] == port)
				return sim_fail(e, SIM_EINVAL,
				    "ports: %s is given twice.", word);
		l->port[l->n_classes++] = (uint16_t)port;
	}
	if (more != 0 || l->n_classes == 0)
		return sim_fail(e, SIM_EINVAL,
		    "ports: %s is not a list of numbers in [1, 65535]; write "
		    "8765,8766.",
		    sim_quote(quote, list));
	return 0;
}

/* Insert by value: the order in which VIPs are given does not matter. */
static int add_vip(struct algo_pinglist *l, uint32_t ip, const char *text,
    struct sim_err *e)
{
	uint32_t i = l->n_vips;
	if (!topo_addr_is_target(ip))
		return sim_fail(e, SIM_EINVAL,
		    "vips: %s is not a unicast address.", text);
	/* A server as a VIP would be a pair with two levels, whose entries
	 * together could break the limit of the pair. */
	if (topo_addr_to_host(ip, l->n_servers) != TOPO_NONE)
		return sim_fail(e, SIM_EINVAL,
		    "vips: %s is the address of a server.", text);
	if (i == ALGO_PINGLIST_MAX_VIPS)
		return sim_fail(e, SIM_ELIMIT, "vips: more than %d.",
		    ALGO_PINGLIST_MAX_VIPS);
	for (; i > 0 && l->vip[i - 1] >= ip; i--) {
		if (l->vip[i - 1] == ip)
			return sim_fail(e, SIM_EINVAL,
			    "vips: %s is given twice.", text);
		l->vip[i] = l->vip[i - 1];
	}
	l->vip[i] = ip;
	l->n_vips++;
	return 0;
}

static int read_vips(struct algo_pinglist *l, const char *list,
    struct sim_err *e)
{
	char word[16], quote[64];
	const char *p = list;
	uint32_t ip;
	int more, rc;
	while ((more = next_word(&p, word)) > 0) {
		if (topo_addr_parse(word, &ip, NULL) < 0)
			break;
		if ((rc = add_vip(l, ip, word, e)) < 0)
			return rc;
	}
	if (more != 0)
		return sim_fail(e, SIM_EINVAL,
		    "vips: %s is not a list of addresses; write "
		    "198.18.0.1,198.18.0.2.",
		    sim_quote(quote, list));
	return 0;
}

/* --- the plan ------------------------------------------------------------- */
static uint32_t clamp(uint32_t x, uint32_t lo, uint32_t hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

static uint32_t pingmesh_pinglist_min_of(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static int open_dcs(struct algo_pinglist *l, const struct topo_clos shape[],
    uint32_t n_dcs, struct sim_err *e)
{
	int rc;
	if (n_dcs < 1 || n_dcs > ALGO_PINGLIST_MAX_DCS)
		return sim_fail(e, SIM_ELIMIT,
		    "%u data centres, not in [1, %d].", n_dcs,
		    ALGO_PINGLIST_MAX_DCS);
	for (uint32_t i = 0; i < n_dcs; i++) {
		struct algo_pinglist_dc *d = &l->dc[i];
		struct topo_clos c = shape[i];
		if ((rc = topo_clos_init(&c, e)) < 0)
			return sim_wrap(e, rc, "data centre %u", i);
		d->at = topo_dc_after(i > 0 ? &d[-1].at : NULL, &c);
		if (d->at.clos.all_hosts > TOPO_ADDR_MAX_HOSTS - l->n_servers)
			return sim_fail(e, SIM_ELIMIT,
			    "data centre %u: more than %u servers in all.", i,
			    TOPO_ADDR_MAX_HOSTS);
		l->n_servers += d->at.clos.all_hosts;
	}
	l->n_dcs = n_dcs;
	return 0;
}

/* Entries of a peer in each class. */
static uint32_t a_class(const struct algo_pinglist *l)
{
	return 1 + (l->payload > 0) + l->http;
}

/* The hard limits hold here whatever the parameters say. With several entries a
 * peer each has its interval stretched, so that those of the pair together keep
 * the least one. */
static void set_entries(struct algo_pinglist *l,
    const struct algo_pinglist_params *p)
{
	const uint32_t wanted[] = {p->tor_interval_s, p->dc_interval_s,
	    p->inter_dc_interval_s, p->vip_interval_s};
	const uint32_t least = clamp(p->min_interval_s,
	    ALGO_PINGLIST_MIN_INTERVAL_S, ALGO_PINGLIST_MAX_INTERVAL_S);
	l->payload = p->payload_probes
	    ? clamp(p->payload_bytes, 1, ALGO_PINGLIST_MAX_PAYLOAD)
	    : 0;
	l->http = p->http_probes != 0;
	l->vip_port = (uint16_t)clamp(p->vip_port, 1, UINT16_MAX);
	for (int v = 0; v < ALGO_PINGLIST_N_LEVELS; v++) {
		/* A service would take a payload for a request, and may answer
		 * a GET by anything. */
		l->n_kinds[v] =
		    v == ALGO_PINGLIST_VIP ? 1 : l->n_classes * a_class(l);
		l->interval_s[v] = clamp(wanted[v], least * l->n_kinds[v],
		    ALGO_PINGLIST_MAX_INTERVAL_S * ALGO_PINGLIST_MAX_KINDS);
	}
}

/* The servers of a data centre that probe others: a small podset gives all that
 * it has. */
static uint32_t chosen_of(const struct topo_clos *c, uint32_t a_podset)
{
	return pingmesh_pinglist_min_of(a_podset, c->n_tors * c->n_hosts) *
	    c->n_pods;
}

/* Whether with A_PODSET servers a podset the inter_dc lists leave dc its half
 * of the room, or what a complete dc graph needs when that is less. This must
 * hold in all data centres at once, since every list grows with the others'
 * choices. */
static int inter_fits(const struct algo_pinglist *l, const uint32_t room[],
    uint32_t a_podset, int with_dc)
{
	uint64_t all = 0;
	for (uint32_t i = 0; i < l->n_dcs; i++)
		all += chosen_of(&l->dc[i].at.clos, a_podset);
	for (uint32_t i = 0; i < l->n_dcs; i++) {
		const struct topo_clos *c = &l->dc[i].at.clos;
		const uint32_t dc = with_dc
		    ? pingmesh_pinglist_min_of(c->all_tors - 1, room[i] / 2)
		    : 0;
		if (all - chosen_of(c, a_podset) > room[i] - dc)
			return 0;
	}
	return 1;
}

/* Shares out max_peers in the order of the header: tor, vip, then inter_dc and
 * dc. DEPARTS: the paper names a cap but not what is dropped; here it is
 * decided by the plan alone, never by a server, or else one end of a pair could
 * drop what the other keeps. */
static void set_peers(struct algo_pinglist *l,
    const struct algo_pinglist_params *p)
{
	const uint32_t on = p->levels;
	uint32_t room[ALGO_PINGLIST_MAX_DCS], a_podset = 0, all = 0;
	for (uint32_t i = 0; i < l->n_dcs; i++) {
		struct algo_pinglist_dc *d = &l->dc[i];
		d->tor = make_ring(d->at.clos.n_hosts,
		    on & 1u << ALGO_PINGLIST_TOR ? p->max_peers : 0);
		room[i] = p->max_peers - d->tor.n_kept;
		if (on & 1u << ALGO_PINGLIST_VIP)
			d->n_vips =
			    pingmesh_pinglist_min_of(l->n_vips, room[i]);
		room[i] -= d->n_vips;
	}
	const int with_dc = (on & 1u << ALGO_PINGLIST_DC) != 0;
	if (on & 1u << ALGO_PINGLIST_INTER_DC && l->n_dcs > 1)
		a_podset = pingmesh_pinglist_min_of(p->inter_dc_servers, 1024);
	/* A few numbers to try at most: fewer servers a podset only ever fit
	 * better. */
	while (a_podset > 0 && !inter_fits(l, room, a_podset, with_dc))
		a_podset--;
	for (uint32_t i = 0; i < l->n_dcs; i++) {
		struct algo_pinglist_dc *d = &l->dc[i];
		d->n_chosen = chosen_of(&d->at.clos, a_podset);
		d->a_podset = d->n_chosen / d->at.clos.n_pods;
		all += d->n_chosen;
	}
	for (uint32_t i = 0; i < l->n_dcs; i++) {
		struct algo_pinglist_dc *d = &l->dc[i];
		const uint32_t n = d->at.clos.all_tors;
		d->n_inter = d->n_chosen ? all - d->n_chosen : 0;
		/* A column, the servers of one index under all ToRs, is a ring
		 * whose members must all leave the same room: dc[1] is that of
		 * columns with inter_dc servers. */
		d->dc[0] = make_ring(n, with_dc ? room[i] : 0);
		d->dc[1] = make_ring(n, with_dc ? room[i] - d->n_inter : 0);
	}
}

/* FNV-1a over the numbers' bytes, least significant first on any machine. */
static void pingmesh_pinglist_mix(uint64_t *hash, const uint32_t x[], size_t n)
{
	unsigned char bytes[sizeof(x[0])];
	for (size_t i = 0; i < n; i++) {
		sim_store_32(bytes, x[i]);
		*hash = sim_fnv(*hash, bytes, sizeof(bytes));
	}
}

/* What decides the lists: numbers as they are used, not as they were given, so
 * that replicas of the controller that mean the same lists give the same
 * version, and an agent sees a new version only when something may have
 * changed. */
static uint64_t version_of(const struct algo_pinglist *l,
    const struct algo_pinglist_params *p)
{
	enum { FORMAT = 1 };
	uint64_t h = SIM_FNV_START;
	uint32_t port[ALGO_PINGLIST_MAX_CLASSES];
	const uint32_t head[] = {FORMAT, p->levels, p->max_peers,
	    p->inter_dc_servers, l->payload, l->vip_port, l->n_dcs,
	    l->n_classes, l->n_vips};
	pingmesh_pinglist_mix(&h, head, sizeof(head) / sizeof(head[0]));
	pingmesh_pinglist_mix(&h, l->interval_s, ALGO_PINGLIST_N_LEVELS);
	for (uint32_t i = 0; i < l->n_classes; i++)
		port[i] = l->port[i];
	pingmesh_pinglist_mix(&h, port, l->n_classes);
	pingmesh_pinglist_mix(&h, l->vip, l->n_vips);
	/* Lists without HTTP pings keep the version that they had before there
	 * were any. */
	pingmesh_pinglist_mix(&h, &l->http, l->http);
	for (uint32_t i = 0; i < l->n_dcs; i++) {
		const struct topo_clos *c = &l->dc[i].at.clos;
		const uint32_t shape[] = {c->n_pods, c->n_tors, c->n_t1,
		    c->n_t2, c->n_hosts};
		pingmesh_pinglist_mix(&h, shape,
		    sizeof(shape) / sizeof(shape[0]));
	}
	return h;
}

int algo_pinglist_open(struct algo_pinglist *l,
    const struct algo_pinglist_params *p, const struct topo_clos shape[],
    uint32_t n_dcs, struct sim_err *e)
{
	int rc;
	*l = (struct algo_pinglist){.n_dcs = 0};
	if ((rc = open_dcs(l, shape, n_dcs, e)) < 0 ||
	    (rc = read_ports(l, p->ports, e)) < 0 ||
	    (rc = read_vips(l, p->vips, e)) < 0)
		return rc;
	set_entries(l, p);
	set_peers(l, p);
	l->version = version_of(l, p);
	return 0;
}

/* All hosts of a network are alike in what makes a target, as they differ in their
 * last 24 bits alone. */
int algo_pinglist_check_net(const struct topo_ip_net *net, struct sim_err *e)
{
	const struct topo_ip first = topo_ip_of_host(net, 0);
	char text[TOPO_IP_TEXT];
	topo_ip_format(&net->first, text);
	if (topo_ip_is_4(&net->first) || net->bits == 0 ||
	    net->bits > TOPO_IP_NET_BITS)
		return sim_fail(e, SIM_EINVAL,
		    "servers have no addresses of IPv6 in %s: in fd00::/64 "
		    "they have, or in any other with a prefix of 1 to %d bits.",
		    text, TOPO_IP_NET_BITS);
	return topo_ip_is_target(&first)
	    ? 0
	    : sim_fail(e, SIM_EINVAL,
		  "servers cannot be probed in %s/%u, which is not of "
		  "unicast addresses that others reach.",
		  text, net->bits);
}

/* Plans without IPv6 keep their version. */
int algo_pinglist_add_net(struct algo_pinglist *l,
    const struct topo_ip_net *net, struct sim_err *e)
{
	const int rc = algo_pinglist_check_net(net, e);
	if (rc < 0)
		return rc;
	l->net6 = *net;
	l->version =
	    sim_fnv(l->version, net->first.byte, sizeof(net->first.byte));
	l->version = sim_fnv(l->version, &net->bits, 1);
	return 0;
}

/* --- one server ----------------------------------------------------------- */
/* Server j of a podset's inter_dc ones is number j / n_tors under its ToR j %
 * n_tors: they spread over the ToRs first, so that one ToR's failure takes few
 * of them. Conversely the server in question has j = index * n_tors + its ToR's
 * place in the pod. */
int algo_pinglist_server(struct algo_pinglist_server *s,
    const struct algo_pinglist *l, uint32_t id, struct sim_err *e)
{
	if (id >= l->n_servers)
		return sim_fail(e, SIM_ERANGE, "server %u is not in [0, %u].",
		    id, l->n_servers - 1);
	const struct algo_pinglist_dc *d = &l->dc[l->n_dcs - 1];
	while (d->at.first_host > id)
		d--;
	const struct topo_clos *c = &d->at.clos;
	*s = (struct algo_pinglist_server){
	    .plan = l,
	    .dc = d,
	    .id = id,
	    .tor = (id - d->at.first_host) / c->n_hosts,
	    .index = (id - d->at.first_host) % c->n_hosts,
	};
	const uint32_t rank = s->index * c->n_tors; /* of this index's first */
	const int chosen = rank + s->tor % c->n_tors < d->a_podset;
	/* Any inter_dc server of this index makes the whole column leave room,
	 * as all members of a ring have the same number of peers. */
	s->column = &d->dc[rank < d->a_podset];
	s->end[ALGO_PINGLIST_TOR] = d->tor.n_kept;
	s->end[ALGO_PINGLIST_DC] = d->tor.n_kept + s->column->n_kept;
	s->end[ALGO_PINGLIST_INTER_DC] =
	    s->end[ALGO_PINGLIST_DC] + (chosen ? d->n_inter : 0);
	s->n_peers = s->end[ALGO_PINGLIST_INTER_DC] + d->n_vips;
	s->end[ALGO_PINGLIST_VIP] = s->n_peers;
	return 0;
}

void algo_pinglist_leave_vips(struct algo_pinglist_server *s)
{
	s->n_peers = s->end[ALGO_PINGLIST_VIP] = s->end[ALGO_PINGLIST_INTER_DC];
}

topo_host algo_pinglist_find(const struct algo_pinglist *l,
    const struct topo_ip *a)
{
	if (topo_ip_is_4(a))
		return topo_addr_to_host(topo_ip_to_4(a), l->n_servers);
	return l->net6.bits > 0 ? topo_ip_to_host(&l->net6, a, l->n_servers)
				: TOPO_NONE;
}

uint32_t algo_pinglist_n_entries(const struct algo_pinglist_server *s)
{
	return s->end[ALGO_PINGLIST_INTER_DC] *
	    s->plan->n_kinds[ALGO_PINGLIST_TOR] +
	    s->n_peers - s->end[ALGO_PINGLIST_INTER_DC];
}

/* Peer K among the inter_dc servers of all other data centres, in their order,
 * without a list: the count of each is known. */
uint32_t algo_pinglist_inter_at(const struct algo_pinglist_server *s,
    uint32_t k)
{
	const struct algo_pinglist_dc *d = s->plan->dc;
	for (;; d++) {
		if (d == s->dc)
			continue;
		if (k < d->n_chosen)
			break;
		k -= d->n_chosen;
	}
	const struct topo_clos *c = &d->at.clos;
	const uint32_t pod = k / d->a_podset, j = k % d->a_podset;
	return topo_addr_of_host(d->at.first_host +
	    topo_clos_tor(c, pod, j % c->n_tors) * c->n_hosts + j / c->n_tors);
}

struct algo_pinglist_entry algo_pinglist_entry(const struct algo_pinglist *l,
    struct algo_pinglist_peer peer, uint32_t kind)
{
	assert(kind < l->n_kinds[peer.level]);
	const int vip = peer.level == ALGO_PINGLIST_VIP;
	/* Kinds are class by class; a VIP has one in all. */
	const uint32_t n = vip ? 1 : a_class(l), class = kind / n;
	const uint32_t is_payload = l->payload > 0 && kind % n == 1;
	const uint32_t is_http = l->http && n > 1 && kind % n == n - 1;
	return (struct algo_pinglist_entry){
	    .address = peer.address,
	    .interval_s = l->interval_s[peer.level],
	    .payload = is_payload ? l->payload : 0,
	    .port = vip ? l->vip_port : l->port[class],
	    .level = peer.level & 15,
	    .ping = is_http ? AGENT_PING_HTTP : AGENT_PING_TCP,
	    .class = (uint8_t) class,
	};
}
