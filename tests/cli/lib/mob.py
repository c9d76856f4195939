#!/usr/bin/python3
# tests/cli/lib/mob.py -- agents of a fleet, and a mob of strangers beside them.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: mob.py STRANGERS SECONDS CONTROLLER COLLECTOR [CA-FOLDER]
# Twelve agents, 10.0.0.1 to 10.0.0.12, each ask for their list and post a batch,
# with a new connection for each, as often as they can with a rest in between;
# STRANGERS addresses, 10.9.0.1 and on, do at the same time what strangers do. Ports
# are of 10.0.0.250. With CA-FOLDER all of it is behind TLS, and strangers have no
# certificate. Prints what the agents noticed.
import http.client
import multiprocessing
import random
import select
import signal
import socket
import ssl
import sys
import threading
import time

from agent import batch

SERVER = "10.0.0.250"
AGENTS = 12
TRIES = 3  # an agent stops after so many contacts that fail in a row
TIMEOUT = 10  # that an agent has for each
REST = 0.2
SITTING, DRIPPING = 32, 64  # connections of an address to each server

n_strangers, seconds = int(sys.argv[1]), float(sys.argv[2])
ports = [int(p) for p in sys.argv[3:5]]
folder = sys.argv[5] if len(sys.argv) > 5 else None


# --- agents ------------------------------------------------------------------
def context_of(address):
    c = ssl.create_default_context(cafile=f"{folder}/ca.pem")
    c.load_cert_chain(f"{folder}/{address}.pem", f"{folder}/{address}.key")
    return c


def contact(address, context, port, method, target, body):
    """One try: whether it was answered as it should be."""
    args = dict(timeout=TIMEOUT, source_address=(address, 0))
    c = http.client.HTTPSConnection(SERVER, port, context=context, **args) \
        if context else http.client.HTTPConnection(SERVER, port, **args)
    try:
        c.request(method, target, body)
        r = c.getresponse()
        r.read()
        return r.status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        c.close()


class Agent(threading.Thread):
    def __init__(self, i, until):
        super().__init__()
        self.i, self.until = i, until
        self.took, self.first, self.failed = [], 0, 0

    def try_all(self, *what):
        start = time.monotonic()
        for k in range(TRIES):
            if contact(*what):
                self.took.append(time.monotonic() - start)
                self.first += k == 0
                return
            time.sleep(0.5)
        self.failed += 1

    def run(self):
        address = f"10.0.0.{self.i + 1}"
        context = context_of(address) if folder else None
        number = 0
        while time.monotonic() < self.until:
            number += 1
            self.try_all(address, context, ports[0], "GET",
                         f"/pinglist/{address}", None)
            self.try_all(address, context, ports[1], "POST", "/results",
                         batch(self.i, number))
            time.sleep(REST)


# --- strangers ---------------------------------------------------------------
def meet(address, port):
    s = socket.socket()
    s.settimeout(2)
    try:
        s.bind((address, 0))
        s.connect((SERVER, port))
    except OSError:
        s.close()
        return None
    return s


def sit(addresses, each, word):
    """Keep EACH connections of each address with each server; on each, WORD and
    then a byte now and then; without WORD, nothing."""
    held, poll = {}, select.epoll()
    want = [(a, p) for a in addresses for p in ports for _ in range(each)]
    begun = 0
    while True:
        while want and begun < 200:
            begun += 1
            key = want.pop()
            s = meet(*key)
            if not s:
                want.append(key)
                break
            if word:
                s.send(word)
            held[s.fileno()] = (s, key)
            poll.register(s.fileno(), select.EPOLLIN | select.EPOLLHUP)
        begun = 0
        for fd, _ in poll.poll(0.2):
            s, key = held.pop(fd)
            poll.unregister(fd)
            s.close()
            want.append(key)
        for s, _ in held.values() if word else ():
            try:
                s.send(b"a")
            except OSError:
                pass


def babble(addresses):
    r = random.Random(7)
    while True:
        s = meet(r.choice(addresses), r.choice(ports))
        if s:
            try:
                s.sendall(r.randbytes(r.randrange(1, 3000)))
            except OSError:
                pass
            s.close()
        time.sleep(0.001)


def flood(addresses):
    """Requests without end, sixteen before the first answer is read."""
    words = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 16
    socks = []
    while True:
        while len(socks) < 4 * len(addresses):
            s = meet(random.choice(addresses), random.choice(ports))
            if not s:
                break
            socks.append(s)
        for s in list(socks):
            try:
                s.sendall(words)
                if not s.recv(1 << 16):
                    raise OSError
            except OSError:
                s.close()
                socks.remove(s)


def knock(addresses):
    """Handshakes without a certificate, one after the other."""
    c = ssl.create_default_context(cafile=f"{folder}/ca.pem")
    while True:
        s = meet(random.choice(addresses), random.choice(ports))
        try:
            t = c.wrap_socket(s, server_hostname=SERVER)
            t.recv(100)
            t.close()
        except (OSError, AttributeError):
            pass
        if s:
            s.close()


def alone(deed, *args):
    """It ends by itself, should nobody be left to end it."""
    signal.alarm(int(seconds) + 60)
    deed(*args)


def mob():
    """Eight drip, eight babble, eight flood, all others sit; of eight, each does
    all but sit."""
    all_of = [f"10.9.{i >> 8}.{1 + (i & 255)}" for i in range(n_strangers)]
    of = [all_of[i:i + 8] or all_of[:8] for i in (0, 8, 16)]
    deeds = [(sit, of[0], DRIPPING, b"GET /health HTTP/1.1\r\nX: "),
             (babble, of[1]), (knock if folder else flood, of[2]),
             (sit, all_of[24:], SITTING, b"")]
    return [multiprocessing.Process(target=alone, args=args, daemon=True)
            for args in deeds]


def main():
    deeds = mob() if n_strangers else []
    for p in deeds:
        p.start()
    time.sleep(2 if deeds else 0)
    agents = [Agent(i, time.monotonic() + seconds) for i in range(AGENTS)]
    for a in agents:
        a.start()
    for a in agents:
        a.join()
    for p in deeds:
        p.kill()
    took = sorted(t for a in agents for t in a.took)
    failed = sum(a.failed for a in agents)
    n = len(took) + failed
    print(n, f"{100 * len(took) / n:.2f}",
          f"{100 * sum(a.first for a in agents) / n:.2f}",
          *(f"{1000 * took[int(q * len(took))]:.1f}" if took else "-"
            for q in (0.5, 0.99)))


main()
