/* algos/pingmesh/pinglist_read.c -- pinglists as XML: reading what may be bad.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A cursor that never moves back over bytes that need not end in a NUL. The
 * first fault sets the reason and the message; all that follows fails.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "algos/pingmesh/pinglist_xml.h"

#define X(name, effect, text) text,
const char *const algo_pinglist_reasons[] = {ALGO_PINGLIST_REASONS(X) NULL};
#undef X

/* A part of the document: not a copy, and without a NUL. */
struct span {
	const char *at;
	size_t n;
};

struct reader {
	const char *start, *at, *end;
	struct algo_pinglist_doc *doc;
	struct sim_err *e;
	uint32_t self, said, seen; /* entries: said by `count`, read */
	uint32_t *next, *slot, n_slots;
};

enum { NONE = UINT32_MAX };

static int is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Refuse the document for REASON at AT. Line and column are counted only now,
 * so that reading a good list does not keep them. */
static int refuse_at(struct reader *r, enum algo_pinglist_reason reason,
    const char *at, const char *what)
{
	unsigned line = 1, column = 1;
	for (const char *p = r->start; p < at; p++) {
		column = *p == '\n' ? 1 : column + 1;
		line += *p == '\n';
	}
	r->doc->n[reason]++;
	return sim_fail(r->e, SIM_EPARSE, "line %u, column %u: %s (%s).", line,
	    column, algo_pinglist_reasons[reason], what);
}

static int pinglist_read_refuse(struct reader *r,
    enum algo_pinglist_reason reason, const char *what)
{
	return refuse_at(r, reason, r->at, what);
}

/* --- bytes and words ------------------------------------------------------ */
static void skip_space(struct reader *r)
{
	while (r->at < r->end && is_space(*r->at))
		r->at++;
}

static int looking_at(const struct reader *r, const char *text)
{
	const size_t n = strlen(text);
	return (size_t)(r->end - r->at) >= n && memcmp(r->at, text, n) == 0;
}

/* Why TEXT is not what comes next. A document that ends within TEXT was cut off
 * on its way; XML that no pinglist has is told from mere mistakes, because it
 * hints at a forged list rather than a faulty one. */
static int not_there(struct reader *r, const char *text)
{
	const size_t left = (size_t)(r->end - r->at);
	if (left == 0 ||
	    (left < strlen(text) && memcmp(r->at, text, left) == 0))
		return pinglist_read_refuse(r, ALGO_PINGLIST_TRUNCATED, text);
	if (looking_at(r, "<!") || looking_at(r, "<?") || *r->at == '&')
		return pinglist_read_refuse(r, ALGO_PINGLIST_FORBIDDEN, text);
	if (*r->at == '<' && *text == '<')
		return pinglist_read_refuse(r, ALGO_PINGLIST_UNKNOWN, text);
	return pinglist_read_refuse(r, ALGO_PINGLIST_MALFORMED, text);
}

/* Step over TEXT, which must come next. */
static int pinglist_read_take(struct reader *r, const char *text)
{
	if (!looking_at(r, text))
		return not_there(r, text);
	r->at += strlen(text);
	return 0;
}

/* The longest run of letters that names have; empty where none stands. */
static struct span take_name(struct reader *r)
{
	struct span s = {r->at, 0};
	while (r->at < r->end &&
	    (*r->at == '_' || (*r->at >= 'a' && *r->at <= 'z')))
		r->at++;
	s.n = (size_t)(r->at - s.at);
	return s;
}

static int pinglist_read_is_word(struct span s, const char *word)
{
	return s.n == strlen(word) && memcmp(s.at, word, s.n) == 0;
}

/* --- attributes ----------------------------------------------------------- */
enum { MAX_ATTRIBUTES = 7, LONGEST = 39, HEAD_NEEDS = 3, PEER_NEEDS = 6 };
static const char *const head_names[] = {"server", "version", "count", NULL};
/* Those behind the first PEER_NEEDS may be missing. */
static const char *const peer_names[] = {"address", "port", "level", "class",
    "interval_s", "payload", "ping", NULL};

