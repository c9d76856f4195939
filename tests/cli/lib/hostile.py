#!/usr/bin/python3
# tests/cli/lib/hostile.py -- clients of a server that are not its friends.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: hostile.py CASE PORT [ARGUMENT...]
# Each case asserts how the server answers, and that a good client still is
# served while it lasts.
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time

case, port = sys.argv[1], int(sys.argv[2])
HOST = "127.0.0.1"


def connect(source=None):
    s = socket.create_connection((HOST, port), 5,
                                 source and (source, 0))
    return s


def get(target="/health", method="GET", body=None, headers={}):
    c = http.client.HTTPConnection(HOST, port, timeout=5,
                                   source_address=("127.0.0.9", 0))
    c.request(method, target, body, headers)
    r = c.getresponse()
    data = r.read()
    c.close()
    return r.status, data


def health():
    status, data = get()
    assert status == 200, status
    return json.loads(data)


def settled(want):
    """Counters once they are WANT: leaving is noticed a moment later."""
    for _ in range(100):
        h = health()
        if all(h[k] == v for k, v in want.items()):
            return
        time.sleep(0.05)
    raise AssertionError((want, h))


def send(data, wait=5):
    """All that comes back until the server closes, or is silent for WAIT."""
    s = connect()
    s.settimeout(wait)
    got = b""
    try:
        s.sendall(data)
        while piece := s.recv(65536):
            got += piece
    except (socket.timeout, ConnectionError):
        pass
    s.close()
    return got


def status_of(data, wait=5):
    got = send(data, wait)
    return int(got.split(b" ")[1]) if got.startswith(b"HTTP/1.1 ") else 0


def request(line, *headers, body=b""):
    head = [line, "Host: x", "Connection: close", *headers]
    return "\r\n".join(head).encode("latin1") + b"\r\n\r\n" + body


