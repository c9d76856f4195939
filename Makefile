# culprit -- fault localisation in Clos networks, simulated and scored.
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   make deps         install what is missing (apt; sudo when not root)
#   make              build build/culprit
#   make quickstart   deps, build, a small sweep, a plot in the terminal
#   make check        deps, build, every test and gate; what CI runs
#   make figures      full sweeps -> results/out -> plots/out  [FIG='vigil_*'];
#                     FIG='real_*' on real networks, as root, 12 minutes
#   make verify       the papers' claims against results/out, as a table
#   make expected     keep results/out as what `verify` expects   [FIG='vigil_*']
#   make arena        size m of it -> results/out/arena, what `verify` expects of
#                     it, and README's figure and answer: minutes
#   make check-real   networks of namespaces: as root, or where users may
#   make check-cluster  sweeps on a Slurm of this machine, which is started and
#                     ended: installs Slurm, as root, minutes
#   make check-browser  a report's page, used in a headless Chromium
#   make check-page   a collector's page, likewise: installs Chromium, a minute
#   make soak-real    the same with a loss of 0.1 %, for minutes
#   make accuracy     the detection-accuracy gates alone  [GATE=--fresh-seed]
#   make bench        speed and memory, as ratios measured in one run
#   make scale        size against cost: cells, hosts, probes -> plots/scale.tsv
#                     and .svg, a minute or two; SCALE=small without the largest
#   make lint         the gates, cppcheck, and clang-format on everything
#   make faults       each verb, each call that may fail failing once: an hour
#                     [FAULTS='--sample 100 --verbs run,table']; as root the
#                     lab and the recorder, too
#   make soak         250,000 schedules of each of four agents, what a loss of
#                     power leaves of 300 of each store, 1,000 worlds of
#                     controllers, a collector and 50 agents: minutes
#   make fuzz         fuzz what reads outside input, and add up how much was
#                     tried  [FUZZ_SECONDS=30 FUZZ="yaml spec"]
#   make mutate       small mistakes made on purpose, and which no test notices:
#                     hours  [N=150 SEED=1 FOLDER=sim MUTATE=--near], or the
#                     lines that no test comes to  [MUTATE=--unseen]
#   make unasked      lines of tests that ask something and are never run: a
#                     quarter of an hour
#   make install      DESTDIR= PREFIX=/usr/local; `uninstall` takes it away
#   make man          the manual pages -> build/man
#   make deb          a Debian package -> build/deb; `check-deb` tries it
#   make artifact     specs, results, figures, checksums -> build/*.tar.gz
#                     [FIG='vigil_*'] [SMOKE=1]; `culprit verify --archive`
#   make map          one line a file: where to find what
#   make help         these lines
#   make clean        remove build trees (results and figures stay)
#
#   SAN=1 builds in build-san/ with ASan and UBSan; V=1 shows the commands;
#   DEV=1 and CI=true make warnings errors. CC, CPPFLAGS, CFLAGS, LDFLAGS and
#   LDLIBS are yours: they come after the Makefile's own, and a change rebuilds.

# None of make's own rules is used, and trying each on each file that is included
# was four fifths of what make takes.
MAKEFLAGS += --no-builtin-rules

# Recipes and scripts sort, match and read numbers alike for everybody: in Turkish
# [a-z] has no i to sed, and awk takes 1.5 for 1.
export LC_ALL := C.UTF-8

.DEFAULT_GOAL := all
PREFIX ?= /usr/local
FIG    ?= *
J      ?= $(shell nproc)
, := ,
LAYERS := sim topo models algos results experiments
B      := build$(if $(FUZZING),-fuzz,$(if $(SAN),-san))
Q      := $(if $(V),,@)
CC     ?= cc

DEPS  := gcc g++ make pkg-config libgsl-dev libigraph-dev libglpk-dev \
	libhdf5-dev libyaml-dev librandom123-dev libcmocka-dev libmnl-dev \
	gnuplot-nox fonts-dejavu-core hdf5-tools python3-h5py python3-xarray \
	python3-h5netcdf python3-netcdf4 python3-jsonschema python3-yaml \
	python3-numpy \
	libxml2-utils valgrind \
	libmicrohttpd-dev libcurl4-openssl-dev libgnutls28-dev curl \
	libbpf-dev clang llvm nftables mandoc man-db libpcap-dev \
	libjansson-dev zlib1g-dev libsqlite3-dev
# Real networks take libmnl; without it models/netns/none.c says so.
MNL   := $(shell pkg-config --exists libmnl && echo libmnl)
UNFIT := $(if $(MNL),models/netns/none.c,models/netns/link.c \
	models/netns/net.c tests/real/netns_link_test.c)