/* An attribute's ="value". No good value is longer than LONGEST, so a bad one
 * is refused before it is read to its end. */
static int take_value(struct reader *r, struct span *value)
{
	int rc;
	skip_space(r);
	if ((rc = pinglist_read_take(r, "=")) < 0)
		return rc;
	skip_space(r);
	if ((rc = pinglist_read_take(r, "\"")) < 0)
		return rc;
	value->at = r->at;
	for (; r->at < r->end && *r->at != '"'; r->at++) {
		if (*r->at == '&')
			return pinglist_read_refuse(r, ALGO_PINGLIST_FORBIDDEN,
			    "a reference");
		if (*r->at == '<')
			return pinglist_read_refuse(r, ALGO_PINGLIST_MALFORMED,
			    "<");
		if (r->at - value->at == LONGEST)
			return pinglist_read_refuse(r, ALGO_PINGLIST_VALUE,
			    "too long");
	}
	value->n = (size_t)(r->at - value->at);
	return pinglist_read_take(r, "\"");
}

/* Attributes of NAMES, in any order, up to what ends the tag: the first NEEDS of
 * them, and maybe others, whose VALUE is left alone if they are missing. */
static int take_attributes(struct reader *r, const char *const names[],
    unsigned needs, struct span value[MAX_ATTRIBUTES])
{
	unsigned seen = 0, n = 0;
	int rc;
	while (names[n])
		n++;
	for (;;) {
		/* Where the name before ended: attributes need white space
		 * between them. */
		const char *from = r->at;
		skip_space(r);
		const struct span name = take_name(r);
		if (name.n == 0)
			break;
		unsigned i = 0;
		while (names[i] && !pinglist_read_is_word(name, names[i]))
			i++;
		/* Asked for first, because a name that the end cut short looks
		 * like an unknown one. */
		if (r->at == r->end)
			return pinglist_read_refuse(r, ALGO_PINGLIST_TRUNCATED,
			    "attribute");
		if (name.at == from)
			return refuse_at(r, ALGO_PINGLIST_MALFORMED, from,
			    "no space");
		if (i == n)
			return refuse_at(r, ALGO_PINGLIST_UNKNOWN, name.at,
			    "attribute");
		if (seen & 1u << i)
			return refuse_at(r, ALGO_PINGLIST_MALFORMED, name.at,
			    "attribute given twice");
		/* A bit an attribute, since they may come in any order. */
		seen |= 1u << i;
		if ((rc = take_value(r, &value[i])) < 0)
			return rc;
	}
	/* Only where the tag ends is an attribute missing; anything else is
	 * refused by whoever reads on. */
	for (unsigned i = 0; i < needs && r->at < r->end; i++)
		if (!(seen & 1u << i) && (*r->at == '/' || *r->at == '>'))
			return pinglist_read_refuse(r, ALGO_PINGLIST_MISSING,
			    names[i]);
	return 0;
}

/* --- values ---------------------------------------------------------------
 * Each returns 0, or refuses; `what` is the attribute. */
static int read_u32(struct reader *r, struct span s, uint32_t max,
    const char *what, uint32_t *out)
{
	uint64_t x = 0;
	/* Ten digits fit in 64 bits, so the sum cannot overflow before it is
	 * compared. Leading zeros are refused: a value has one form. */
	int good = s.n > 0 && s.n <= 10 && (s.at[0] != '0' || s.n == 1);
	for (size_t i = 0; i < s.n && good; i++) {
		good = s.at[i] >= '0' && s.at[i] <= '9';
		x = x * 10 + (uint64_t)(s.at[i] - '0');
	}
	if (!good || x > max)
		return refuse_at(r, ALGO_PINGLIST_VALUE, s.at, what);
	*out = (uint32_t)x;
	return 0;
}

/* What TEXT is if it is no IPv4: of IPv6, the number that the book has for it. A
 * list is of its server's family, as no socket leads from one to the other. */
