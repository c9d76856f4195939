/* experiments/pingmesh/dsa/rows.c -- what agents send, as rows of tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/dsa/rows.h"

#include "topo/addr.h"

/* Whether a row's ends cannot be: no such hosts, a host that probes itself, a
 * VIP outside the range of VIPs, or a level that does not go with the ends. */
static int row_is_foreign(const struct topo_dc dc[], uint32_t n_dcs,
    const struct obs_probe *p, int is_vip)
{
	if (p->src_host == TOPO_NONE || p->src_host == p->dst_host)
		return 1;
	if (is_vip)
		return !topo_addr_is_vip(p->dst_host);
	/* Levels TOR and DC are of pairs within one data centre. */
	return p->dst_host == TOPO_NONE ||
	    (p->level != OBS_LEVEL_INTER_DC &&
		topo_dcs_find(dc, n_dcs, p->src_host) !=
		    topo_dcs_find(dc, n_dcs, p->dst_host));
}

enum xp_dsa_fate xp_dsa_row(const struct topo_dc dc[], uint32_t n_dcs,
    uint32_t src_ip, const struct algo_pingmesh_record *r, struct obs_probe *p)
{
	static const uint8_t outcomes[AGENT_N_OUTCOMES] = {
	    [AGENT_CONNECTED] = OBS_CONNECTED,
	    [AGENT_REFUSED] = OBS_REFUSED,
	    [AGENT_TIMEOUT] = OBS_TIMED_OUT,
	};
	static const uint8_t levels[ALGO_PINGLIST_N_LEVELS] = {
	    [ALGO_PINGLIST_TOR] = OBS_LEVEL_TOR,
	    [ALGO_PINGLIST_DC] = OBS_LEVEL_DC,
	    [ALGO_PINGLIST_INTER_DC] = OBS_LEVEL_INTER_DC,
	    [ALGO_PINGLIST_VIP] = OBS_LEVEL_INTER_DC,
	};
	const uint32_t n_hosts = topo_dcs_n_hosts(dc, n_dcs);
	const int is_vip = r->level == ALGO_PINGLIST_VIP;
	/* Checked in this order, since outcome and level are indices of the
	 * tables above, and a record may come from anybody. */
	if (r->outcome >= AGENT_FAILED)
		return XP_DSA_FAILED;
	if (r->level >= ALGO_PINGLIST_N_LEVELS || r->src_ip != src_ip)
		return XP_DSA_FOREIGN;
	*p = (struct obs_probe){
	    .sent_ns = r->sent_ns,
	    .rtt_ns = r->rtt_ns,
	    .src_host = topo_addr_to_host(r->src_ip, n_hosts),
	    .dst_host =
		is_vip ? r->dst_ip : topo_addr_to_host(r->dst_ip, n_hosts),
	    .src_port = r->src_port,
	    .dst_port = r->dst_port,
	    .outcome = outcomes[r->outcome],
	    .level = levels[r->level],
	    .class = r->class,
	    .payload_bytes = r->payload,
	};
	if (row_is_foreign(dc, n_dcs, p, is_vip))
		return XP_DSA_FOREIGN;
	/* A connect takes some time, and a time-out has none. */
	if ((p->outcome == OBS_CONNECTED && p->rtt_ns == 0) ||
	    (p->outcome == OBS_TIMED_OUT && p->rtt_ns > 0))
		return XP_DSA_ODD;
	return is_vip ? XP_DSA_VIP_ROW : XP_DSA_ROW;
}

void xp_dsa_name(const struct topo_ip_net *net, topo_host host,
    char text[TOPO_IP_TEXT])
{
	const struct topo_ip ip = net->bits > 0
	    ? topo_ip_of_host(net, host)
	    : topo_ip_of_4(topo_addr_of_host(host));
	topo_ip_format(&ip, text);
}

int xp_dsa_http_row(const struct algo_pingmesh_record *r,
    const struct obs_probe *p, struct obs_http_row *out)
{
	*out = (struct obs_http_row){.sent_ns = p->sent_ns,
	    .answer_ns = r->echo_ns,
	    .src_host = p->src_host,
	    .dst_host = p->dst_host,
	    .src_port = p->src_port,
	    .dst_port = p->dst_port,
	    .answer = r->answer,
	    .level = p->level,
	    .class = p->class};
	return r->ping == AGENT_PING_HTTP &&
	    r->answer != AGENT_ANSWER_NOT_ASKED;
}

/* Counters of GETs that none can have: more than connects, or times without a status
 * 200. Each is compared by itself first, lest a sum run over. */
static int rows_is_odd_http(const struct algo_pingmesh_window *w)
{
	const uint64_t most = w->n_connected;
	if (w->n_http_ok > most || w->n_http_other > most ||
	    w->n_http_malformed > most || w->n_http_cut > most ||
	    w->n_http_late > most)
		return 1;
	const uint64_t n = w->n_http_ok + w->n_http_other +
	    w->n_http_malformed + w->n_http_cut + w->n_http_late;
	return n > most || (w->http_p50_ns > 0) != (w->n_http_ok > 0) ||
	    w->http_p50_ns > w->http_p99_ns;
}

enum xp_dsa_fate xp_dsa_counters_row(uint32_t n_hosts,
    const struct algo_pingmesh_window *w, struct obs_perf_row *p)
{
	*p = (struct obs_perf_row){
	    .end_ns = w->end_ns,
	    .host = topo_addr_to_host(w->src_ip, n_hosts),
	    .n_probes = w->n_probes,
	    .n_connected = w->n_connected,
	    .n_unconnected = w->n_unconnected,
	    .n_drop_1 = w->n_drop_1,
	    .n_drop_2 = w->n_drop_2,
	    .p50_ns = w->p50_ns,
	    .p99_ns = w->p99_ns,
	};
	if (p->host == TOPO_NONE)
		return XP_DSA_FOREIGN;
#define X(type, name, unit, doc) .name = &p->name,
	/* A table of one row, each column pointing at the member of P, so that
	 * the check of tables needs no second version for rows. */
	const struct obs_perf one = {.n = 1, OBS_PERF_COLUMNS(X)};
#undef X
	return obs_perf_check(&one, 0, n_hosts, NULL) < 0 || rows_is_odd_http(w)
	    ? XP_DSA_ODD
	    : XP_DSA_ROW;
}
