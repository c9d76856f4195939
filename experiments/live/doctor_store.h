/* experiments/live/doctor_store.h -- a collector's folder, looked at by a doctor.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_DOCTOR_STORE_H
#define EXPERIMENTS_LIVE_DOCTOR_STORE_H

#include "experiments/live/doctor.h"

/* Look at database FILE as it is at NOW_S, also while jobs write. Errors those of
 * res_sql_open() and of reading it. */
int xp_doctor_look_db(struct xp_doctor_db *b, const char *file, double now_s,
    struct sim_err *e);

/* Read the two newest files of DIR, also while a collector writes: a file that
 * has just been begun may lack what the one before has. Windows that ended before
 * SINCE_S count for nobody.
 * Errors SIM_EIO, SIM_ENOMEM. Cost O(bytes of two files). */
int xp_doctor_look(struct xp_doctor_store *s, const char *dir, double since_s,
    struct sim_err *e);

#endif