static int read_address_6(struct reader *r, struct span s, const char *text,
    const char *what, uint32_t *out)
{
	struct topo_ip ip;
	if (strlen(text) != s.n || topo_ip_parse(text, &ip, NULL) < 0 ||
	    topo_ip_is_4(&ip) || !topo_ip_is_target(&ip))
		return refuse_at(r, ALGO_PINGLIST_VALUE, s.at, what);
	if (!topo_ip_is_number(r->self))
		return refuse_at(r, ALGO_PINGLIST_FAMILY, s.at, "IPv6");
	*out = topo_ip_book_note(r->doc->book, &ip);
	return *out ? 0 : refuse_at(r, ALGO_PINGLIST_LARGE, s.at, "addresses");
}

/* A NUL within the value would end the text for the parser, and what follows it
 * would not be looked at. */
static int read_address(struct reader *r, struct span s, const char *what,
    uint32_t *out)
{
	char text[LONGEST + 1];
	memcpy(text, s.at, s.n);
	text[s.n] = '\0';
	if (strlen(text) != s.n || topo_addr_parse(text, out, NULL) < 0 ||
	    !topo_addr_is_target(*out))
		return read_address_6(r, s, text, what, out);
	return topo_ip_is_number(r->self)
	    ? refuse_at(r, ALGO_PINGLIST_FAMILY, s.at, "IPv4")
	    : 0;
}

static int read_version(struct reader *r, struct span s, uint64_t *out)
{
	uint64_t x = 0;
	int good = s.n == 16;
	for (size_t i = 0; i < s.n && good; i++) {
		const char c = s.at[i];
		const int decimal = c >= '0' && c <= '9';
		good = decimal || (c >= 'a' && c <= 'f');
		x = x << 4 | (uint64_t)(decimal ? c - '0' : c - 'a' + 10);
	}
	if (!good)
		return refuse_at(r, ALGO_PINGLIST_VALUE, s.at, "version");
	*out = x;
	return 0;
}

static int read_level(struct reader *r, struct span s, uint8_t *out)
{
	for (uint8_t i = 0; i < ALGO_PINGLIST_N_LEVELS; i++) {
		if (pinglist_read_is_word(s, algo_pinglist_levels[i])) {
			*out = i;
			return 0;
		}
	}
	return refuse_at(r, ALGO_PINGLIST_VALUE, s.at, "level");
}

/* A missing one is a TCP ping. An HTTP ping has no payload: what a server would
 * make of one is not ours to say. */
static int read_ping(struct reader *r, struct span s,
    struct algo_pinglist_entry *x)
{
	x->ping = AGENT_PING_TCP;
	if (!s.at || pinglist_read_is_word(s, algo_pinglist_pings[x->ping]))
		return 0;
	x->ping = AGENT_PING_HTTP;
	if (!pinglist_read_is_word(s, algo_pinglist_pings[x->ping]))
		return refuse_at(r, ALGO_PINGLIST_VALUE, s.at, "ping");
	return x->payload == 0 ? 0
			       : refuse_at(r, ALGO_PINGLIST_VALUE, s.at,
				     "payload of an HTTP ping");
}

/* --- entries --------------------------------------------------------------
 * Entries of one address are chained from the slot its hash leads to. */
static uint32_t *find_slot(const struct reader *r, uint32_t address)
{
	/* Multiplication by 2^32 over the golden ratio spreads neighbouring
	 * addresses; half of the slots are free at least, so the probing
	 * ends. */
	uint32_t i = address * UINT32_C(0x9e3779b1);
	i ^= i >> 15;
	for (;; i++) {
		uint32_t *slot = &r->slot[i & (r->n_slots - 1)];
		if (*slot == NONE || r->doc->entry[*slot].address == address)
			return slot;
	}
}

/* Two entries are the same probe when port, class, ping and having a payload
 * agree; another interval does not make a second one. */
static int is_same(const struct algo_pinglist_entry *a,
    const struct algo_pinglist_entry *b)
{
	return a->port == b->port && a->class == b->class &&
	    a->ping == b->ping && !a->payload == !b->payload;
}

/* Keep the entry unless it is one of those that are dropped. A wrong list is
 * worth little, but one odd entry is no reason to stop probing: those that
 * would hurt are dropped or clamped, and counted. */
