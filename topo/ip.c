/* topo/ip.c -- an address of IPv4 or IPv6: one type, one form in text.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/ip.h"

#include <stdio.h>

#include "sim/text.h"
#include "topo/addr.h"

enum { GROUPS = 8, IP_BYTES = 16, BITS_OF_4 = 96, NO_IP = -1 };

static const uint8_t ip_mapped[12] = {[10] = 0xff, [11] = 0xff};

/* --- IPv4 ----------------------------------------------------------------- */
static void ip_put_4(uint8_t *at, uint32_t ip)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(ip >> (24 - 8 * i));
}

struct topo_ip topo_ip_of_4(uint32_t ip)
{
	struct topo_ip a;
	memcpy(a.byte, ip_mapped, sizeof(ip_mapped));
	ip_put_4(a.byte + 12, ip);
	return a;
}

int topo_ip_is_4(const struct topo_ip *a)
{
	return memcmp(a->byte, ip_mapped, sizeof(ip_mapped)) == 0;
}

uint32_t topo_ip_to_4(const struct topo_ip *a)
{
	uint32_t ip = 0;
	for (int i = 12; i < IP_BYTES; i++)
		ip = ip << 8 | a->byte[i];
	return ip;
}

static uint64_t ip_half(const struct topo_ip *a, int from)
{
	uint64_t x = 0;
	for (int i = 0; i < 8; i++)
		x = x << 8 | a->byte[from + i];
	return x;
}

uint64_t topo_ip_hash(const struct topo_ip *a)
{
	if (topo_ip_is_4(a))
		return topo_ip_to_4(a);
	/* SplitMix64's mixing of the upper half, so that neighbours in either
	 * half stay apart. */
	uint64_t x = ip_half(a, 0) + UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x ^ x >> 31) + ip_half(a, 8);
}

/* --- reading -------------------------------------------------------------- */
/* One to four hexadecimal digits at *TEXT, which moves past them; -1: none. */
static int ip_group(const char **text)
{
	const char *p = *text;
	int x = 0, n = 0;
	for (; n < 4; n++, p++) {
		const int c = *p | 32; /* lower case; of a digit the digit */
		if (*p >= '0' && *p <= '9')
			x = x << 4 | (*p - '0');
		else if (c >= 'a' && c <= 'f')
			x = x << 4 | (c - 'a' + 10);
		else
			break;
	}
	*text = p;
	return n > 0 ? x : -1;
}

/* Groups from P on into OUT, of N; returns how many bytes, or NO_IP. *GAP is where
 * :: stood, or -1. */
static int ip_groups(const char *p, uint8_t out[IP_BYTES], int *gap)
{
	int n = 0;
	uint32_t ip;
	*gap = -1;
	/* A colon at the beginning is half of a gap. */
	if (*p == ':' && *++p != ':')
		return NO_IP;
	while (*p) {
		const char *at = p;
		if (*p == ':') {
			if (*gap >= 0)
				return NO_IP;
			*gap = n;
			p++;
			continue;
		}
		const int x = n < IP_BYTES ? ip_group(&p) : -1;
		if (x < 0)
			return NO_IP;
		if (*p == '.') {
			if (n > IP_BYTES - 4 || topo_addr_parse(at, &ip, NULL))
				return NO_IP;
			ip_put_4(out + n, ip);
			return n + 4;
		}
		out[n++] = (uint8_t)(x >> 8);
		out[n++] = (uint8_t)x;
		/* One colon goes on; a second is a gap; none but at the end. */
		if (*p == ':' ? *++p == '\0' : *p != '\0')
			return NO_IP;
	}
	return n;
}

static int ip_parse_6(const char *text, struct topo_ip *a)
{
	uint8_t got[IP_BYTES];
	int gap;
	const int n = ip_groups(text, got, &gap);
	/* A gap stands for one group at least (RFC 4291 2.2). */
	if (n == NO_IP || (gap < 0 ? n != IP_BYTES : n > IP_BYTES - 2))
		return 0;
	if (gap < 0)
		gap = n;
	memset(a->byte, 0, sizeof(a->byte));
	memcpy(a->byte, got, (size_t)gap);
	memcpy(a->byte + IP_BYTES - (n - gap), got + gap, (size_t)(n - gap));
	return 1;
}

int topo_ip_parse(const char *text, struct topo_ip *a, struct sim_err *e)
{
	struct topo_ip got;
	uint32_t ip;
	if (!strchr(text, ':')) {
		const int rc = topo_addr_parse(text, &ip, e);
		if (rc == 0)
			*a = topo_ip_of_4(ip);
		return rc;
	}
	if (strchr(text, '%'))
		return sim_fail(e, SIM_EINVAL,
		    "\"%.60s\" has a zone, which means something on one host "
		    "alone.",
		    text);
	if (!ip_parse_6(text, &got))
		return sim_fail(e, SIM_EINVAL,
		    "\"%.60s\" is not an IPv6 address: eight groups of one to "
		    "four hexadecimal digits with colons between them, or "
		    "fewer and one ::.",
		    text);
	if (topo_ip_is_4(&got))
		return sim_fail(e, SIM_EINVAL,
		    "\"%.60s\" is an IPv4 address, which is written with dots "
		    "alone.",
		    text);
	*a = got;
	return 0;
}