def answers():
    """Each bad request has its answer; 0 is a connection that was closed."""
    bad = [
        (404, request("GET /pinglist/../../etc/passwd HTTP/1.1")),
        (404, request("GET /pinglist/%2e%2e/%2e%2e/etc/passwd HTTP/1.1")),
        (404, request("GET /pinglist/10.0.0.1%00 HTTP/1.1")),
        (404, request("GET /pinglist/10.0.0.1?a=b HTTP/1.1")),
        (404, request("GET /pinglist/" + "1" * 5000 + " HTTP/1.1")),
        (404, request("GET \xff\xfe HTTP/1.1")),
        (404, request("GET http://u@127.0.0.1/health HTTP/1.1")),
        (404, request("GET http://x?health HTTP/1.1")),
        (404, request("OPTIONS * HTTP/1.1")),
        (404, request("CONNECT x:80 HTTP/1.1")),
        (405, request("BREW /pinglist/10.0.0.1 HTTP/1.1")),
        (405, request("TRACE /health HTTP/1.1")),
        (405, request("POST /pinglist/10.0.0.1 HTTP/1.1",
                      "Content-Length: 3", body=b"abc")),
        (400, b"GET /health HTTP/1.1\r\n\r\n"),
        (400, request("GET /health HTTP/1.1", "Content-Length: -1")),
        (400, request("GET /health HTTP/1.1", "Content-Length: x")),
        (400, request("GET / HTTP/1.1", "Content-Length: 1",
                      "Content-Length: 2", body=b"ab")),
        (400, request("GET / HTTP/1.1", "Content-Length: 1",
                      "Transfer-Encoding: chunked", body=b"0\r\n\r\n")),
        (400, request("GET / HTTP/1.1", "Host: y")),
        (400, request("GET / HTTP/1.1", "Content-Length: 0",
                      "Content-Length: 0")),
        (400, request("GET / HTTP/1.1", "Transfer-Encoding: chunked",
                      "Transfer-Encoding: chunked", body=b"0\r\n\r\n")),
        (400, request("GET / HTTP/1.0", "Transfer-Encoding: chunked",
                      body=b"0\r\n\r\n")),
        (400, request("GET / HTTP/1.1", "Transfer-Encoding:\r\n chunked",
                      "Content-Length: 5", body=b"0\r\n\r\n")),
        (400, request("GET / HTTP/1.1", "Transfer-Encoding: chun\r\n\tked")),
        (400, request("GET / HTTP/1.1", "Content-Length: 1\r\n 0")),
        (400, request("GET / HTTP/1.1", "X: a\rb")),
        (400, request("GET / HTTP/1.1", "X : a")),
        (417, request("GET / HTTP/1.1", "Expect: a pony")),
        (501, request("GET / HTTP/1.1", "Transfer-Encoding: gzip, chunked",
                      body=b"0\r\n\r\n")),
        (414, request("GET /" + "a" * 20000 + " HTTP/1.1")),
        (431, request("GET / HTTP/1.1", "X: " + "a" * 20000)),
        (505, b"GET / HTTP/7.5\r\nHost: x\r\n\r\n"),
        (0, b"garbage\r\n\r\n"),
        (0, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
    ]
    before = health()
    n = {}
    for want, data in bad:
        got = status_of(data, 1)
        assert got == want, (data[:70], got, want)
        n[want] = n.get(want, 0) + 1
    settled({
        "not_found": before["not_found"] + n[404],
        "bad_methods": before["bad_methods"] + n[405],
        "refused": before["refused"] + n[417],
        "malformed": before["malformed"] + n[400] + n[414] + n[431] +
        n[501] + n[505] + n[0]})
    good = [
        request("GET http://127.0.0.1/health HTTP/1.1"),
        request("GET HTTP://x/pinglist/10.0.0.1 HTTP/1.1"),
        request("GET http://x HTTP/1.1"),
        request("GET /health HTTP/1.1", "X: a\r\n b"),
        b"GET /health HTTP/1.0\r\n\r\n",
        b"\r\nGET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        request("GET /health HTTP/1.1", "Expect: 100-continue",
                "Content-Length: 3", body=b"abc"),
    ]
    for data in good:
        got = send(data)
        assert got.startswith(b"HTTP/1.1 200"), (data[:70], got[:70])
    assert send(request("HEAD /health HTTP/1.1")).endswith(b"\r\n\r\n")
    tag = send(request("HEAD /pinglist/10.0.0.1 HTTP/1.1"))
    tag = tag.split(b"ETag: ")[1].split(b"\r")[0].decode()
    same = send(request("GET /pinglist/10.0.0.1 HTTP/1.1",
                        f"If-None-Match: {tag}"))
    assert same.startswith(b"HTTP/1.1 304") and same.endswith(b"\r\n\r\n")


def pipeline():
    """Answers come in order; what follows a good request may be bad."""
    one = b"GET /pinglist/10.0.0.1 HTTP/1.1\r\nHost: x\r\n\r\n"
    last = request("GET /nowhere HTTP/1.1")
    got = send(one * 20 + last)
    assert got.count(b"HTTP/1.1 200 OK\r\n") == 20, got[:300]
    assert got.count(b"</pinglist>") == 20
    assert got.rindex(b"HTTP/1.1 404") > got.rindex(b"</pinglist>")
    got = send(one + b"nonsense\r\n\r\n")
    assert got.count(b"HTTP/1.1 200 OK\r\n") == 1
    # A byte at a time is as good as at once.
    s = connect()
    for i in request("GET /health HTTP/1.1"):
        s.sendall(bytes([i]))
    assert s.recv(65536).startswith(b"HTTP/1.1 200")
    s.close()


