/* experiments/cmd/verify_claim.h -- a claim and what came of it, printed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_VERIFY_CLAIM_H
#define EXPERIMENTS_CMD_VERIFY_CLAIM_H

#include "experiments/check/verify.h"

/* For people. FOLDER, with its slash or "", has the reasons; LEFT says what the
 * results lack, or is "". */
void cmd_claim_print(const struct xp_claim *c, const struct xp_finding *f,
    const char *folder, const char *left);

/* As an object of a JSON array; FIRST without a comma before it. */
void cmd_claim_json(const struct xp_claim *c, const struct xp_finding *f,
    int first);

#endif