static int add_entry(struct reader *r, struct algo_pinglist_entry *entry)
{
	struct algo_pinglist_doc *d = r->doc;
	if (entry->address == r->self) {
		d->n[ALGO_PINGLIST_SELF]++;
		return 0;
	}
	uint32_t *slot = find_slot(r, entry->address), n_same = 0;
	for (uint32_t i = *slot; i != NONE; i = r->next[i]) {
		if (++n_same == ALGO_PINGLIST_MAX_KINDS ||
		    is_same(&d->entry[i], entry)) {
			d->n[ALGO_PINGLIST_REPEATED]++;
			return 0;
		}
	}
	if (entry->payload > ALGO_PINGLIST_MAX_PAYLOAD) {
		entry->payload = ALGO_PINGLIST_MAX_PAYLOAD;
		d->n[ALGO_PINGLIST_PAYLOAD]++;
	}
	if (d->n_entries == d->max_entries)
		return pinglist_read_refuse(r, ALGO_PINGLIST_LARGE, "entries");
	r->next[d->n_entries] = *slot;
	*slot = d->n_entries;
	d->entry[d->n_entries++] = *entry;
	return 0;
}

/* The hard limit of 10 s between two probes of a pair stands in the agent, so
 * that no controller can lift it. How many entries share a pair is known only
 * at the end of the document. */
static void raise_intervals(struct reader *r)
{
	struct algo_pinglist_doc *d = r->doc;
	for (uint32_t k = 0; k < r->n_slots; k++) {
		uint32_t least = 0;
		for (uint32_t i = r->slot[k]; i != NONE; i = r->next[i])
			least += ALGO_PINGLIST_MIN_INTERVAL_S;
		for (uint32_t i = r->slot[k]; i != NONE; i = r->next[i]) {
			if (d->entry[i].interval_s >= least)
				continue;
			d->entry[i].interval_s = least;
			d->n[ALGO_PINGLIST_INTERVAL]++;
		}
	}
}

/* --- the document --------------------------------------------------------- */
static int read_head(struct reader *r)
{
	static const char declaration[] =
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
	struct span v[MAX_ATTRIBUTES];
	uint32_t server;
	int rc;
	/* The declaration may be missing; if there is one, it must be this, for
	 * no other encoding is read. */
	if (looking_at(r, "<?xml") &&
	    (rc = pinglist_read_take(r, declaration)) < 0)
		return rc;
	skip_space(r);
	if ((rc = pinglist_read_take(r, "<pinglist")) < 0 ||
	    (rc = take_attributes(r, head_names, HEAD_NEEDS, v)) < 0 ||
	    (rc = pinglist_read_take(r, ">")) < 0 ||
	    (rc = read_address(r, v[0], "server", &server)) < 0 ||
	    (rc = read_version(r, v[1], &r->doc->version)) < 0 ||
	    (rc = read_u32(r, v[2], UINT32_MAX, "count", &r->said)) < 0)
		return rc;
	/* A controller that mixes lists up would have this server probe
	 * another's peers. */
	if (server != r->self)
		return refuse_at(r, ALGO_PINGLIST_OTHER, v[0].at, "server");
	return 0;
}

static int check_allowed(struct reader *r, const struct algo_pinglist_entry *x,
    const char *at)
{
	char what[TOPO_IP_PORT_TEXT];
	if (!r->doc->allow)
		return 0;
	const struct topo_ip ip = topo_ip_book_look(r->doc->book, x->address);
	if (algo_pinglist_allows(r->doc->allow, &ip, x->port))
		return 0;
	topo_ip_format_port(&ip, x->port, what);
	return refuse_at(r, ALGO_PINGLIST_BEYOND, at, what);
}

