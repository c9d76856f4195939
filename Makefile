# culprit -- fault localisation in Clos networks, simulated and scored.
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   make deps         install what is missing (apt; sudo when not root)
#   make              build build/culprit
#   make quickstart   deps, build, a small sweep, a plot in the terminal
#   make check        deps, build, every test and gate; what CI runs
#   make figures      full sweeps -> results/out -> plots/out  [FIG='vigil_*']
#   make accuracy     the detection-accuracy gates alone
#   make bench        speed and memory, as ratios measured in one run
#   make lint         cppcheck, clang-format on changed files, spelling of heads
#   make fuzz         fuzz what reads outside input     [FUZZ_SECONDS=30]
#   make install      DESTDIR= PREFIX=/usr/local
#   make map          one line a file: where to find what
#   make clean        remove build trees (results and figures stay)
#
#   SAN=1 builds in build-san/ with ASan and UBSan; V=1 shows the commands.

.DEFAULT_GOAL := all
PREFIX ?= /usr/local
FIG    ?= *
J      ?= $(shell nproc)
, := ,
LAYERS := sim topo models algos results experiments
B      := build$(if $(SAN),-san)
Q      := $(if $(V),,@)
CC     ?= cc

DEPS  := gcc make pkg-config libgsl-dev libigraph-dev libglpk-dev \
	libhdf5-dev libyaml-dev librandom123-dev libcmocka-dev \
	gnuplot-nox fonts-dejavu-core hdf5-tools python3-h5py python3-xarray \
	python3-h5netcdf libxml2-utils valgrind
PKGS  := gsl igraph hdf5-serial yaml-0.1

# Expanded only when something is compiled, after `deps` has run.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PKGS) \
	| sed 's/-I\//-isystem \//g'))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PKGS)))$(PKG_LIBS)

WARN   := -Wall -Wextra -Wpedantic -Wshadow -Wpointer-arith -Wvla \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wwrite-strings -Wundef -Wformat=2 -Werror
OPT    := $(if $(SAN),-O1 -fno-omit-frame-pointer,-O2)
SANF   := $(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=all)
CFLAGS ?= -g
override CFLAGS += -std=gnu17 $(OPT) $(WARN) $(SANF) -ffp-contract=off \
	-fno-math-errno -ffile-prefix-map=$(CURDIR)=. -MMD -MP -I. \
	-D_GNU_SOURCE
LIBS    = $(PKG_LIBS) -lhdf5_hl -lglpk -lm

SRC  := $(foreach d,$(LAYERS),$(wildcard $d/*.c))
MAIN := experiments/main.c
OBJ  := $(patsubst %.c,$B/%.o,$(filter-out $(MAIN),$(SRC)))
TEST_SRC := $(wildcard tests/*_test.c)
TEST_LIB := $(filter-out $(TEST_SRC) $(wildcard tests/bench*.c),$(wildcard tests/*.c))
TESTS    := $(TEST_SRC:%.c=$B/%)

all: $B/culprit

$B/culprit: $B/experiments/main.o $B/libculprit.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(SANF) -o $@ $^ $(LIBS)

$B/libculprit.a: $(OBJ)
	@echo "  AR    $@"
	$(Q)rm -f $@ && ar rcsD $@ $^

$B/%.o: %.c
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(CC) $(CFLAGS) $(PKG_CFLAGS) -c $< -o $@

# The kernels' plain loops are written for the vectoriser.
$B/models/bulk_kernel.o: override CFLAGS += $(if $(SAN),,-O3)
# What made a result. The commit is that of this folder, not of one around it.
$B/commit.txt: FORCE
	@mkdir -p $B; c=$$(git --git-dir=.git describe --always --dirty \
	    --abbrev=12 2>/dev/null || echo unknown); \
	[ "$$c" = "$$(cat $@ 2>/dev/null)" ] || echo "$$c" >$@

$B/results/provenance.o: $B/commit.txt
$B/results/provenance.o: override CFLAGS += \
	-DCULPRIT_COMMIT='"$(shell cat $B/commit.txt)"' \
	-DCULPRIT_HDF5='"$(shell pkg-config --modversion hdf5-serial)"' \
	-DCULPRIT_IGRAPH='"$(shell pkg-config --modversion igraph)"'

-include $(shell find $B -name '*.d' 2>/dev/null)

# --- tests -----------------------------------------------------------------
WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

$B/tests/%_test: $B/tests/%_test.o $(TEST_LIB:%.c=$B/%.o) $B/libculprit.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(WRAP) -o $@ $^ $(LIBS) -lcmocka

$B/tests/bench: $(patsubst %.c,$B/%.o,$(wildcard tests/bench*.c)) $B/tests/reference.o $B/libculprit.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(SANF) -o $@ $^ $(LIBS)

.SECONDARY:
.PHONY: all FORCE
