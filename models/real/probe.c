/* models/real/probe.c -- PROBE and ICMP on raw sockets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "models/real/icmp_wire.h"
#include "models/real/impl.h"

enum { AT_ONCE = 256 }; /* messages before others have their turn */

int real_probe(struct fabric_real *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	const struct sockaddr_in to = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(a->tuple.dst_ip)};
	uint8_t probe[REAL_ICMP_PROBE];
	if (!f->base.caps.can_probe_ttl)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "host %u has no raw sockets to probe with; they take "
		    "CAP_NET_RAW.",
		    host);
	real_icmp_probe(probe, &a->tuple, a->ttl, a->ip_id, f->key);
	ssize_t n = sendto(f->host[host].raw, probe, sizeof(probe), 0,
	    (const struct sockaddr *)&to, sizeof(to));
	/* A probe that the kernel did not take is to the agent as one that was
	 * lost: it hears nothing and has a timer. Only the counters tell the
	 * two apart. */
	++*(n == (ssize_t)sizeof(probe) ? &f->count.n_probes
					: &f->count.n_unsent);
	return 0;
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