# Servers take libmicrohttpd; without it experiments/live/mhd_none.c says so.
MHD   := $(shell pkg-config --exists libmicrohttpd && echo libmicrohttpd)
UNFIT += $(if $(MHD),experiments/live/mhd_none.c,experiments/live/mhd.c \
	experiments/live/mhd_run.c experiments/live/mhd_conn.c \
	experiments/live/mhd_head.c tests/experiments/live/mhd_conn_test.c)
# Faults by eBPF take libbpf, and clang and llvm-strip to build; without them
# models/netns/{ebpf,mirror,sampler,phantom,mux}_none.c say so.
BPF   := $(shell pkg-config --exists libbpf && command -v clang >/dev/null \
	&& command -v llvm-strip >/dev/null && echo libbpf)
UNFIT += $(if $(BPF),models/netns/ebpf_none.c models/netns/mirror_none.c \
	models/netns/sampler_none.c models/netns/phantom_none.c,\
	models/netns/ebpf.c models/netns/ebpf_read.c models/netns/program.c \
	models/netns/mirror.c models/netns/mirror_ring.c \
	models/netns/sampler.c models/netns/phantom.c \
	tests/real/netns_ebpf_test.c tests/real/netns_mirror_test.c \
	tests/real/netns_sampler_test.c tests/real/netns_phantom_test.c)
UNFIT += $(if $(and $(BPF),$(MNL)),models/netns/mux_none.c,\
	models/netns/mux.c tests/real/netns_mux_test.c)
# The live agent takes libcurl; without, experiments/live/fetch_none.c says so.
CURL  := $(shell pkg-config --exists libcurl && echo libcurl)
UNFIT += $(if $(CURL),experiments/live/fetch_none.c \
	experiments/live/call_none.c,experiments/live/fetch.c \
	experiments/live/call.c experiments/live/contact.c \
	experiments/live/fetch_whom.c experiments/live/url.c \
	tests/experiments/live/url_test.c tests/experiments/live/world_test.c)
# Certificates and signatures take GnuTLS; without,
# experiments/live/{ca,identity,list_sign}_none.c say so.
TLS   := $(shell pkg-config --exists gnutls && echo gnutls)
UNFIT += $(if $(TLS),experiments/live/ca_none.c \
	experiments/live/identity_none.c experiments/live/list_sign_none.c \
	tests/rigs/live_world_sign_none.c,\
	experiments/live/ca.c experiments/live/identity.c \
	experiments/live/list_sign.c experiments/live/tls.c \
	tests/rigs/live_world_sign.c)
# Daemons' filter of system calls is told of a machine's registers; on others,
# experiments/live/seccomp_none.c says so.
SECCOMP := $(filter x86_64 aarch64,$(firstword $(subst -, ,$(shell $(CC) \
	-dumpmachine))))
UNFIT += $(if $(SECCOMP),experiments/live/seccomp_none.c,\
	experiments/live/seccomp.c) \
	$(patsubst %,experiments/live/seccomp_%.c,$(filter-out $(SECCOMP),\
	x86_64 aarch64))
# Captures take libpcap; without, experiments/everflow/capture_none.c says so.
PCAP  := $(shell pkg-config --exists libpcap && echo libpcap)
UNFIT += $(if $(PCAP),experiments/everflow/capture_none.c,\
	experiments/everflow/capture.c)
# Published samples take jansson and zlib; without them
# experiments/millisampler/public_none.c says so.
JSON  := $(shell pkg-config --exists jansson zlib && echo jansson zlib)
UNFIT += $(if $(JSON),experiments/millisampler/public_none.c,\
	experiments/millisampler/public_read.c \
	experiments/millisampler/public_write.c)
# Stores of samples are packed by zlib, and traces may be; without it,
# results/deflate_none.c and experiments/telemetry/flock_bytes_none.c.
ZLIB  := $(shell pkg-config --exists zlib && echo zlib)
UNFIT += $(if $(ZLIB),results/deflate_none.c \
	experiments/telemetry/flock_bytes_none.c,results/deflate.c \
	experiments/telemetry/flock_bytes.c)
# What jobs find goes into SQLite; without it results/sql/sql_none.c says so.
SQL   := $(shell pkg-config --exists sqlite3 && echo sqlite3)
UNFIT += $(if $(SQL),results/sql/sql_none.c,results/sql/sql.c \
	results/sql/sql_lock.c results/sql/sql_trust.c tests/experiments/power_sql_test.c \
	results/sql/sql_upkeep.c)
PKGS  := gsl igraph hdf5-serial yaml-0.1 $(MNL) $(MHD) $(BPF) $(CURL) $(TLS) \
	$(PCAP) $(JSON) $(ZLIB) $(SQL)

# Expanded only when something is compiled, after `deps` has run.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PKGS) \
	| sed 's/-I\//-isystem \//g'))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PKGS)))$(PKG_LIBS)