def loris(receive_s):
    """50 clients that never end their request; each sends a byte now and
    then, which a plain timeout would take for life."""
    before = health()
    socks = []
    for i in range(50):
        s = connect()
        s.sendall([b"", b"G", b"GET /health HTTP/1.1\r\nHost: x\r\nX: "][i % 3])
        socks.append(s)
    start = time.monotonic()
    slowest = 0
    alive = list(socks)
    while alive and time.monotonic() - start < receive_s + 5:
        for s in list(alive):
            try:
                s.send(b"a")
                s.setblocking(False)
                try:
                    if s.recv(100) == b"":
                        alive.remove(s)
                except BlockingIOError:
                    pass
                s.setblocking(True)
            except OSError:
                alive.remove(s)
        at = time.monotonic()
        status, data = get("/pinglist/10.0.0.1")
        assert status == 200 and data.endswith(b"</pinglist>\n")
        slowest = max(slowest, time.monotonic() - at)
        time.sleep(0.1)
    assert not alive, f"{len(alive)} still open"
    took = time.monotonic() - start
    assert took > receive_s - 1, f"closed after {took} s"
    assert slowest < 2, f"a good client waited {slowest} s"
    settled({"late": before["late"] + 50, "open": 1})


def slow_reader(send_s):
    """Asks for a long list and fetches nothing of it."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect((HOST, port))
    one = b"GET /pinglist/10.0.0.1 HTTP/1.1\r\nHost: x\r\n\r\n"
    s.sendall(one * 100)
    time.sleep(send_s + 1.5)
    settled({"late": 1})
    s.close()


def crowd(most):
    """More connections of one address than are allowed."""
    socks = [connect() for _ in range(most + 10)]
    time.sleep(0.3)
    n_open = 0
    for s in socks:
        s.setblocking(False)
        try:
            n_open += s.recv(1) != b""
        except BlockingIOError:
            n_open += 1
        except ConnectionError:
            pass
    assert most <= n_open <= most + 1, n_open
    h = health()  # from another address
    assert 9 <= h["crowded"] <= 10, h
    for s in socks:
        s.close()
    time.sleep(0.3)
    assert send(request("GET /health HTTP/1.1")).startswith(b"HTTP/1.1 200")


def room(most, reserved):
    """Idle strangers of many addresses: whoever comes has one's place."""
    n = most * 4
    socks = [connect(f"127.0.1.{1 + i % 200}") for i in range(n)]
    for _ in range(20):
        assert get("/pinglist/10.0.0.1")[0] == 200
    h = health()
    # These requests had places of theirs, too.
    assert n - (most - reserved) <= h["evicted"] <= n + 21, h
    assert h["full"] == h["crowded"] == 0, h
    for s in socks:
        s.close()


def is_open(s):
    s.setblocking(False)
    try:
        return s.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


def known(most):
    """Of a collector with --known 127.0.4.0/24: strangers of many addresses take the
    places of strangers alone, and who sent a batch is one of these."""
    ours, stranger = connect("127.0.4.1"), connect("127.0.2.1")
    batch = subprocess.run(
        [sys.executable, os.path.dirname(__file__) + "/agent.py", "batch",
         str(0x7F000201 - 0x0A000001), "1"], stdout=subprocess.PIPE,
        check=True).stdout
    c = http.client.HTTPConnection(HOST, port, timeout=5,
                                   source_address=("127.0.2.1", 0))
    c.request("POST", "/results", batch)
    r = c.getresponse()
    assert r.status == 200 and r.read() == b"taken\n", r.status
    c.close()
    later = connect("127.0.2.1")
    time.sleep(0.2)
    socks = [connect(f"127.0.1.{1 + i % 200}") for i in range(most * 4)]
    time.sleep(0.3)
    assert is_open(ours)
    assert not is_open(stranger) and not is_open(later)
    for s in socks + [ours, stranger, later]:
        s.close()


def drips():
    """Of a collector with --head-s 1: a head and a body that hardly come on, and a
    client that has been served and waits."""
    c = http.client.HTTPConnection(HOST, port, timeout=5)
    c.request("GET", "/health")
    assert c.getresponse().read()
    served = c.sock
    head, body = connect(), connect()
    head.sendall(b"GET /health HT")
    body.sendall(request("POST /results HTTP/1.1", "Content-Length: 9000",
                         body=b"a" * 100))
    settled({"slow_heads": 1, "slow_bodies": 1, "late": 2})
    c.request("GET", "/health")
    assert c.getresponse().status == 200 and c.sock is served
    for s in head, body, c:
        s.close()


