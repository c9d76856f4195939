/* experiments/cmd/identity.c -- options of those that know each other by certificates.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/identity.h"

#define IDENTITY_AT(member) offsetof(struct xp_identity_params, member)

const struct cmd_option cmd_identity_options[] = {
    {"ca", 0, "FILE",
	"authorities whose certificates are believed, PEM, and no others; "
	"`culprit ca` makes one",
	.take = cmd_take_file, .at = IDENTITY_AT(ca)},
    {"cert", 0, "FILE", "the certificate of this host", .take = cmd_take_file,
	.at = IDENTITY_AT(cert)},
    {"key", 0, "FILE",
	"the key of --cert; it, --cert and --ca are read anew when they "
	"change",
	.take = cmd_take_file, .at = IDENTITY_AT(key)},
    {"insecure", 0, NULL,
	"without --ca, speak in the clear beyond this host, too",
	.take = cmd_take_flag, .at = IDENTITY_AT(insecure)},
    {0},
};

void cmd_identity_check(const struct xp_identity_params *p,
    struct argp_state *state)
{
	struct sim_err e;
	if (xp_identity_check(p, &e) < 0)
		argp_error(state, "%s", e.msg);
}
