/* models/real/probe.c -- PROBE and ICMP, and SEND, on raw sockets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "models/real/icmp_wire.h"
#include "models/real/impl.h"

enum {
	AT_ONCE = 256,       /* messages before others have their turn */
	IP_DESTINATION = 16, /* in a header, which has: */
	IP_BYTES = 20,
};

/* Send N bytes that begin with an IP header. 1: the kernel took them. What it
 * did not take is to the agent like what was lost: it hears nothing and has a
 * timer. Only the counters tell the two apart. */
static int send_raw(struct fabric_real *f, topo_host host, const void *bytes,
    size_t n, uint64_t *taken, struct sim_err *e)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	if (topo_ip_is_number(f->host[host].address))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "host %u has IPv6, and paths are found by IPv4 alone.",
		    host);
	if (!f->base.caps.can_probe_ttl)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "host %u has no raw sockets to probe with; they take "
		    "CAP_NET_RAW.",
		    host);
	memcpy(&to.sin_addr, (const char *)bytes + IP_DESTINATION,
	    sizeof(to.sin_addr));
	const int took =
	    sendto(f->host[host].raw, bytes, n, 0, (const struct sockaddr *)&to,
		sizeof(to)) == (ssize_t)n;
	++*(took ? taken : &f->count.n_unsent);
	return took;
}

int real_probe(struct fabric_real *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	uint8_t probe[REAL_ICMP_PROBE];
	real_icmp_probe(probe, &a->tuple, a->ttl, a->ip_id, f->key);
	const int rc =
	    send_raw(f, host, probe, sizeof(probe), &f->count.n_probes, e);
	return rc < 0 ? rc : 0;
}

int real_send(struct fabric_real *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	if (a->n_bytes < IP_BYTES)
		return sim_fail(e, SIM_EINVAL,
		    "host %u is to send %u bytes, which are no IP packet.",
		    host, a->n_bytes);
	const int rc =
	    send_raw(f, host, a->data, a->n_bytes, &f->count.n_sent, e);
	if (rc <= 0 || !f->services.sent)
		return rc < 0 ? rc : 0;
	return f->services.sent(f->services.arg, host, a->data, a->n_bytes, e);
}

int real_probe_read(struct fabric_real *f, topo_host host, struct sim_err *e)
{
	const struct real_host *h = &f->host[host];
	struct real_icmp_answer answer;
	/* What is left keeps epoll ready, so it is read after others have had
	 * their turn. */
	for (int k = 0; k < AT_ONCE; k++) {
		const ssize_t n = recv(h->icmp, f->in, REAL_ICMP_MOST, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return 0;
		/* The signature covers the five-tuple but any host of this
		 * fabric has the same key; so the quoted source must also be
		 * the host that got the answer. */
		if (!real_icmp_read(f->in, (size_t)n, f->key, &answer) ||
		    answer.tuple.src_ip != h->address) {
			f->count.n_strange++;
			continue;
		}
		struct agent_event *ev = real_tell(f, host, AGENT_ICMP, 0, e);
		if (!ev)
			return SIM_ENOMEM;
		ev->from_ip = answer.from_ip;
		ev->ip_id = answer.ip_id;
		ev->tuple = answer.tuple;
		f->count.n_answers++;
	}
	return 0;
}
