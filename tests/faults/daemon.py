#!/usr/bin/env python3
# tests/faults/daemon.py -- one life of a daemon: it starts, is asked, and ends.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: tests/faults/daemon.py CULPRIT VERB OPTION...
# What it was asked and answered goes to stdout, what it said to stderr; the exit
# code is the daemon's. A call fails once, so whoever asks again has to be
# answered, and what was taken has to be there: 126 if not so, and why on stderr.
import glob
import hashlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../cli/lib"))
import agent

WAIT_S = 20


class Wrong(Exception):
    pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def first_line(daemon):
    """What it says once it is there; "" if it has ended."""
    ready, _, _ = select.select([daemon.stdout], [], [], WAIT_S)
    if not ready:
        raise Wrong("says nothing")
    return daemon.stdout.readline().decode()


def ask(url, data=None):
    """The answer, to who asks again until it is 200."""
    for _ in range(8):
        try:
            with urllib.request.urlopen(url, data, timeout=3) as r:
                return r.read()
        except (OSError, urllib.error.URLError) as e:
            why = e
            time.sleep(0.05)
    raise Wrong(f"does not answer: {why}")


def ask_controller(url):
    print(hashlib.sha256(ask(url + "pinglist/10.0.0.1")).hexdigest())


def ask_collector(url):
    for number in (1, 2, 3):
        ask(url + "results", agent.batch(0, number))
        kept = b"".join(open(x, "rb").read() for x in glob.glob("st/*.cpmb"))
        if kept.count(agent.batch(0, number)) != 1:
            raise Wrong(f"has batch {number} "
                        f"{kept.count(agent.batch(0, number))} times")
    ask(url + "metrics")
    print("taken")


ASK = {"controller": ask_controller, "collector": ask_collector}


def live(daemon, verb):
    line = first_line(daemon)
    if line and verb in ASK:
        ASK[verb](line.split(": ")[0])
    elif line:
        print("it is there")
        time.sleep(0.3)
    daemon.send_signal(signal.SIGTERM)
    try:
        return daemon.wait(WAIT_S)
    except subprocess.TimeoutExpired:
        raise Wrong("does not end") from None


def main():
    words = [str(free_port()) if x == "FREE" else x for x in sys.argv[1:]]
    daemon = subprocess.Popen(words, stdout=subprocess.PIPE)
    # Only the daemon is to fail.
    os.environ.pop("LD_PRELOAD", None)
    try:
        return live(daemon, next((x for x in words if x in ASK), ""))
    except Wrong as e:
        print(f"it {e}", file=sys.stderr)
        return 126
    finally:
        daemon.kill()
        daemon.wait()


if __name__ == "__main__":
    sys.exit(main())