/* --- writing -------------------------------------------------------------- */
static unsigned ip_group_at(const struct topo_ip *a, int i)
{
	return (unsigned)a->byte[2 * i] << 8 | a->byte[2 * i + 1];
}

/* The longest run of zero groups, the first of these; of one alone nothing is
 * gained (RFC 5952 4.2). Returns its length, or 0. */
static int ip_gap(const struct topo_ip *a, int *from)
{
	int best = 1;
	for (int i = 0, run = 0; i < GROUPS; i++) {
		run = ip_group_at(a, i) == 0 ? run + 1 : 0;
		if (run > best) {
			best = run;
			*from = i + 1 - run;
		}
	}
	return best > 1 ? best : 0;
}

void topo_ip_format(const struct topo_ip *a, char buf[TOPO_IP_TEXT])
{
	struct sim_text t = {buf, TOPO_IP_TEXT, 0};
	int from = GROUPS;
	if (topo_ip_is_4(a)) {
		topo_addr_format(topo_ip_to_4(a), buf);
		return;
	}
	const int n = ip_gap(a, &from);
	for (int i = 0; i < GROUPS; i++) {
		if (i == from)
			sim_put(&t, "::");
		if (n > 0 && i >= from && i < from + n)
			continue;
		/* Behind a gap there are two colons already. */
		sim_put(&t, "%s%x",
		    i > 0 && (n == 0 || i != from + n) ? ":" : "",
		    ip_group_at(a, i));
	}
}

void topo_ip_format_port(const struct topo_ip *a, uint16_t port,
    char buf[TOPO_IP_PORT_TEXT])
{
	char text[TOPO_IP_TEXT];
	topo_ip_format(a, text);
	snprintf(buf, TOPO_IP_PORT_TEXT, topo_ip_is_4(a) ? "%s:%u" : "[%s]:%u",
	    text, port);
}

/* --- networks ------------------------------------------------------------- */
static void ip_cut(struct topo_ip *a, unsigned bits)
{
	for (unsigned i = bits; i < 8 * IP_BYTES; i++)
		a->byte[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
}

int topo_ip_net_parse(const char *text, struct topo_ip_net *net,
    struct sim_err *e)
{
	const size_t n = strcspn(text, "/");
	char addr[64];
	struct topo_ip a;
	snprintf(addr, sizeof(addr), "%.*s", (int)(n < 64 ? n : 63), text);
	const int rc = topo_ip_parse(addr, &a, e);
	if (rc < 0)
		return rc;
	const unsigned base = topo_ip_is_4(&a) ? BITS_OF_4 : 0;
	uint64_t bits = 8 * IP_BYTES - base;
	if (text[n] &&
	    (sim_parse_u64(text + n + 1, &bits, NULL) < 0 ||
		bits > 8 * IP_BYTES - base))
		return sim_fail(e, SIM_ERANGE,
		    "a prefix of IPv%d has 0 to %u bits; /%.20s is not.",
		    base ? 4 : 6, 8 * IP_BYTES - base, text + n + 1);
	net->first = a;
	net->bits = (uint8_t)(base + bits);
	ip_cut(&net->first, net->bits);
	return 0;
}

int topo_ip_net_has(const struct topo_ip_net *net, const struct topo_ip *a)
{
	const unsigned whole = net->bits / 8, more = net->bits % 8;
	const uint8_t mask = (uint8_t)(0xff00 >> more);
	if (topo_ip_is_4(&net->first) != topo_ip_is_4(a))
		return 0;
	return memcmp(net->first.byte, a->byte, whole) == 0 &&
	    (more == 0 ||
		((net->first.byte[whole] ^ a->byte[whole]) & mask) == 0);
}

int topo_ip_is_target(const struct topo_ip *a)
{
	/* fe80::/10 is of links, and fec0::/10 was of sites (RFC 3879). Behind
	 * translators and tunnels stands IPv4. */
	static const struct topo_ip_net others[] = {{{{0}}, 96},
	    {{{0xfe, 0x80}}, 9}, {{{0xff}}, 8}, {{{0, 0x64, 0xff, 0x9b}}, 96},
	    {{{0x20, 0x01, 0, 0}}, 32}, {{{0x20, 0x02}}, 16}};
	if (topo_ip_is_4(a))
		return topo_addr_is_target(topo_ip_to_4(a));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (topo_ip_net_has(&others[i], a))
			return 0;
	return 1;
}

struct topo_ip topo_ip_of_host(const struct topo_ip_net *net, topo_host h)
{
	struct topo_ip a = net->first;
	/* The last 24 bits are free, and h + 1 fits them. */
	ip_put_4(a.byte + 12, topo_ip_to_4(&net->first) + 1 + h);
	return a;
}

topo_host topo_ip_to_host(const struct topo_ip_net *net,
    const struct topo_ip *a, uint32_t n_hosts)
{
	const uint32_t h = topo_ip_to_4(a) - topo_ip_to_4(&net->first) - 1;
	return topo_ip_net_has(net, a) && h < n_hosts &&
		h < TOPO_ADDR_MAX_HOSTS &&
		memcmp(a->byte, net->first.byte, 12) == 0
	    ? h
	    : TOPO_NONE;
}
