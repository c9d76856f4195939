#!/bin/bash
# tests/fuzz/seeds.sh -- good inputs that stand in the tree anyway, a line each.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/fuzz/seeds.sh NAME
# `make fuzz` starts from them, and `make check` replays them (cli/corpora.sh).
set -euo pipefail
cd "$(dirname "$0")/../.."
case $1 in
spec) compgen -G 'experiments/*.yaml'; compgen -G 'experiments/arena/*.yaml' ;;
claims) compgen -G 'results/expected/*.yaml' ;;
table) compgen -G 'results/expected/vigil_fig0*.tsv'; echo experiments/arena/tuned.tsv ;;
gates) compgen -G 'tests/accuracy/*.yaml' ;;
esac
