# tests/mutate_tree.py -- where mistakes are tried: a copy, built once.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of tests/mutate.py. make is asked once how each file is compiled and each
test linked. A mistake then takes one compilation and a link for each test that
looks at it, with the object of the mistake before the library: what is defined
there is not taken from the library."""

import hashlib
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import threading

LAYERS = ["sim", "topo", "models", "algos", "results", "experiments"]
WORK = "build/mutate"
SECONDS = WORK + "/seconds.json"
# In a tree: FILE.o, linked tests, and the program, which looks beside its folder
# for what is installed with it, or lies in the checkout.
MUTANT = "build-mutant"
# One runs the others, one looks at objects alone.
NO_TESTS = ["tests/real/run.sh", "tests/real/objects.sh"]
SLOW = 4  # seconds; near tests named after a file are run however slow
LEAK = " -fsanitize=leak"
ROOM = 6 << 30  # bytes that a test may map, or write to a file: mistakes run off
# Where tests run as root, a mistake may name any file, and leave processes: it has
# the system to read, devices that can't be replaced, and ends with its own, or with
# who tries it: unshare heeds no SIGTERM while it waits.
# Those of two trees name the same ports and networks, so each has its own.
APART = ("setpriv --pdeathsig KILL unshare -n -m -p -f --kill-child --mount-proc sh -c '"
         "ip link set lo up && mkdir -p /run/netns && for d in /dev/null /dev/zero /run /tmp {0}; do mount --bind $d $d || "
         "exit 99; done; mount -t tmpfs none /run/netns && "
         "mount -o remount,bind,ro / && cd {0} && {1}'")


def own_header(file):
    """The header that FILE includes first: of its name, or of its whole."""
    with open(file) as f:
        found = re.search(r'^#include ("[^"]*\.h")', f.read(), re.M)
    return found.group(1) if found else '"' + file[:-2] + '.h"'


def sources_of_tests():
    """The text of each test by name: its path in tests/, without cli/."""
    found = {}
    for folder, _, names in sorted(os.walk("tests")):
        for name in sorted(names):
            path = f"{folder}/{name}"
            if path in NO_TESTS or not name.endswith("_test.c") and not (
                    folder in ("tests/cli", "tests/real") and
                    name.endswith(".sh")):
                continue
            with open(path) as f:
                found[os.path.splitext(path[6:])[0].removeprefix("cli/")] = \
                    f.read()
    return found


def command_of(name, programs):
    """Runs test NAME, whose program is below PROGRAMS."""
    if name.endswith("_test"):
        return f"{programs}/{name}"
    return f"bash tests/{name}.sh" if "/" in name else \
        f"bash tests/cli/{name}.sh"


class Tests:
    """Which tests look at a file, nearest first, and what they took."""

    def __init__(self):
        self.texts = sources_of_tests()
        self.tried = set()  # those run with nothing mistaken, in this run
        self.seconds = {}   # what each took then, or in an earlier run
        if os.path.isfile(SECONDS):
            with open(SECONDS) as f:
                self.seconds = json.load(f)
        self.leaky = set()  # those that leak with nothing mistaken
        self.noticed = {}  # (file, test): how many mistakes it noticed there
        self.lock = threading.Lock()

    def near(self, file):
        """Test programs that are named after FILE or the header it belongs to,
        some of its layer that include that header, and those of its folder."""
        header = own_header(file)
        stems = tuple(f[:-2].replace("/", "_") + "_"
                      for f in (file, header[1:-1]))
        folder = os.path.dirname(file)
        beside = folder.replace("/", "_") + "_"
        deeper = tuple(beside + d + "_" for d in os.listdir(folder)
                       if os.path.isdir(f"{folder}/{d}"))
        # Tests of real networks are named without "models".
        all_ = {n: n.replace("real/", "models/").replace("/", "_")
                for n in self.texts if n.endswith("_test")}
        named = [n for n, of in all_.items() if of.startswith(stems)]
        others = sorted((n for n in all_ if header in self.texts[n]),
                        key=lambda n: not all_[n].startswith(beside))
        layer = file.split("/")[0] + "_"
        others = [n for n in others if all_[n].startswith(layer)][:10] or \
            others[:3]
        others += [n for n, of in all_.items()
                   if of.startswith(beside) and not of.startswith(deeper)]
        # Scripts are named after what they try.
        others += [n for n in (os.path.basename(file)[:-2],
                               os.path.basename(folder)) if n in self.texts]
        if file.startswith("experiments/cmd/"):
            words = os.path.basename(file)[:-2].split("_")
            others += [n for n in (words[0], "help") if n in self.texts]
            others += [n for n in self.texts if n.startswith(words[0] + "_")
                       and " ".join(words) in self.texts[n]]
        # A folder's slow tests are mostly about more than one of its files.
        others = [n for n in others if self.seconds.get(n, 0) < SLOW]
        return list(dict.fromkeys(named + others))

    def far(self, file):
        """All others, programs first."""
        near = set(self.near(file))
        return sorted((n for n in self.texts if n not in near),
                      key=lambda n: not n.endswith("_test"))

    def in_turn(self, file, names):
        """What noticed most in FILE so far goes first, and what takes long last."""
        with self.lock:
            return sorted(names, key=lambda n: (
                -self.noticed.get((file, n), 0), self.seconds.get(n, 0) > 3))

    def keep(self, name, seconds):
        with self.lock:
            if not seconds and name not in self.tried:
                print(f"mutate: {name} fails without a mistake, and is left out")
            self.tried.add(name)
            self.seconds.pop(name, None)
            if seconds:
                self.seconds[name] = seconds
            with open(SECONDS, "w") as f:
                json.dump(self.seconds, f)

    def note(self, file, name):
        with self.lock:
            self.noticed[file, name] = self.noticed.get((file, name), 0) + 1


class Tree:
    """A copy of the checkout with a build of its own."""
    MAKE = "make -j2"
    BUILD = "build"  # as tests know it
    OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1"}
    ROOM = ROOM
    MARK = ""   # of what is known of tests here, beside those of other trees
    LEAK = LEAK
    SLOWER = 1  # how many times, at most

    def __init__(self, number, tests):
        self.path = os.path.abspath(f"{WORK}/tree{number}")
        self.tests = tests
        self.compile, self.link = {}, {}  # recipes by FILE.c and by program
        self.has_all = False
        self.is_other = False  # than when it was built last
        self.program_is = None  # (object,) that MUTANT/culprit is linked with
        os.makedirs(self.path, exist_ok=True)
        self.can_part = os.geteuid() == 0 and \
            self.run(APART.format(self.path, "true"))

    def run(self, command, seconds=None, env=None):
        """True if it ended well, and in SECONDS of processor time, if given, and
        a minute and three times as much by the clock, apart from all else; its
        children end with it."""
        if seconds and self.can_part:
            command = "exec " + APART.format(self.path, command)
        child = subprocess.Popen(
            command, shell=True, cwd=self.path, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=env and {**os.environ, **env},
            preexec_fn=seconds and
            (lambda: bound(int(seconds) + 1, self.ROOM)))
        try:
            return child.wait(seconds and 60 + seconds * 3) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if child.poll() is None or seconds is not None:
                end_group(child.pid)
            child.wait()

    def copy(self):
        files = subprocess.run(["git", "ls-files", "-zco",
                                "--exclude-standard"], check=True,
                               capture_output=True).stdout
        kept = set()
        for name in filter(None, os.fsdecode(files).split("\0")):
            if not os.path.isfile(name):
                continue
            kept.add(name)
            to = os.path.join(self.path, name)
            with open(name, "rb") as f:
                now = f.read()
            if os.path.isfile(to):
                with open(to, "rb") as f:
                    if f.read() == now:
                        continue
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(name, to)
            self.is_other |= name.endswith((".c", ".h", "Makefile"))
        had = subprocess.run("git ls-files -z", shell=True, cwd=self.path,
                             capture_output=True).stdout
        for name in set(filter(None, os.fsdecode(had).split("\0"))) - kept:
            if os.path.isfile(os.path.join(self.path, name)):
                os.remove(os.path.join(self.path, name))
        # Tests ask git which files there are.
        for step in ("init -q", "add -A", "-c user.name=mutate -c "
                     "user.email=mutate@localhost commit -qm copy"):
            self.run("git " + step)
        return self

    def build(self):
        """What is not mistaken: the library, and all that tests are linked of."""
        # make is not asked for each test, so an object of before is not kept if
        # anything has changed: it would be of that day's test and headers.
        for folder, _, names in os.walk(f"{self.path}/build/tests"):
            for name in names:
                if self.is_other and name.endswith("_test.o"):
                    os.remove(os.path.join(folder, name))
        shutil.rmtree(os.path.join(self.path, MUTANT), ignore_errors=True)
        self.ask_make()
        beside = {word for line in self.link.values() for word in line.split()
                  if re.match(r"build/tests/.*(?<!_test)\.[ao]$", word)}
        if not self.run(f"{self.MAKE} all build/tests/mine.so "
                        f"{' '.join(sorted(beside))}"):
            sys.exit(f"mutate: {self.path} does not build as it is; "
                     "`make all` there tells why.")
        return self

    def ask_make(self):
        goals = " ".join(f"build/tests/{n}" for n in self.tests.texts
                         if n.endswith("_test"))
        said = subprocess.run(
            f"{self.MAKE} -k -n -B all {goals}", shell=True, cwd=self.path,
            capture_output=True).stdout.decode().replace("\\\n", " ")
        for line in said.splitlines():
            c = re.search(r" -c (\S+\.c) -o (\S+\.o)$", line)
            o = re.search(r" -o build/(?:tests/)?(\S+_test|culprit) ", line)
            if c:
                self.compile[c.group(1)] = line[:c.start()] + " -c " + \
                    c.group(1)
            elif o:
                self.link[o.group(1)] = line

    def compiled(self, file, to):
        os.makedirs(os.path.dirname(os.path.join(self.path, to)), exist_ok=True)
        return self.run(self.compile[file].replace(" -MMD -MP", "") +
                        f" -o {to}")

    def linked(self, name, obj):
        """Links test or program NAME with OBJ, if any, in MUTANT."""
        own = f"build/tests/{name}.o"
        if name != "culprit" and not os.path.exists(f"{self.path}/{own}") and \
                not self.compiled(f"tests/{name}.c", own):
            return False
        os.makedirs(os.path.dirname(f"{self.path}/{MUTANT}/{name}"),
                    exist_ok=True)
        # What is not freed is noticed as it is with SAN=1.
        leak = "" if name in self.tests.leaky | {"culprit"} else self.LEAK
        recipe = re.sub(r" -o \S+ ", f"{leak} -o {MUTANT}/{name} ",
                        self.link[name])
        if obj == f"{MUTANT}/experiments/main.o":
            recipe = recipe.replace("build/experiments/main.o", obj)
        elif obj:
            recipe = re.sub(r"(-Wl,--start-group| build/libculprit\.a)",
                            f" {obj} \\1", recipe, count=1)
        return self.run(recipe)

    def passes(self, name, obj, seconds):
        """Whether test NAME links with OBJ and passes in time."""
        env = {"BUILD": f"{self.path}/{self.BUILD}",
               "CULPRIT": f"{self.path}/build/culprit", **self.OPTIONS}
        if name.endswith("_test"):
            good = self.linked(name, obj) and \
                self.run(command_of(name, MUTANT), seconds, env)
            if os.path.exists(f"{self.path}/{MUTANT}/{name}"):
                os.remove(f"{self.path}/{MUTANT}/{name}")
            return good
        env["CULPRIT"] = f"{self.path}/{MUTANT}/culprit"
        if self.program_is != (obj,) and not self.linked("culprit", obj):
            return False
        self.program_is = (obj,)
        return self.run(command_of(name, MUTANT), seconds, env)

    def usual_seconds(self, name):
        """What NAME takes with nothing mistaken, tried once; None if it fails, of
        which it is told once: such a test notices nothing."""
        with self.tests.lock:
            if name + self.MARK in self.tests.tried:
                return self.tests.seconds.get(name + self.MARK)
        took = self.took(name)
        if not took and self.LEAK and name.endswith("_test"):
            self.tests.leaky.add(name)
            took = self.took(name)
        self.tests.keep(name + self.MARK, took)
        return took

    def took(self, name):
        before = seconds_of_children()
        good = self.passes(name, None, 900)
        return seconds_of_children() - before + .01 if good else None

    def fails(self, obj, name):
        """Whether NAME fails with OBJ and only so. That it passes as things are
        is known once it has failed, and costs nothing before."""
        usual = self.tests.seconds.get(name + self.MARK)
        limit = usual * 10 + 2 if usual else 20 * self.SLOWER
        if self.passes(name, obj, limit):
            return False
        was_leaky = name in self.tests.leaky
        usual = self.usual_seconds(name)
        if not usual:
            return False  # it always does
        # What leaks as things are says so whatever is mistaken. What a kernel
        # does that others share is now and then too late, but not twice.
        if was_leaky != (name in self.tests.leaky) or \
                name.startswith("real/") or \
                usual * 2 > limit:
            return not self.passes(name, obj, usual * 10 + 2)
        return True

    def who_notices(self, file, obj, names, seen=None, limit=math.inf):
        """The first of NAMES that fails, or does not end in ten times what it
        takes; None if there is none, or would be only after those that take
        LIMIT seconds when SEEN had them run, and one each to be linked."""
        for name in self.tests.in_turn(file, names):
            limit -= 1 + (seen.seconds(name) if seen else 0)
            if limit < 0:
                return None
            if self.fails(obj, name):
                self.tests.note(file, name)
                return name
        return None

    def try_one(self, mistake, near, seen, limit):
        """'noticed', 'survived' or 'none' (does not compile, or is the same). With
        NEAR only near tests are tried; else those too that SEEN knows to come
        to its line, or all if that is not known."""
        file, obj = mistake.file, f"{MUTANT}/{mistake.file[:-2]}.o"
        if file not in self.compile or not self.compile_mistake(mistake, obj) or \
                self.code_of(obj) == self.code_of(f"build/{file[:-2]}.o"):
            return "none"
        self.program_is = None
        place = mistake.place()
        here = seen.of(self.tests.near(file), place, near=True)
        if self.who_notices(file, obj, here):
            return "noticed"
        if near:
            return "survived"
        self.build_all()
        there = seen.of(self.tests.far(file), place)
        there = sorted(there, key=seen.seconds)
        return "noticed" if self.who_notices(
            file, obj, there, seen, limit) else "survived"

    def try_hard(self, mistake, seen, limit):
        """Whether any test that may come to its line, nearest and quickest
        first, notices what try_one() found that none does in another tree."""
        file, obj = mistake.file, f"{MUTANT}/{mistake.file[:-2]}.o"
        if not self.compile_mistake(mistake, obj):
            return False
        self.program_is = None
        self.build_all()
        names = self.tests.near(file) + sorted(self.tests.far(file),
                                               key=seen.seconds)
        return self.who_notices(file, obj, [
            n for n in seen.of(names, mistake.place())
            if seen.seconds(n) < 20], seen, limit)

    def compile_mistake(self, mistake, obj):
        """In the file's place, as its name is in the code, and only so long."""
        place = os.path.join(self.path, mistake.file)
        was = os.stat(place)
        write(place, mistake.mutated())
        try:
            return self.compiled(mistake.file, obj)
        finally:
            write(place, mistake.text)
            os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns))

    def build_all(self):
        """Scripts run tests' programs, which `linked` leaves out."""
        if not self.has_all:
            self.run(self.MAKE + " -k tests-built")
            self.has_all = True

    def code_of(self, obj):
        """A sum of what OBJ does: without lines, which any edit moves."""
        path = os.path.join(self.path, obj)
        plain = f"{self.path}/{MUTANT}/plain"
        kept = self.run(f"objcopy -g {path} {plain}")
        with open(plain if kept else path, "rb") as f:
            return hashlib.sha256(f.read()).digest()


class SanTree(Tree):
    """Where what is read beyond its end, or after it was freed, is noticed. What
    sanitizers map is no measure of what a test takes."""
    MAKE = "make -j2 SAN=1 B=build"
    BUILD = "build-san"  # the same by the name that tells them of it
    OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1"}
    ROOM = resource.RLIM_INFINITY
    MARK = " under sanitizers"
    LEAK = ""
    SLOWER = 10

    def __init__(self, tests):
        super().__init__("-san", tests)
        self.lock = threading.Lock()
        self.is_built = False

    def try_hard(self, mistake, seen, limit):
        with self.lock:
            if not self.is_built:
                self.copy().build()
                self.is_built = True
                name = f"{self.path}/{self.BUILD}"
                if not os.path.islink(name):
                    os.symlink("build", name)
                write(f"{self.path}/.git/info/exclude", self.BUILD + "\n")
            return super().try_hard(mistake, seen, limit)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def seconds_of_children():
    """Of processors, with what other trees' tests took meanwhile."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bound(seconds, room):
    """What a test that runs off is held to, however busy the machine."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_DATA, (room, room))
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_group(leader):
    try:
        os.killpg(leader, 9)
    except ProcessLookupError:
        pass
