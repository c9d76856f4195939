/* algos/pingmesh/pinglist_xml.c -- pinglists as XML: writing, fast as copying.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of an entry's 90 bytes only the address changes from one to the next, and
 * mostly only its last two numbers. An entry is three copies of fixed size that
 * may write too far, each putting right what the one before it spilt.
 */
#include "algos/pingmesh/pinglist_xml.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char declaration[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

enum { DECLARATION, HEAD, ENTRIES, END, DONE }; /* stage */

static const char pinglist_xml_before[] = "  <peer address=\"";

/* Room for one entry: its head, an octet and a tail copied whole. */
enum { FRONT = 32, ENTRY = FRONT + 4 + ALGO_PINGLIST_XML_TAIL };
enum { ENTRY_6 = FRONT + TOPO_IP_TEXT + ALGO_PINGLIST_XML_TAIL };
static_assert(ALGO_PINGLIST_MAX_KINDS * ENTRY_6 <= ALGO_PINGLIST_XML_LEAST,
    "a peer in any buffer");

void algo_pinglist_xml_open(struct algo_pinglist_xml *x,
    const struct algo_pinglist *plan)
{
	*x = (struct algo_pinglist_xml){.plan = plan, .stage = DONE};
	/* Each number of an address as text, copied whole with four bytes, of
	 * which the length says how many count. */
	for (unsigned i = 0; i < 256; i++) {
		char text[4];
		x->octet_len[i] =
		    (uint8_t)snprintf(text, sizeof(text), "%u", i);
		memcpy(x->octet[i], text, sizeof(text));
	}
	/* All after the address depends on the level and the kind alone, so it
	 * is formatted here once for all servers. */
	for (unsigned v = 0; v < ALGO_PINGLIST_N_LEVELS; v++) {
		const struct algo_pinglist_peer peer = {.level = v};
		for (uint32_t k = 0; k < plan->n_kinds[v]; k++) {
			const struct algo_pinglist_entry entry =
			    algo_pinglist_entry(plan, peer, k);
			const int n =
			    snprintf(x->tail[v][k], ALGO_PINGLIST_XML_TAIL,
				"\" port=\"%u\" level=\"%s\" class=\"%u\" "
				"interval_s=\"%u\" payload=\"%u\"%s/>\n",
				entry.port, algo_pinglist_levels[v],
				entry.class, entry.interval_s, entry.payload,
				entry.ping == AGENT_PING_HTTP ? " ping=\"http\""
							      : "");
			assert(n < ALGO_PINGLIST_XML_TAIL);
			x->tail_len[v][k] = (uint8_t)n;
		}
	}
}

int algo_pinglist_xml_start(struct algo_pinglist_xml *x, uint32_t server,
    struct sim_err *e)
{
	x->peer = 0;
	x->stage = DECLARATION;
	assert(!x->of_6 || x->plan->net6.bits > 0);
	const int rc = algo_pinglist_server(&x->server, x->plan, server, e);
	if (rc == 0 && x->of_6)
		algo_pinglist_leave_vips(&x->server);
	return rc;
}

/* Append the last number of an address; up to 4 bytes are written. */
static inline char *put_octet(const struct algo_pinglist_xml *x, char *p,
    uint32_t octet)
{
	memcpy(p, x->octet[octet & 0xff], 4);
	return p + x->octet_len[octet & 0xff];
}

/* Everything before the last number of an address; returns its length. */
static unsigned write_front(const struct algo_pinglist_xml *x,
    char front[FRONT], uint32_t net)
{
	char *p = front + sizeof(pinglist_xml_before) - 1;
	memcpy(front, pinglist_xml_before, sizeof(pinglist_xml_before) - 1);
	for (int shift = 16; shift >= 0; shift -= 8) {
		p = put_octet(x, p, net >> shift);
		*p++ = '.';
	}
	return (unsigned)(p - front);
}

/* Entries of whole peers while they fit. Peers mostly ascend, so the text
 * before the last number is made only when the first three change. ENTRY counts
 * what copies may spill too, so nothing is written beyond SIZE. */
static size_t write_entries(struct algo_pinglist_xml *x, char *buf, size_t size)
{
	const struct algo_pinglist_server *s = &x->server;
	const uint32_t *n_kinds = x->plan->n_kinds;
	char front[FRONT] = {0}, *p = buf;
	uint32_t net = UINT32_MAX, k = x->peer; /* no address is in that net */
	unsigned n_front = 0;
	for (; k < s->n_peers; k++) {
		const struct algo_pinglist_peer peer = algo_pinglist_at(s, k);
		if (n_kinds[peer.level] * ENTRY > size - (size_t)(p - buf))
			break;
		if (peer.address >> 8 != net) {
			net = peer.address >> 8;
			n_front = write_front(x, front, net);
		}
		for (uint32_t i = 0; i < n_kinds[peer.level]; i++) {
			memcpy(p, front, FRONT);
			p = put_octet(x, p + n_front, peer.address);
			memcpy(p, x->tail[peer.level][i],
			    ALGO_PINGLIST_XML_TAIL);
			p += x->tail_len[peer.level][i];
		}
	}
	x->peer = k;
	return (size_t)(p - buf);
}