STRICT := $(if $(filter-out 0 false,$(CI) $(DEV)),-Werror)
WARN   := -Wall -Wextra -Wpedantic -Wshadow -Wpointer-arith -Wvla \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wwrite-strings -Wundef -Wformat=2 $(STRICT) $(if $(FUZZING),-w)
SLOW   := $(SAN)$(FUZZING)
OPT    := $(if $(SLOW),-O1 -fno-omit-frame-pointer,-O2)
SANF   := $(if $(SLOW),-fsanitize=address$(,)undefined -fno-sanitize-recover=all) \
	$(if $(FUZZING),-fsanitize=fuzzer-no-link)
# What CI builds is looked at by nobody's debugger: lines are enough, in a tenth
# less time. The code is the same.
SYMS   := -g$(if $(filter-out 0 false,$(CI)),1)
OURS    = -std=gnu17 $(SYMS) $(OPT) $(WARN) $(SANF) -ffile-prefix-map='$(CURDIR)'=. \
	-MMD -MP -I. -I$B -D_GNU_SOURCE
# A results file has the same bytes wherever it was made, so what decides its
# numbers is not the builder's to choose: it stands after CFLAGS.
NUMBERS := -fno-fast-math -ffp-contract=off -fno-math-errno
FLAGS   = $(CPPFLAGS) $(CFLAGS) $(NUMBERS)
# Libraries that are loaded late (sim/late.h) are only linked with what calls
# them in other ways, as some tests do.
LINK    = $(CC) $(SANF) $(LINKER) -Wl,--as-needed $(LDFLAGS)
LIBS    = $(PKG_LIBS) -lhdf5_hl -lglpk -ldl -lm $(LDLIBS)
LATE   := $(wildcard results/hdf5.late topo/igraph.late \
	$(if $(MHD),experiments/live/microhttpd.late) \
	$(if $(CURL),experiments/live/curl.late) \
	$(if $(TLS),experiments/live/gnutls.late) \
	$(if $(PCAP),experiments/everflow/pcap.late) \
	$(if $(SQL),results/sql/sqlite3.late))

SRC  := $(filter-out $(UNFIT) models/bpf/% experiments/plug/mine.c,$(sort $(shell \
	find $(LAYERS) -name '*.c')))
MAIN := experiments/main.c
OBJ  := $(patsubst %.c,$B/%.o,$(filter-out $(MAIN),$(SRC)))
TEST_SRC := $(filter-out $(UNFIT),tests/golden_test.c $(sort $(shell \
	find $(LAYERS:%=tests/%) -name '*_test.c')))
