# plots/agents.gp -- what agents learn against one of their limits.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# All shares are of the flows that lost something, whether traced or not.
traced(row) = column("n_traced") / column("n_failed_flows")
full(row) = column("n_full_traces") / column("n_failed_flows")
hit(a) = column(a . ":accuracy_all") * column(a . ":accuracy_all_trials") \
    / column("runs") / column("n_failed_flows")