static int read_peer(struct reader *r)
{
	struct algo_pinglist_entry entry;
	struct span v[MAX_ATTRIBUTES] = {0};
	uint32_t port, class;
	uint8_t level = 0;
	int rc;
	if ((rc = pinglist_read_take(r, "<peer")) < 0 ||
	    (rc = take_attributes(r, peer_names, PEER_NEEDS, v)) < 0 ||
	    (rc = pinglist_read_take(r, "/>")) < 0 ||
	    (rc = read_address(r, v[0], "address", &entry.address)) < 0 ||
	    (rc = read_u32(r, v[1], UINT16_MAX, "port", &port)) < 0 ||
	    (rc = read_level(r, v[2], &level)) < 0 ||
	    (rc = read_u32(r, v[3], ALGO_PINGLIST_MAX_CLASSES - 1, "class",
		 &class)) < 0 ||
	    (rc = read_u32(r, v[4], UINT32_MAX, "interval_s",
		 &entry.interval_s)) < 0 ||
	    (rc = read_u32(r, v[5], UINT32_MAX, "payload", &entry.payload)) <
		0 ||
	    (rc = read_ping(r, v[6], &entry)) < 0)
		return rc;
	if (port == 0)
		return refuse_at(r, ALGO_PINGLIST_VALUE, v[1].at, "port");
	entry.port = (uint16_t)port;
	entry.level = level & 15;
	entry.class = (uint8_t) class;
	if ((rc = check_allowed(r, &entry, v[0].at)) < 0)
		return rc;
	/* Counted before any is dropped: `count` tells whether the document is
	 * whole, not how much of it is used. */
	r->seen++;
	return add_entry(r, &entry);
}

static int read_document(struct reader *r)
{
	int rc = read_head(r);
	for (;;) {
		if (rc < 0)
			return rc;
		skip_space(r);
		if (looking_at(r, "</"))
			break;
		rc = read_peer(r);
	}
	if ((rc = pinglist_read_take(r, "</pinglist>")) < 0)
		return rc;
	skip_space(r);
	if (r->at < r->end)
		return pinglist_read_refuse(r, ALGO_PINGLIST_MALFORMED,
		    "more than a list");
	if (r->seen != r->said)
		return pinglist_read_refuse(r, ALGO_PINGLIST_COUNT, "count");
	return 0;
}

/* A power of two of at least twice the entries. */
static uint32_t slots_for(uint32_t max_entries)
{
	uint32_t n = 2;
	while (n < 2 * max_entries)
		n *= 2;
	return n;
}

size_t algo_pinglist_xml_work(uint32_t max_entries)
{
	assert(max_entries <= UINT32_C(1) << 24);
	return (size_t)max_entries + slots_for(max_entries);
}

/* How many peers N bytes can name at most, so that a short list touches little of
 * the work memory: where each of many agents has its own, that counts. */
static uint32_t read_most(const struct algo_pinglist_doc *d, size_t n)
{
	static const char least[] =
	    "<peer address= port= level= class= interval_s= payload=/>";
	const size_t most = n / (sizeof(least) - 1);
	return most < d->max_entries ? (uint32_t)most : d->max_entries;
}

int algo_pinglist_xml_read(struct algo_pinglist_doc *d, uint32_t self,
    const char *bytes, size_t n, struct sim_err *e)
{
	const uint32_t most = read_most(d, n);
	struct reader r = {.start = bytes,
	    .at = bytes,
	    .end = bytes + n,
	    .doc = d,
	    .e = e,
	    .self = self,
	    .next = d->work,
	    .slot = d->work + most,
	    .n_slots = slots_for(most)};
	int rc;
	d->n_entries = 0;
	d->version = 0;
	memset(d->n, 0, sizeof(d->n));
	if (n > d->max_bytes) {
		d->n[ALGO_PINGLIST_LARGE]++;
		return sim_fail(e, SIM_EPARSE, "%zu bytes are more than %zu.",
		    n, d->max_bytes);
	}
	/* All ones is NONE in every slot. */
	memset(r.slot, 0xff, r.n_slots * sizeof(*r.slot));
	/* Part of a list is not used: an agent without a list stops probing,
	 * which is the safe side. */
	if ((rc = read_document(&r)) < 0)
		d->n_entries = 0;
	else
		raise_intervals(&r);
	return rc;
}
