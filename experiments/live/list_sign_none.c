/* experiments/live/list_sign_none.c -- list_sign.h of a program without GnuTLS.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/list_sign.h"

static int sign_none(struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without GnuTLS, which signatures take: "
	    "install libgnutls28-dev and build again.");
}

int xp_list_signer_open(struct xp_list_signer **out, const char *path,
    uint64_t issued_s, struct sim_err *e)
{
	(void)path;
	(void)issued_s;
	*out = NULL;
	return sign_none(e);
}

int xp_list_sum_begin(void **sum, struct sim_err *e)
{
	*sum = NULL;
	return sign_none(e);
}

void xp_list_sum_add(void *sum, const void *bytes, size_t n)
{
	(void)sum;
	(void)bytes;
	(void)n;
}

int xp_list_sum_end(void *sum, const struct xp_list_signer *s,
    char mark[XP_LIST_MARK], struct sim_err *e)
{
	(void)sum;
	(void)s;
	mark[0] = '\0';
	return sign_none(e);
}

int xp_list_sign_none(const struct xp_list_signer *s, struct topo_ip address,
    uint64_t now_s, char mark[XP_LIST_MARK], struct sim_err *e)
{
	(void)s;
	(void)address;
	(void)now_s;
	mark[0] = '\0';
	return sign_none(e);
}

void xp_list_signer_close(struct xp_list_signer *s)
{
	(void)s;
}

int xp_list_checker_open(struct xp_list_checker **out, const char *path,
    struct sim_err *e)
{
	(void)path;
	*out = NULL;
	return sign_none(e);
}

int xp_list_check(struct xp_list_checker *c, const char *mark,
    const void *bytes, size_t n, uint64_t now_s, struct sim_err *e)
{
	(void)c;
	(void)mark;
	(void)bytes;
	(void)n;
	(void)now_s;
	return sign_none(e);
}

int xp_list_check_none(struct xp_list_checker *c, const char *mark,
    struct topo_ip address, uint64_t now_s, struct sim_err *e)
{
	(void)c;
	(void)mark;
	(void)address;
	(void)now_s;
	return sign_none(e);
}

int xp_list_checker_remember(struct xp_list_checker *c, const char *path,
    struct sim_err *e)
{
	(void)c;
	(void)path;
	return sign_none(e);
}

int xp_list_checker_keep(struct xp_list_checker *c, struct sim_err *e)
{
	(void)c;
	return sign_none(e);
}

uint64_t xp_list_checker_issued_s(const struct xp_list_checker *c)
{
	(void)c;
	return 0;
}

void xp_list_checker_close(struct xp_list_checker *c)
{
	(void)c;
}