def bodies():
    """Of a collector: what is too large, a lie, or no batch."""
    large = 200_000
    post = "POST /results HTTP/1.1"
    chunk = b"1000\r\n" + b"a" * 4096 + b"\r\n"
    cases = [
        (413, request(post, f"Content-Length: {large}", body=b"a" * large)),
        (413, request(post, "Content-Length: 18446744073709551615")),
        (413, request(post, "Content-Length: 99999999999999999999999")),
        (400, request(post, "Content-Length: 4", body=b"CPMBxxxx")),
        (400, request(post, "Content-Length: 0")),
        (400, request(post)),
        (400, request(post, "Transfer-Encoding: chunked",
                      body=chunk * 3 + b"0\r\n\r\n")),
        (400, request(post, "Transfer-Encoding: chunked",
                      body=b"zzz\r\n")),
        (0, request(post, "Transfer-Encoding: chunked", body=chunk * 60)),
        (405, request("GET /results HTTP/1.1")),
        (405, request("PUT /results HTTP/1.1", "Content-Length: 1",
                      body=b"a")),
    ]
    for want, data in cases:
        got = status_of(data)
        # Closed while we still send, a connection may be reset before its
        # answer is read.
        assert got == want or (want == 413 and got == 0), (data[:90], got)
    # Whoever waits for leave to send gets it, or the answer in its place.
    s = connect()
    s.settimeout(5)
    s.sendall(request(post, "Content-Length: 4", "Expect: 100-continue"))
    got = s.recv(65536)
    assert got.startswith(b"HTTP/1.1 100 "), got
    s.sendall(b"CPMB")
    got = got.partition(b"\r\n\r\n")[2] or s.recv(65536)
    assert got.startswith(b"HTTP/1.1 400 "), got
    s.close()
    got = send(request(post, f"Content-Length: {large}",
                       "Expect: 100-continue"))
    assert got.startswith(b"HTTP/1.1 413 "), got
    settled({"cut_off": 1, "too_large": 3, "bad_batches": 5,
             "bad_methods": 2, "malformed": 2, "batches_taken": 0})
    # Says more than it sends, and goes: noticed at once, or at the deadline
    # when the library has read all but the end.
    s = connect()
    s.sendall(request(post, "Content-Length: 1000", body=b"a" * 10))
    s.close()
    for _ in range(100):
        h = health()
        if h["malformed"] + h["late"] == 3 and h["open"] == 1:
            return
        time.sleep(0.05)
    raise AssertionError(h)


def noise(n, seed=7):
    """N connections of random bytes, some like requests."""
    r = random.Random(seed)
    words = [b"GET ", b"POST ", b"/", b"/results", b"/pinglist/10.0.0.1",
             b" HTTP/1.1", b"\r\n", b"\r\n\r\n", b"Host: x\r\n",
             b"Content-Length: ", b"Transfer-Encoding: chunked\r\n", b"99",
             b"\0", b"%2e%2e/", b"a" * 3000, bytes(range(128, 256))]

    def some():
        for _ in range(n // 4):
            try:
                s = connect()
                s.sendall(b"".join(r.choices(words, k=r.randrange(1, 30))))
                if r.random() < 0.3:
                    s.settimeout(0.02)
                    s.recv(100)
                s.close()
            except OSError:
                pass

    threads = [threading.Thread(target=some) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert get()[0] == 200


def many(n):
    """N lists over kept connections, each whole."""
    c = http.client.HTTPConnection(HOST, port, timeout=5)
    for i in range(n):
        c.request("GET", f"/pinglist/10.0.{i % 6}.{1 + i % 200}")
        r = c.getresponse()
        data = r.read()
        assert r.status == 200 and data.endswith(b"</pinglist>\n"), r.status
    c.close()


globals()[case](*[int(x) for x in sys.argv[3:]])