# Stand-ins for the kernel's calls are not for whoever wraps the same ones.
KERNELS  := tests/rigs/power.c tests/rigs/frail.c
TEST_LIB := $(filter-out $(UNFIT) $(KERNELS),tests/test.c \
	$(wildcard tests/rigs/*.c))
TESTS    := $(TEST_SRC:%.c=$B/%)
REAL     := $(patsubst %.c,$B/%,$(filter-out $(UNFIT),\
	$(wildcard tests/real/*_test.c)))

all: $B/culprit $(patsubst algos/%,$B/include/culprit/%,\
	$(wildcard algos/plugin.h))

# For plug-ins, as `install` has it.
$B/include/culprit/%: algos/%
	$(Q)install -D -m 644 $< $@

$B/culprit: $B/experiments/main.o $B/libculprit.a
	@echo "  LINK  $@"
	$(Q)$(LINK) -o $@ $^ $(LIBS)

$B/libculprit.a: $(OBJ) $B/objects.txt
	@echo "  AR    $@"
	$(Q)rm -f $@ && ar rcsD $@ $(OBJ)

$B/%.o: %.c $B/flags.txt | $(LATE:%=$B/%.h)
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(CC) $(OURS) $(PKG_CFLAGS) $(FLAGS) -c $< -o $@

# The kernels' plain loops are written for the vectoriser.
$B/models/bulk/kernel.o $B/algos/sieve/sieve_lanes.o $B/topo/alike.o: \
    OPT := $(if $(SLOW),$(OPT),-O3)

$(LATE:%=$B/%.h): $B/%.h: % sim/late.sh $B/flags.txt
	@mkdir -p $(@D); echo "  GEN   $@"
	$(Q)sim/late.sh $< '$(CC)' $(filter -L%,$(PKG_LIBS)) >$@.new && \
	    mv $@.new $@

# Needs what the program loads late, for tools that look for what it needs.
$B/late.so: $(LATE) $B/flags.txt
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) -shared -o $@ -x c /dev/null -Wl,--no-undefined,--no-as-needed \
	    $(patsubst %,-Wl$(,)-u$(,)%,$(shell sed -n 's/^use //p' $(LATE))) \
	    $(filter -L%,$(PKG_LIBS)) $(shell sed -n 's/^link //p' $(LATE))

# A stamp is written only when what it says has changed, and what depends on it
# is made anew then. With `clean` among the goals all else is made after it.
STAMP = @mkdir -p $(@D); $1 >$@.new; cmp -s $@.new $@ || cp $@.new $@
STAMPS := $(addprefix $B/,flags.txt objects.txt commit.txt date.txt)
$(STAMPS) deps: | $(filter clean,$(MAKECMDGOALS))
$(STAMPS): FORCE

$B/flags.txt: SAYS := $(CC) $(OURS) $(FLAGS) $(LDFLAGS) $(LDLIBS) $(PKGS)
$B/objects.txt: SAYS := $(OBJ)
$B/flags.txt $B/objects.txt:
	$(call STAMP,printf '%s\n' '$(subst ','\'',$(SAYS))')

# What made a result. The commit is that of this folder, not of one around it.
$B/commit.txt:
	$(call STAMP,{ git --git-dir=.git describe --always --dirty \
	    --abbrev=12 2>/dev/null || sed -n \
	    's/^\([0-9a-f]\{12\}\)[0-9a-f]*\([^ ]*\) .*/\1\2/p' \
	    .packaging/commit | grep . || echo unknown; })

# When that was, in seconds; pages and figures are dated by it and by no clock.
$B/date.txt:
	$(call STAMP,{ echo "$$SOURCE_DATE_EPOCH"; \
	    git --git-dir=.git log -1 --format=%ct; \
	    cut -s -d ' ' -f 2 .packaging/commit; echo 0; } 2>/dev/null | \
	    grep -m 1 '^[0-9]')
$B/experiments/main.o: $B/date.txt
$B/experiments/main.o: OURS += -DCULPRIT_EPOCH=$(shell cat $B/date.txt)

# Which program this is: a sum over all machine code and constants, without
# names of lines and files, so that it changes when the program does and not
# with a comment, a commit or a folder.
$B/build.txt: $(filter-out $B/results/provenance.o,$(OBJ)) \
	results/provenance.c $B/flags.txt
	$(Q)rm -f $@.a && ar rcD $@.a $(filter %.o,$^) && strip -gD $@.a
	$(call STAMP,{ cat $@.a results/provenance.c; \
	    echo '$(subst ','\'',$(LDFLAGS) $(LIBS))'; } \
	    | sha256sum | cut -c 1-16)
	$(Q)rm -f $@.a

$B/results/provenance.o: $B/commit.txt $B/build.txt
$B/results/provenance.o: private OURS += \
	-DCULPRIT_COMMIT='"$(shell cat $B/commit.txt)"' \
	-DCULPRIT_BUILD='"$(shell cat $B/build.txt)"'

# Programs for the kernel are a part of this one. clang looks for the headers of a
# machine that is none unless told where those of this one are.
$B/models/bpf/%.bpf.o: models/bpf/%.bpf.c $(wildcard models/bpf/*.h) \
	models/obs_match_row.h topo/route.h $B/flags.txt
	@mkdir -p $(@D); echo "  BPF   $<"
	$(Q)clang -target bpf -mcpu=v3 -g -O2 -ffreestanding -Wall -Wextra \
	    $(STRICT) -I. -ffile-prefix-map='$(CURDIR)'=. \
	    -idirafter /usr/include/$(shell $(CC) -print-multiarch) -c $< -o $@
	$(Q)llvm-strip -g $@

$B/models/netns/ebpf.o: $B/models/bpf/lab.bpf.o
$B/models/netns/ebpf.o: OURS += -DNETNS_EBPF_OBJECT='"$B/models/bpf/lab.bpf.o"'
$B/models/netns/mirror.o: $B/models/bpf/mirror.bpf.o
$B/models/netns/mirror.o: OURS += \
	-DNETNS_MIRROR_OBJECT='"$B/models/bpf/mirror.bpf.o"'
$B/models/netns/sampler.o: $B/models/bpf/sampler.bpf.o
$B/models/netns/sampler.o: OURS += \
	-DNETNS_SAMPLER_OBJECT='"$B/models/bpf/sampler.bpf.o"'
$B/models/netns/phantom.o: $B/models/bpf/phantom.bpf.o
$B/models/netns/phantom.o: OURS += \
	-DNETNS_PHANTOM_OBJECT='"$B/models/bpf/phantom.bpf.o"'
$B/models/netns/mux.o: $B/models/bpf/mux.bpf.o
$B/models/netns/mux.o: OURS += -DNETNS_MUX_OBJECT='"$B/models/bpf/mux.bpf.o"'

# The schema is a text of the program: each line a string.
$B/algos/pingmesh/pinglist.xsd.h: algos/pingmesh/pinglist.xsd Makefile $B/flags.txt
	@mkdir -p $(@D); echo "  GEN   $@"
	$(Q)sed -e 's/[\\"]/\\&/g; s/.*/"&\\n"/' \
	    -e '1s/^/static const char schema[] = /; $$s/$$/;/' $< >$@

HAS_SCHEMA := $B/experiments/cmd/pinglist.o $B/experiments/live/serve.o
$(HAS_SCHEMA): $B/algos/pingmesh/pinglist.xsd.h

# So are what a report is made of: an array of lines, as a compiler need not
# take a string of more than 4,095 bytes.
LINES := $(wildcard experiments/report/*.css experiments/report/*.js)
TABLES := $(wildcard results/sql/schema*.sql)
$(LINES:%=$B/%.h) $(TABLES:%=$B/%.h): $B/%.h: % Makefile
	@mkdir -p $(@D); echo "  GEN   $@"
	$(Q)sed -e 's/[\\"]/\\&/g; s/.*/"&\\n",/; $$s/$$/\nNULL/' $< >$@

$B/experiments/report/draw.o: $B/experiments/report/cell.css.h
$B/experiments/report/page.o: $(LINES:%=$B/%.h)
$B/results/sql/sql_upkeep.o: $(TABLES:%=$B/%.h)

# The collector's page is one file, which is a part of the program.
LIVE_PAGE := experiments/live/page/page.css $(patsubst %, \
	experiments/live/page/%.js,fresh draw heat page)
$B/experiments/live/page/page.html: experiments/live/page/make.sh \
	experiments/live/page/page.html $(LIVE_PAGE)
	@mkdir -p $(@D); echo "  GEN   $@"
	$(Q)experiments/live/page/make.sh $@ $(LIVE_PAGE)

$B/experiments/live/page/page.o: $B/experiments/live/page/page.html
$B/experiments/live/page/page.o: OURS += \
	-DLIVE_PAGE_FILE='"$B/experiments/live/page/page.html"'

-include $(shell find $B -path $B/deb -prune -o -name '*.d' -print 2>/dev/null)

# --- tests -----------------------------------------------------------------
WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free

# Deeds on files are noted by tests of what a loss of power leaves.
POWER := $(addprefix $B/tests/experiments/,power_test power_sql_test)
$(POWER): $B/tests/rigs/power.o
$(POWER): WRAP += $(foreach c,open openat close write pwrite ftruncate fsync \
	fdatasync rename link unlink unlinkat mkdir,-Wl$(,)--wrap=$c)

# And they fail for those of files.
FRAIL := $(addprefix $B/tests/results/,file_test file_draft_test)
$(FRAIL): $B/tests/rigs/frail.o
$(FRAIL): WRAP += $(foreach c,open close write read fsync rename link realpath,\
	-Wl$(,)--wrap=$c)

# A process that makes windows dies between any two calls on its database.
$B/tests/experiments/live/windows_test: WRAP += $(foreach c,run_with begin commit \
	shrink,-Wl$(,)--wrap=res_sql_$c)

# Tests are some 400 programs, which gold links in half the time of ld. The program
# itself is linked as ever, as all is where the compiler has no gold. What is to be
# wrapped gold looks for in shared libraries too, so it has to be there always.
GOLD = $(eval GOLD := $$(if $(SLOW),,$$(shell $(CC) -fuse-ld=gold -Wl,--version \
	2>/dev/null | grep -q '^GNU gold' && \
	echo -fuse-ld=gold -Wl,-u,__wrap_malloc)))$(GOLD)
$B/tests/%_test $B/tests/fuzz/%_replay: private LINKER = $(GOLD)

# What tests share, of which each links what it calls: linking all with all
# took as long as compiling did. Of two that define one name a test would get
# whichever comes first.
$B/tests/helpers.a: $(TEST_LIB:%.c=$B/%.o)
	@echo "  AR    $@"
	$(Q)rm -f $@ && ar rcsD $@ $^
	@nm -g --defined-only $@ | awk '$$2 ~ /[A-Z]/ && $$2 !~ /[WV]/ && \
	    seen[$$3]++ { print "tests/rigs: " $$3 " is defined twice."; rc = 1 } \
	    END { exit rc }' || { rm -f $@; exit 1; }

# Most of a test's time is the library's, so what is compiled here and run once
# is not optimised: that costs more than it saves.
$B/tests/%_test.o: OPT := $(if $(SLOW),$(OPT),-O0)
# But these calculate for seconds themselves.
CALCULATING := algos/pingmesh/hop_trace_rank algos/pingmesh/pairs \
	algos/schedules algos/everflow/debug_net models/connects/connects
$(CALCULATING:%=$B/tests/%_test.o): OPT := $(if $(SLOW),$(OPT),-O2)

$B/tests/%_test: $B/tests/%_test.o $B/tests/helpers.a $B/libculprit.a
	@echo "  LINK  $@"
	$(Q)$(LINK) $(WRAP) -o $@ $(filter %.o,$^) \
	    -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	    $(LIBS) -lcmocka

$(REAL): $(addprefix $B/tests/real/,lab.o faulty.o frames.o sending.o \
	tun_lab.o)

$B/tests/bench: $(patsubst %.c,$B/%.o,$(wildcard tests/speed/*.c)) \
	$(addprefix $B/tests/rigs/,reference.o packets.o copies.o everflow_map.o \
	rack_packets.o) \
	$B/libculprit.a
	@echo "  LINK  $@"
	$(Q)$(LINK) -o $@ $^ $(LIBS)

$B/tests/bench: | $B/culprit
$B/tests/bench $B/tests/experiments/plug/plug_test: | $B/tests/mine.so
$B/tests/experiments/plug/plug_test.o: OURS += \
	-DTEST_MINE='"$(CURDIR)/$B/tests/mine.so"'
$B/tests/speed/plug.o: OURS += -DBENCH_ROOT='"$(CURDIR)"' \
	-DBENCH_MINE='"$B/tests/mine.so"'
$B/tests/mine.so: experiments/plug/mine.c $B/include/culprit/plugin.h
	@mkdir -p $(@D); echo "  CC    $@"
	$(Q)$(CC) -O2 -shared -fPIC -I$B/include -o $@ $<

# --- what people type ------------------------------------------------------
deps:
	@tests/deps.sh $(DEPS)

quickstart: deps
	@$(MAKE) --no-print-directory -j$J all
	@$B/culprit run vigil_fig05a --smoke --force -j $J \
	    -o results/out/smoke/vigil_fig05a.h5
	@$B/culprit plot --term \
	    results/out/smoke/vigil_fig05a.h5
	@$B/culprit plot -o plots/out/smoke results/out/smoke/vigil_fig05a.h5

# What each step takes of a CPU is told by `make bench`. Lines with $(MAKE) are run
# by `make -n` too, which notes nothing.
NOTE = $(if $(findstring n,$(firstword -$(MAKEFLAGS))),,&& \
	times >$B/tests/check-$1.times)
# Many tests wait for what they began, so there are two more of them than CPUs.
check: deps
	@mkdir -p $B/tests && find $B/tests -name '*.times' -delete
	@$(MAKE) --no-print-directory -j$J tests-built $(call NOTE,build)
	@$(MAKE) --no-print-directory $(GATES) $(call NOTE,gates)
	@tests/run.sh $B $$(($J + 2))
	@$B/culprit gate -j $J tests/accuracy/*.yaml $(call NOTE,accuracy)
	@tests/cpu.sh $B >$B/tests/cpu.tsv.new && \
	    mv $B/tests/cpu.tsv.new $B/tests/cpu.tsv

check-real: deps
	@$(MAKE) --no-print-directory -j$J real-built
	@tests/real/run.sh $B

# Nor is Slurm, which is started for it, and not as a service.
check-cluster:
	@tests/deps.sh $(DEPS) slurm-wlm munge parallel openmpi-bin
	@$(MAKE) --no-print-directory -j$J all
	@tests/cluster/run.sh $B

# A browser is too large to be asked for by `check`.
check-browser:
	@tests/deps.sh $(DEPS) chromium
	@$(MAKE) --no-print-directory -j$J all
	@tests/browser/run.sh $B

check-page:
	@tests/deps.sh $(DEPS) chromium
	@$(MAKE) --no-print-directory -j$J all
	@tests/browser/live.sh $B

soak-real: deps
	@$(MAKE) --no-print-directory -j$J all
	@CULPRIT='$(CURDIR)'/$B/culprit BUILD='$(CURDIR)'/$B SOAK=1 \
	    bash tests/real/lab_run.sh

verify: all
	@$B/culprit verify

# This and `arena` write what is tracked: tables of results, and what claims
# come to by them. Those of real networks are written by name alone.
EXPECTED = $(filter $(FIGURES),$(basename $(notdir \
	$(wildcard results/expected/*.tsv))))
expected: all
	@$B/culprit verify --write $(EXPECTED)
	@$B/culprit verify >$B/verify.txt; code=$$?; cat $B/verify.txt; \
	if grep -q ' 0 without results' $B/verify.txt; then \
	    cp $B/verify.txt results/expected/verify.txt; \
	else \
	    echo "results/expected/verify.txt is of all figures, and stays." >&2; \
	fi; exit $$code

# The other one: how all algorithms stand, which the README shows.
arena: all
	@$B/culprit arena --size m --plot --force -j $J
	@$B/culprit verify --write arena
	@cp results/out/arena/arena_front.svg plots/arena.svg
	@tests/gates/standing.sh . --write

# GATE='--fresh-seed', '--junit gates.xml', ...
accuracy: deps
	@$(MAKE) --no-print-directory -j$J all
	@$B/culprit gate -j $J $(GATE) tests/accuracy/*.yaml

bench: deps
	@$(MAKE) --no-print-directory -j$J $B/tests/bench
	@$B/tests/bench

# What is tracked says of which build and machine it is; a part of it is not.
scale: deps
	@$(MAKE) --no-print-directory -j$J all
	@mkdir -p plots/out
	@tests/scale.sh $B $(SCALE) >plots/out/scale.tsv
	@$(if $(SCALE),,cp plots/out/scale.tsv plots/scale.tsv)
	@cd plots && gnuplot -c scale.gp $(if $(SCALE),out/)scale.tsv \
	    $(if $(SCALE),out/)scale.svg
	@column -t -s "$$(printf '\t')" plots/out/scale.tsv

# MUTATE='--near', ...
N    ?= 150
SEED ?= 1
mutate: deps
	@tests/mutate.py -n $N --seed $(SEED) $(FOLDER:%=--folder %) $(MUTATE)

# As they are known to pass, it matters little that some don't beside gcc's counters,
# which open and write files, too. Counts of an earlier run would be added to.
unasked: deps
	@$(MAKE) --no-print-directory -j$J B=build-unasked CFLAGS='-O1 --coverage' \
	    LDFLAGS=--coverage tests-built
	@find build-unasked -name '*.gcda' -delete
	@tests/run.sh build-unasked $J '_test$$' >build-unasked/run.log || :
	@tests/unasked.py build-unasked

# The Nth allocation, read, write, fsync, rename, fork, pipe, socket, namespace or eBPF
# of a verb fails, for each N or, where these are many, as many as take 10 s; FAULTS= has all.
# `check` tries a few (tests/cli/faults.sh). So does each allocation of what
# tests call, of which `check` fails the first and the last turn of a loop.
$B/tests/faults.so: tests/faults/faults.c $B/flags.txt
	@mkdir -p $(@D); echo "  CC    $@"
	$(Q)$(CC) -std=gnu17 -O2 $(WARN) -D_GNU_SOURCE -shared -fPIC -o $@ $< -ldl

ALLOCATING = $(patsubst tests/%.c,%,$(shell \
	grep -rl --include='*_test.c' test_each_alloc_fails \
	$(LAYERS:%=tests/%)))
FAULTS ?= --seconds 10
REAL_FAULTS = $(filter 0,$(shell id -u))
faults: all $B/tests/faults.so
	@tests/faults/run.py $B --jobs $J --keep tests/faults/tried.tsv $(FAULTS) \
	    $(if $(REAL_FAULTS),--real)
	@$(MAKE) --no-print-directory -j$J $(ALLOCATING:%=$B/tests/%)
	@TEST_ALLOCS=all tests/run.sh $B $J \
	    "^($$(echo $(ALLOCATING) | tr ' ' '|'))$$"

soak: $B/tests/algos/schedules_test $B/tests/experiments/power_test \
	$(filter $B/tests/experiments/live/world_test,$(TESTS)) \
	$(filter $B/tests/experiments/power_sql_test,$(TESTS))
	@SCHEDULES=250000 $<
	@POWER_SCHEDULES=300 $(word 2,$^)
	@$(patsubst %,WORLDS=1000 %,$(filter %/live/world_test,$^))
	@$(patsubst %,POWER_SQL_SCHEDULES=5 %,$(filter %/power_sql_test,$^))

# Those of real networks take their time, so they are drawn by name alone.
FIGURES = $(basename $(notdir $(if $(filter-out *,$(FIG)), \
	$(wildcard $(FIG:%=experiments/%.yaml)), $(filter-out \
	experiments/real_%,$(wildcard experiments/*.yaml)))))
figures: deps
	@$(MAKE) --no-print-directory -j$J all
	@test -n "$(FIGURES)" || { echo "no figure matches $(FIG)" >&2; exit 2; }
	@plots/figures.sh $B $J $(FIGURES)

# In a tree of its own all of the library is instrumented, and a fuzzer has as
# much of it as it links. FUZZ='yaml spec' are some of them, FUZZ_OPTIONS
# libFuzzer's, as -fork=2.
FUZZ_SECONDS ?= 30
FUZZERS := $(sort $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c)))
FUZZ ?= $(FUZZERS)
# What clang's fuzzer is of is recommended by it alone, and asked for here.
fuzz:
	@tests/deps.sh $(DEPS) libclang-rt-dev
	@$(MAKE) --no-print-directory -j$J FUZZING=1 CC=clang \
	    $(FUZZ:%=build-fuzz/tests/fuzz/%_fuzz)
	@tests/fuzz/run.sh build-fuzz $(FUZZ_SECONDS) $(FUZZ)

# Tables of these are in memory; others read true files.
IN_MEMORY := jobs epoch recorded
$(foreach x,fuzz replay,$(IN_MEMORY:%=$B/tests/fuzz/%_$x)): \
	$B/tests/fuzz/h5_memory.o
# These are specs, and nothing that they name is opened.
$(foreach x,fuzz replay,$(patsubst %,$B/tests/fuzz/%_$x,spec gates)): \
	$B/tests/fuzz/spec_input.o
# Texts, which a mutator knows to be of lines.
OF_LINES := spec gates claims table
$(OF_LINES:%=$B/tests/fuzz/%_fuzz): $B/tests/fuzz/lines.o

# Calls that a target has a say in.
FUZZ_WRAP_spec := sim_input_open sim_yaml_copy xp_topology_open plug_set_find
FUZZ_WRAP_gates := $(FUZZ_WRAP_spec)
FUZZ_WRAP_slurm := xp_program_run
FUZZ_WRAP = $(WRAP) $(patsubst %,-Wl$(,)--wrap=%,$(FUZZ_WRAP_$(notdir $*)))

$B/tests/fuzz/%_fuzz: $B/tests/fuzz/%_fuzz.o $B/tests/helpers.a $B/libculprit.a
	@echo "  LINK  $@"
	$(Q)$(LINK) -fsanitize=fuzzer $(FUZZ_WRAP) -o $@ $(filter %.o,$^) \
	    -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	    $(LIBS) -lcmocka

# Each fuzzer as a plain program, which `check` runs over its corpus.
REPLAYS := $(FUZZERS:%=$B/tests/fuzz/%_replay)
$(REPLAYS): %_replay: %_fuzz.o $B/tests/fuzz/standalone.o \
	$B/tests/helpers.a $B/libculprit.a
	@echo "  LINK  $@"
	$(Q)$(LINK) $(FUZZ_WRAP) -o $@ $(filter %.o,$^) \
	    -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	    $(LIBS) -lcmocka

# What can be built is known when packages are there, so programs that depend on
# that are named by the make after `deps`, not by the one that began before it.
tests-built: all $(TESTS) $(REPLAYS) $B/tests/faults.so
real-built: all $(REAL)

include $(wildcard .packaging/package.mk)

help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' Makefile

# A .c with a header of its own is told by the header.
map:
	@for d in $(LAYERS) plots tests; do \
	    find $$d \( -name out -o -path 'tests/fuzz/*/*' \) -prune -o \
		\( -name '*.[ch]' -o -name '*.yaml' -o -name '*.gp' \
		-o -name '*.sh' \) -printf '%h %f\n' | sort; \
	done | while read -r d f; do \
	    case $$f in *.c) [ -f "$$d/$${f%.c}.h" ] && continue;; esac; \
	    [ "$$d" = "$$at" ] || echo "$$d/"; at=$$d; \
	    printf '  %-28s' "$$f"; \
	    sed -n '/ -- /{s/^.* -- //;s/ *\*\/$$//;p;q}' "$$d/$$f"; \
	done

clean:
	rm -rf build build-san build-fuzz build-unasked

# --- gates -----------------------------------------------------------------
# Each script of tests/gates/ says what it holds.
GATES := check-layers check-circles check-names check-pure check-heads \
	check-standing check-readers check-asserts
check-layers check-circles check-names check-heads check-readers check-asserts:
	@tests/gates/$(@:check-%=%).sh . $(LAYERS)

check-standing:
	@tests/gates/standing.sh .

check-pure: $(filter $B/algos/%,$(OBJ))
	@tests/gates/pure.sh . $B

lint: $(GATES)
	@tests/deps.sh $(DEPS) cppcheck clang-format
	cppcheck -j $J --quiet --std=c11 --enable=warning,performance,portability \
	    --inline-suppr --error-exitcode=1 -I. \
	    --suppress=missingIncludeSystem --suppress=memleak:sim/vec.c \
	    --suppress=internalAstError:experiments/live/windows_*.c \
	    -i models/bpf \
	    $(LAYERS)
	git ls-files -z '*.[ch]' | xargs -0 clang-format --dry-run -Werror

FORCE:
.SECONDARY:
.PHONY: all help deps quickstart check check-real check-cluster check-browser \
	check-page tests-built real-built \
	soak-real verify expected arena accuracy bench scale soak mutate unasked faults figures \
	fuzz map clean $(GATES) \
	lint FORCE
