/* algos/pingmesh/pinglist_xml.h -- pinglists as XML: write, and read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	<?xml version="1.0" encoding="UTF-8"?>
 *	<pinglist server="10.0.0.1" version="5f0c..." count="1">
 *	  <peer address="10.0.0.2" port="8765" level="tor" class="0"
 *	      interval_s="10" payload="0"/>
 *	</pinglist>
 *
 * Addresses are all IPv4 or all IPv6, in the form of RFC 5952; a list of IPv6 has no
 * services, as these are IPv4. Older agents know no IPv6, and refuse such a list for
 * its first value.
 *
 * An entry is one line; algos/pingmesh/pinglist.xsd is the schema. The same
 * plan gives the same bytes everywhere.
 *
 * An entry that is no TCP ping says so at its end: ping="http". One without is a
 * TCP ping, so lists from before there were others mean what they meant, and
 * lists without others are the same bytes. An agent from before refuses a list
 * with such an entry as one with an unknown attribute, and probes nobody: agents
 * are to be brought up to date before a controller that sends any.
 */
#ifndef ALGOS_PINGMESH_PINGLIST_XML_H
#define ALGOS_PINGMESH_PINGLIST_XML_H

#include <stddef.h>
#include <stdio.h>

#include "algos/pingmesh/allow.h"
#include "algos/pingmesh/pinglist.h"
#include "topo/ip_book.h"

/* --- writing --------------------------------------------------------------
 *	algo_pinglist_xml_open(&x, &plan);
 *	algo_pinglist_xml_start(&x, server, e);
 *	while ((n = algo_pinglist_xml_next(&x, buf, size)) > 0)
 *		send(buf, n);
 */
enum {
	ALGO_PINGLIST_XML_LEAST = 4096, /* bytes of a buffer */
	ALGO_PINGLIST_XML_TAIL = 96,
	ALGO_PINGLIST_XML_CHUNK = 1 << 16,
};

/* What all entries share is formatted once: for each level and kind, the text
 * after the address. */
struct algo_pinglist_xml {
	const struct algo_pinglist *plan;
	struct algo_pinglist_server server;
	uint32_t stage, peer; /* what comes next */
	/* Set by the caller, for lists that are begun from then on: of servers'
	 * addresses in the plan's network of IPv6, which must have one. */
	uint32_t of_6;
	uint32_t n_chunk;   /* bytes in `chunk` */
	char octet[256][4]; /* "7" */
	uint8_t octet_len[256];
	uint8_t tail_len[ALGO_PINGLIST_N_LEVELS][ALGO_PINGLIST_MAX_KINDS];
	char tail[ALGO_PINGLIST_N_LEVELS][ALGO_PINGLIST_MAX_KINDS]
		 [ALGO_PINGLIST_XML_TAIL];
	char chunk[ALGO_PINGLIST_XML_CHUNK]; /* of algo_pinglist_xml_write() */
};

/* Prepare for the lists of PLAN, which is kept. Cost O(kinds). */
void algo_pinglist_xml_open(struct algo_pinglist_xml *x,
    const struct algo_pinglist *plan);

/* Begin the document of one server. Errors SIM_ERANGE. */
int algo_pinglist_xml_start(struct algo_pinglist_xml *x, uint32_t server,
    struct sim_err *e);

/* Write what comes next into BUF, whole lines; returns their bytes, 0 when the
 * document is done. Bytes of BUF beyond them may be written over.
 * Domain SIZE >= ALGO_PINGLIST_XML_LEAST. Cost O(bytes). */
size_t algo_pinglist_xml_next(struct algo_pinglist_xml *x, char *buf,
    size_t size);

/* The whole document of one server; of all servers, each list as above within
 * <pinglists version= servers=>. Memory: X alone, whatever the size.
 * Errors SIM_ERANGE, SIM_EIO. */
int algo_pinglist_xml_write(struct algo_pinglist_xml *x, uint32_t server,
    FILE *out, struct sim_err *e);
int algo_pinglist_xml_write_all(struct algo_pinglist_xml *x, FILE *out,
    struct sim_err *e);

/* --- reading --------------------------------------------------------------
 * For an agent: bytes that came over the network, from a controller that may be
 * wrong. Read is the form above and nothing else that XML has: no DOCTYPE, no
 * entity or character reference, no comment, processing instruction, CDATA or
 * text, no other element or attribute. Attributes may come in any order and
 * white space may differ. Nothing is nested, expanded or allocated.
 *
 * Each reason below is counted. One REFUSED makes the document void: no entries
 * (Pingmesh's agent then probes nobody). DROPPED is one entry. CLAMPED is one
 * value of an entry, set to the limit.
 */
#define ALGO_PINGLIST_REASONS(X)                                               \
	X(LARGE, REFUSED, "more bytes or entries than allowed")                \
	X(TRUNCATED, REFUSED, "ends too early")                                \
	X(MALFORMED, REFUSED, "not of the form of a pinglist")                 \
	X(FORBIDDEN, REFUSED, "XML that a pinglist has no use for")            \
	X(UNKNOWN, REFUSED, "an unknown element or attribute")                 \
	X(MISSING, REFUSED, "an attribute is missing")                         \
	X(VALUE, REFUSED, "a value that none can be")                          \
	X(COUNT, REFUSED, "another number of entries than said")               \
	X(OTHER, REFUSED, "the list of another server")                        \
	X(FAMILY, REFUSED,                                                     \
	    "an address of the family that its server has none of")            \
	X(BEYOND, REFUSED, "a target that this agent may not probe")           \
	X(SELF, DROPPED, "the server itself as a peer")                        \
	X(REPEATED, DROPPED, "an entry again, or too many of one peer")        \
	X(INTERVAL, CLAMPED, "an interval below the least of a pair")          \
	X(PAYLOAD, CLAMPED, "a payload above the limit")

enum algo_pinglist_reason {
#define X(name, effect, text) ALGO_PINGLIST_##name,
	ALGO_PINGLIST_REASONS(X)
#undef X
	    ALGO_PINGLIST_N_REASONS
};
extern const char *const algo_pinglist_reasons[];

/* The caller's memory, and what was read. */
struct algo_pinglist_doc {
	struct algo_pinglist_entry *entry; /* [max_entries] */
	uint32_t *work; /* [algo_pinglist_xml_work(max_entries)] */
	uint32_t max_entries;
	size_t max_bytes;
	const struct algo_pinglist_allow *allow; /* NULL: anybody */
	/* Where SELF is of IPv6, a number of this; else not used. Peers are
	 * noted in it, also those of a list that is then refused. */
	struct topo_ip_book *book;
	/* Filled. */
	uint32_t n_entries;
	uint64_t version;
	uint32_t n[ALGO_PINGLIST_N_REASONS];
};

/* Elements of `work`. Domain max_entries <= 2^24. */
size_t algo_pinglist_xml_work(uint32_t max_entries);

/* Read the list of the server with address SELF, of IPv6 its number in the book.
 * All addresses are of SELF's family. The entries that are left keep
 * both hard limits of algos/pingmesh/pinglist.h: those of one peer together are
 * MIN_INTERVAL_S apart, so if it has several, each has a longer interval.
 * Errors SIM_EPARSE, with line and column; D is then without entries.
 * Cost   O(bytes) expected; with addresses chosen to collide O(max_entries)
 *        an entry. */
int algo_pinglist_xml_read(struct algo_pinglist_doc *d, uint32_t self,
    const char *bytes, size_t n, struct sim_err *e);

#endif
