/* experiments/everflow/capture.c -- packets of a capture, by libpcap.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/capture.h"

#include <stdlib.h>

#define LATE_DEFINE
#include "experiments/everflow/pcap.late.h"
#include "sim/inet.h"
#include "sim/text.h"
#include "sim/vec.h"

enum { ETHERNET_BYTES = 14 };

/* What is in front of a packet, where that says what the packet is, and what of
 * the frame was there. */
struct capture_link {
	int type;
	size_t bytes, proto_at;
	uint32_t frame_bytes;
};

static const struct capture_link capture_links[] = {
    {DLT_EN10MB, ETHERNET_BYTES, 12, ETHERNET_BYTES},
    {DLT_LINUX_SLL, 16, 14, ETHERNET_BYTES},
    {DLT_LINUX_SLL2, 20, 0, ETHERNET_BYTES},
    {DLT_RAW, 0, 0, 0},
    {DLT_IPV4, 0, 0, 0},
    {DLT_IPV6, 0, 0, 0},
};

struct xp_capture {
	pcap_t *pcap;
	const struct capture_link *link;
	char *path;
	uint64_t n; /* packets read */
};

int xp_capture_is_built_in(void)
{
	return 1;
}

static int capture_find_link(struct xp_capture *c, struct sim_err *e)
{
	enum { N = sizeof(capture_links) / sizeof(capture_links[0]) };
	const int type = pcap_datalink(c->pcap);
	const char *name = pcap_datalink_val_to_name(type);
	for (size_t i = 0; i < N; i++)
		if (capture_links[i].type == type)
			c->link = &capture_links[i];
	return c->link
	    ? 0
	    : sim_fail(e, SIM_EUNSUPPORTED,
		  "%s: links of type %d (%s) are not read; Ethernet, Linux "
		  "cooked and raw IP are.",
		  c->path, type, name ? name : "unknown");
}

int xp_capture_open(struct xp_capture **out, const char *path,
    struct sim_err *e)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	struct xp_capture *c = NULL;
	*out = NULL;
	int rc = sim_late_load(&late_pcap_library, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&c, 1, e)) < 0)
		return rc;
	rc = sim_dup(&c->path, path, e);
	if (rc == 0) {
		c->pcap = pcap_open_offline_with_tstamp_precision(path,
		    PCAP_TSTAMP_PRECISION_NANO, why);
		rc = c->pcap
		    ? capture_find_link(c, e)
		    : sim_fail(e, SIM_EIO, "%s cannot be read: %s.", path, why);
	}
	if (rc < 0)
		xp_capture_close(c);
	else
		*out = c;
	return rc;
}

/* Raw IP says by its first byte which it is. */
static uint16_t capture_ethertype(const struct capture_link *l,
    const uint8_t *p, size_t n)
{
	if (l->bytes > 0)
		return n < l->bytes ? 0 : sim_inet_get16(p + l->proto_at);
	if (n == 0)
		return 0;
	return p[0] >> 4 == 6 ? 0x86dd : 0x0800;
}

int xp_capture_next(struct xp_capture *c, struct xp_captured *p,
    struct sim_err *e)
{
	const struct capture_link *l = c->link;
	struct pcap_pkthdr *head;
	const u_char *bytes;
	const int rc = pcap_next_ex(c->pcap, &head, &bytes);
	if (rc == PCAP_ERROR_BREAK)
		return 0;
	if (rc != 1)
		return sim_fail(e, SIM_EPARSE,
		    "%s is damaged or cut behind packet %llu: %s.", c->path,
		    (unsigned long long)c->n, pcap_geterr(c->pcap));
	c->n++;
	const size_t n = head->caplen;
	const size_t skip = n < l->bytes ? n : l->bytes;
	const uint32_t link = l->bytes < head->len ? (uint32_t)l->bytes : 0;
	/* Where libpcap is asked for nanoseconds, they are in tv_usec. */
	*p = (struct xp_captured){
	    .unix_ns = (uint64_t)head->ts.tv_sec * 1000000000 +
		(uint64_t)head->ts.tv_usec,
	    .bytes = bytes + skip,
	    .n = n - skip,
	    .ethertype = capture_ethertype(l, bytes, n),
	    .n_frame = head->len - link + (link > 0 ? l->frame_bytes : 0),
	    .n_behind = head->len - link,
	    .mac = l->type == DLT_EN10MB && n >= ETHERNET_BYTES ? bytes : NULL,
	};
	return 1;
}

void xp_capture_close(struct xp_capture *c)
{
	if (!c)
		return;
	if (c->pcap)
		pcap_close(c->pcap);
	free(c->path);
	free(c);
}
