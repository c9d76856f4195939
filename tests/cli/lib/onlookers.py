#!/usr/bin/python3
# tests/cli/lib/onlookers.py -- those who look at a collector's page, too many of them.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: onlookers.py URL N TARGET... [until a file `stop` is there]
# N threads ask, each over a connection of its own, for one target after the other,
# and slowly fetch every tenth. A file `looking` is there once one was answered.
# Prints how many answers there were of each status.
import collections
import http.client
import os
import socket
import sys
import threading
import time
import urllib.parse

url, n, targets = urllib.parse.urlparse(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
count = collections.Counter()
lock = threading.Lock()


def look(me):
    c, i = None, me
    while not os.path.exists("stop"):
        i += 1
        try:
            c = c or http.client.HTTPConnection(
                url.hostname, url.port, timeout=10,
                source_address=(f"127.0.0.{10 + me % 4}", 0))
            c.request("GET", targets[i % len(targets)] % {"i": i})
            r = c.getresponse()
            if i % 10 == 0:
                r.read(1000)
                time.sleep(.2)
            r.read()
            with lock:
                count[r.status] += 1
                if r.status == 200 and count[200] == 1:
                    open("looking", "w").close()
        except (OSError, http.client.HTTPException, socket.timeout):
            c = None
            with lock:
                count["none"] += 1


threads = [threading.Thread(target=look, args=(i,)) for i in range(n)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(*(f"{k}={v}" for k, v in sorted(count.items(), key=str)))
