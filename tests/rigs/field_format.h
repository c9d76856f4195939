/* tests/rigs/field_format.h -- a field's value as text, to be read back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_FIELD_FORMAT_H
#define TESTS_FIELD_FORMAT_H

#include "sim/field.h"

/* Write the field's value as it would be written in flow YAML: a SIM_F_STR is
 * quoted where it must be, so sim_field_set() reads back every other type.
 * Returns the length as snprintf does. Doubles are written with the fewest
 * digits that read back equal. */
int field_format(const struct sim_field *f, const void *obj, char *buf,
    size_t size);

#endif
