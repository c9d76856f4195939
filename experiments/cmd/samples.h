/* experiments/cmd/samples.h -- what `culprit samples` can do: its subverbs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each has a file of its own, samples_NAME.c, as those of trace do.
 */
#ifndef EXPERIMENTS_CMD_SAMPLES_H
#define EXPERIMENTS_CMD_SAMPLES_H

int cmd_samples_run(int argc, char **argv);
int cmd_samples_record(int argc, char **argv);
int cmd_samples_bursts(int argc, char **argv);
int cmd_samples_rack(int argc, char **argv);
int cmd_samples_cause(int argc, char **argv);
int cmd_samples_show(int argc, char **argv);
int cmd_samples_import(int argc, char **argv);
int cmd_samples_verify(int argc, char **argv);
int cmd_samples_export(int argc, char **argv);
int cmd_samples_sketch(int argc, char **argv);
int cmd_samples_lab(int argc, char **argv);

#endif
