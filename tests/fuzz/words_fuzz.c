/* tests/fuzz/words_fuzz.c -- any short text as one that is a small language.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The first byte says which: lists of services, hosts of a capture, URLs, heads of
 * answers over HTTP, parameters of jobs in a recording's spec, metrics of daemons,
 * addresses of switches.
 */
#include <ctype.h>
#include <string.h>

#include "experiments/everflow/copies.h"
#include "experiments/live/doctor.h"
#include "experiments/live/expose.h"
#include "experiments/live/fetch_head.h"
#include "experiments/live/url.h"
#include "experiments/millisampler/tap.h"
#include "experiments/pingmesh/dsa/dsa.h"
#include "tests/fuzz/fuzz.h"

static void check_services(const char *text, size_t n)
{
	enum { HOSTS = 40 };
	struct xp_dsa_services s = {0};
	struct sim_err e = {0};
	const int rc = xp_dsa_services_read(&s, text, HOSTS, &e);
	(void)n;
	must(rc == 0 || e.msg[0] != '\0');
	for (uint32_t i = 0; i < s.n; i++) {
		const struct algo_sla_service *one = &s.service[i];
		must(rc == 0 && one->name[0] != '\0');
		for (uint32_t k = 0; k < one->n; k++)
			must(one->server[k] < HOSTS);
	}
	xp_dsa_services_free(&s);
}

static void check_host(const char *text, size_t n)
{
	static struct xp_tap_params p;
	struct sim_err e = {0};
	(void)n;
	p.n_hosts = p.n_addresses = 0;
	const int rc = xp_tap_host(&p, text, &e);
	must(rc == 0 || e.msg[0] != '\0');
	if (rc == 0)
		must(p.n_hosts == 1 && p.n_addresses >= 1);
	must(p.n_addresses <= XP_TAP_MAX_ADDRESSES);
}

static void check_url(const char *text, size_t n)
{
	const struct xp_identity_params none = {0};
	char url[XP_URL_MAX];
	struct sim_err e = {0};
	const int rc = xp_url_take(url, text, n, "/pinglist", &e);
	must(rc == 0 || e.msg[0] != '\0');
	if (rc < 0)
		return;
	must(strlen(url) < XP_URL_MAX);
	must(strncasecmp(url, "http://", 7) == 0 ||
	    strncasecmp(url, "https://", 8) == 0);
	must(strstr(url, "://")[3] != '/');
	for (const char *p = url; *p; p++)
		must(!iscntrl((unsigned char)*p) && *p != ' ');
	xp_url_check_plain(url, &none, &e);
}

/* What an agent sends back must not add lines to its own request. */
static void check_head(const char *text, size_t n)
{
	struct xp_fetch_head h = {0};
	for (size_t at = 0; at < n;) {
		const char *end = memchr(text + at, '\n', n - at);
		const size_t k = end ? (size_t)(end - text) + 1 - at : n - at;
		xp_fetch_head_line(&h, text + at, k);
		at += k;
	}
	must(memchr(h.tag, 0, sizeof(h.tag)) != NULL);
	must(memchr(h.mark, 0, sizeof(h.mark)) != NULL);
	for (const char *p = h.tag; *p; p++)
		must(!iscntrl((unsigned char)*p));
	for (const char *p = h.mark; *p; p++)
		must(!iscntrl((unsigned char)*p));
}

static void check_params(const char *text, size_t n)
{
	struct xp_dsa_params p;
	struct sim_err e = {0};
	(void)n;
	must(xp_dsa_params_read(&p, text, &e) == 0 || e.msg[0] != '\0');
}

/* What anybody may answer who is asked for metrics. */
static void check_metrics(const char *text, size_t n)
{
	static void (*const judge[])(struct xp_doctor *, const char *,
	    const struct xp_exposed *) = {xp_doctor_controller,
	    xp_doctor_collector, xp_doctor_agent};
	static struct xp_exposed x;
	struct sim_err e = {0};
	(void)n;
	const int rc = xp_exposed_read(&x, text, &e);
	must(rc == 0 || e.msg[0] != '\0');
	for (size_t i = 0; rc == 0 && i < 3; i++) {
		static struct xp_doctor d;
		memset(&d, 0, sizeof(d));
		d.now_s = 1763894400;
		judge[i](&d, "it", &x);
	}
}

static void check_addresses(const char *text, size_t n)
{
	const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	struct topo t;
	struct xp_copies c = {0};
	struct sim_err e = {0};
	(void)n;
	must(topo_open_clos(&t, &shape, NULL) == 0);
	must(xp_copies_open(&c, &t, 0, NULL) == 0);
	must(xp_copies_addresses(&c, "it", text, &e) == 0 ||
	    strstr(e.msg, "it"));
	xp_copies_free(&c);
	topo_close(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static void (*const check[])(const char *, size_t) = {check_services,
	    check_host, check_url, check_head, check_params, check_metrics,
	    check_addresses};
	if (n == 0 || n > 4096)
		return 0;
	char *text = malloc(n);
	must(text != NULL);
	memcpy(text, bytes + 1, n - 1);
	text[n - 1] = '\0';
	check[bytes[0] % (sizeof(check) / sizeof(check[0]))](text, n - 1);
	free(text);
	return 0;
}
