/* experiments/plug/about.h -- what an algorithm from outside says of itself.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	culprit 1
 *	name mine
 *	doc the links with the most votes
 *	paper none
 *	needs flows hops
 *	says flags
 *	columns n_retx off link
 *	file /home/me/helpers.py
 *	failed this machine has no scipy
 *	param accuse u32 0 100 2 links how many are accused
 *	end
 *
 * One thing a line; `param` is NAME TYPE MIN MAX DEFAULT UNIT DOC, and TYPE u32,
 * f64 or bool; `file`, one a line, names what it is made of beside what its
 * command names, so that results know it; `failed`, which few have, says why it
 * can't work. Lines that begin with an unknown word are skipped, so that a later protocol may say more;
 * an unknown word after `needs`, `says` or `columns` is refused, as leaving it
 * out would change answers in silence.
 */
#ifndef EXPERIMENTS_PLUG_ABOUT_H
#define EXPERIMENTS_PLUG_ABOUT_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/field.h"

enum {
	PLUG_VERSION = 1,
	PLUG_ABOUT_BYTES = 1 << 16, /* a longer description is refused */
	PLUG_MAX_PARAMS = 32,
	PLUG_MAX_COLUMNS = 32,
	PLUG_MAX_FILES = 256,
	PLUG_OWN_FIELDS = 2, /* timeout, audit */
};

/* What its answers hold beside a ranking. */
enum plug_says {
	PLUG_SAYS_FLAGS = 1,    /* some links are accused */
	PLUG_SAYS_BLAMES = 2,   /* a link for each flow */
	PLUG_SAYS_SWITCHES = 4, /* ids from n_links on are switches */
};

/* Head of the parameters of any of them; its own follow, 8 bytes each, as
 * union culprit_value of algos/plugin.h. */
struct plug_params {
	struct plug *plug;
	double timeout_s; /* for a window */
	uint32_t audit;   /* ask twice about one window of so many; 0: never */
};

/* Bits of `needs` and of `says` by their words, and as a library has them in a
 * version of its own (algos/plugin.h). */
struct plug_word {
	const char *word; /* NULL behind the last */
	unsigned bit;     /* of enum obs_part, or of enum plug_says */
	uint64_t abi;
};
extern const struct plug_word plug_about_needs[], plug_about_says[];

struct plug_about {
	char name[32], doc[256], paper[256];
	unsigned needs; /* of enum obs_part */
	unsigned says;  /* of enum plug_says */
	size_t n_columns;
	uint8_t column[PLUG_MAX_COLUMNS];
	const char *warns; /* of what it imports, in TEXT; NULL: nothing */
	size_t n_files;
	const char *file[PLUG_MAX_FILES]; /* in TEXT */
	size_t n_params;                  /* its own */
	/* Points into TEXT, and ends with a nameless entry. */
	struct sim_field field[PLUG_OWN_FIELDS + PLUG_MAX_PARAMS + 1];
	size_t params_size;
	char *text; /* owned; cut into words */
};

/* Read N bytes into A, to be freed whatever is returned; it must stay where it
 * is. Errors SIM_EINVAL with the line's number, SIM_ENOMEM. */
int plug_about_read(struct plug_about *a, const char *bytes, size_t n,
    struct sim_err *e);
void plug_about_free(struct plug_about *a);

#endif