/* The same of IPv6, whose addresses are formatted one by one. */
static size_t write_entries_6(struct algo_pinglist_xml *x, char *buf,
    size_t size)
{
	const struct algo_pinglist_server *s = &x->server;
	const uint32_t *n_kinds = x->plan->n_kinds;
	char *p = buf, text[TOPO_IP_TEXT];
	for (; x->peer < s->n_peers; x->peer++) {
		const struct algo_pinglist_peer peer =
		    algo_pinglist_at(s, x->peer);
		if (n_kinds[peer.level] * ENTRY_6 > size - (size_t)(p - buf))
			break;
		const struct topo_ip ip = topo_ip_of_host(&x->plan->net6,
		    topo_addr_to_host(peer.address, x->plan->n_servers));
		topo_ip_format(&ip, text);
		for (uint32_t i = 0; i < n_kinds[peer.level]; i++)
			p += snprintf(p, ENTRY_6, "%s%s%s", pinglist_xml_before,
			    text, x->tail[peer.level][i]);
	}
	return (size_t)(p - buf);
}

static size_t write_head(const struct algo_pinglist_xml *x, char *buf,
    size_t size)
{
	char address[TOPO_IP_TEXT];
	const struct topo_ip ip = x->of_6
	    ? topo_ip_of_host(&x->plan->net6, x->server.id)
	    : topo_ip_of_4(topo_addr_of_host(x->server.id));
	topo_ip_format(&ip, address);
	return (size_t)snprintf(buf, size,
	    "<pinglist server=\"%s\" version=\"%016" PRIx64
	    "\" count=\"%u\">\n",
	    address, x->plan->version, algo_pinglist_n_entries(&x->server));
}

size_t algo_pinglist_xml_next(struct algo_pinglist_xml *x, char *buf,
    size_t size)
{
	size_t n;
	switch (x->stage) {
	case DECLARATION:
		x->stage = HEAD;
		memcpy(buf, declaration, sizeof(declaration) - 1);
		return sizeof(declaration) - 1;
	case HEAD:
		x->stage = ENTRIES;
		return write_head(x, buf, size);
	/* Without a peer left nothing is written, and the end of the document
	 * comes in the same call. */
	case ENTRIES:
		n = x->of_6 ? write_entries_6(x, buf, size)
			    : write_entries(x, buf, size);
		if (n > 0)
			return n;
		x->stage = END;
		/* fallthrough */
	case END:
		x->stage = DONE;
		memcpy(buf, "</pinglist>\n", 12);
		return 12;
	default:
		return 0;
	}
}

/* --- to a file ------------------------------------------------------------ */
/* Empties the chunk also when writing fails: nothing is written twice. */
static int pinglist_xml_flush(struct algo_pinglist_xml *x, FILE *out,
    struct sim_err *e)
{
	const size_t n = x->n_chunk;
	x->n_chunk = 0;
	if (fwrite(x->chunk, 1, n, out) == n)
		return 0;
	return sim_fail(e, SIM_EIO, "a pinglist cannot be written: %s.",
	    strerror(errno));
}

/* What is left of the document, into chunks that are written when full. */
static int write_rest(struct algo_pinglist_xml *x, FILE *out, struct sim_err *e)
{
	size_t n;
	do {
		int rc;
		if (ALGO_PINGLIST_XML_CHUNK - x->n_chunk <
			ALGO_PINGLIST_XML_LEAST &&
		    (rc = pinglist_xml_flush(x, out, e)) < 0)
			return rc;
		n = algo_pinglist_xml_next(x, x->chunk + x->n_chunk,
		    ALGO_PINGLIST_XML_CHUNK - x->n_chunk);
		x->n_chunk += (uint32_t)n;
	} while (n > 0);
	return 0;
}

int algo_pinglist_xml_write(struct algo_pinglist_xml *x, uint32_t server,
    FILE *out, struct sim_err *e)
{
	int rc;
	x->n_chunk = 0;
	if ((rc = algo_pinglist_xml_start(x, server, e)) < 0 ||
	    (rc = write_rest(x, out, e)) < 0)
		return rc;
	return pinglist_xml_flush(x, out, e);
}

int algo_pinglist_xml_write_all(struct algo_pinglist_xml *x, FILE *out,
    struct sim_err *e)
{
	int rc = 0;
	x->n_chunk = (uint32_t)snprintf(x->chunk, ALGO_PINGLIST_XML_CHUNK,
	    "%s<pinglists version=\"%016" PRIx64 "\" servers=\"%u\">\n",
	    declaration, x->plan->version, x->plan->n_servers);
	for (uint32_t i = 0; i < x->plan->n_servers && rc == 0; i++) {
		if ((rc = algo_pinglist_xml_start(x, i, e)) < 0)
			return rc;
		/* Within the outer document no list has a declaration of its
		 * own. */
		x->stage = HEAD;
		rc = write_rest(x, out, e);
	}
	if (rc < 0 || (rc = pinglist_xml_flush(x, out, e)) < 0)
		return rc;
	x->n_chunk = (uint32_t)snprintf(x->chunk, ALGO_PINGLIST_XML_CHUNK,
	    "</pinglists>\n");
	return pinglist_xml_flush(x, out, e);
}
