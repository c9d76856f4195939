/* tests/fuzz/capture_fuzz.c -- any bytes as a capture, by libpcap and by ours.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every packet stays within what was captured of it. The same capture is read as
 * of two hosts, whose packets are counted whichever way these are known again.
 */
#include <string.h>

#include "experiments/everflow/capture.h"
#include "experiments/millisampler/tap.h"
#include "tests/fuzz/fuzz.h"

static void read_packets(const char *path, size_t n_file)
{
	struct xp_capture *c;
	struct xp_captured p;
	struct sim_err e = {0};
	unsigned sum = 0;
	int rc = xp_capture_open(&c, path, &e);
	must(rc == 0 || strstr(e.msg, path));
	if (rc < 0)
		return;
	while ((rc = xp_capture_next(c, &p, &e)) > 0) {
		must(p.n <= n_file);
		for (size_t i = 0; i < p.n; i++)
			sum += p.bytes[i];
		for (size_t i = 0; p.mac && i < 12; i++)
			sum += p.mac[i];
	}
	must(rc == 0 || strstr(e.msg, path));
	must(sum != 1 || n_file > 0);
	xp_capture_close(c);
}

static int hear(void *arg, uint32_t host, uint64_t t,
    const struct obs_seen *seen, struct sim_err *e)
{
	uint64_t *n = arg;
	(void)t, (void)seen, (void)e;
	must(host < 2);
	++*n;
	return 0;
}

static void read_hosts(const char *path, enum xp_tap_retx retx)
{
	static struct xp_tap_params p;
	struct xp_tap *t;
	struct sim_err e = {0};
	uint64_t n = 0;
	if (p.n_hosts == 0) {
		must(xp_tap_host(&p, "a=10.0.0.1,fd00::1", NULL) == 0);
		must(xp_tap_host(&p, "b=02:00:00:00:00:01", NULL) == 0);
	}
	p.retx = retx;
	p.may_be_cut = retx == XP_TAP_SEQ;
	int rc = xp_tap_open(&t, path, &p, &e);
	must(rc == 0 || e.msg[0] != '\0');
	if (rc < 0)
		return;
	rc = xp_tap_each(t, hear, &n, &e);
	must(rc == 0 || strstr(e.msg, path));
	const struct xp_tap_said *said = xp_tap_said(t);
	if (rc == 0)
		must(said->n_of_hosts + said->n_strange <= said->n_packets &&
		    n <= 2 * said->n_packets && said->retx != XP_TAP_AUTO);
	xp_tap_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *path = fuzz_file(bytes, n);
	read_packets(path, n);
	read_hosts(path, XP_TAP_AUTO);
	read_hosts(path, XP_TAP_SEQ);
	return 0;
}
