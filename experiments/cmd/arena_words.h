/* experiments/cmd/arena_words.h -- lists of the arena's command line.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_ARENA_WORDS_H
#define EXPERIMENTS_CMD_ARENA_WORDS_H

#include <stddef.h>

#include "sim/err.h"

/* Where the word of a list ends: at a comma outside of brackets and quotes. */
char *cmd_arena_word_end(char *s);

/* Is NAME one of the words of LIST; NULL: any is. */
int cmd_arena_is_asked(const char *list, const char *name);

/* Each word of LIST must be one of the N of NAME. Errors SIM_EINVAL. */
int cmd_arena_check_words(const char *option, const char *list,
    const char *const *name, size_t n, struct sim_err *e);

#endif
