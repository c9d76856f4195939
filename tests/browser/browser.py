# tests/browser/browser.py -- a headless Chromium, by its DevTools protocol.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Messages are JSON, each behind it a NUL, on descriptors 3 (to the browser) and
# 4 (from it): so the standard library is enough.
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = "chromium", "chromium-browser", "google-chrome"


def find():
    """The browser's path, or None."""
    return next((p for p in map(shutil.which, NAMES) if p), None)


class Browser:
    def __init__(self, dark=False, size=(1440, 1000)):
        self.folder = tempfile.mkdtemp(prefix="culprit-browser-")
        to_read, self.to = os.pipe()
        self.got, got_write = os.pipe()
        self.buffer = b""
        self.n = 0
        self.dark = dark
        self.events = []

        def hand_over():
            # Above 4 first, as one may have the number that the other gets.
            a, b = os.dup(to_read), os.dup(got_write)
            a, b = (os.dup(x) if x < 5 else x for x in (a, b))
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu",
             "--hide-scrollbars", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-extensions",
             "--user-data-dir=" + self.folder, "--remote-debugging-pipe",
             f"--window-size={size[0]},{size[1]}", "about:blank"],
            preexec_fn=hand_over, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(got_write)
        target = self.call("Target.createTarget", url="about:blank")
        self.session = None
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=size[0],
                  height=size[1], deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])

    def close(self):
        os.close(self.to)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.got)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.got], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.got, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.n += 1
        message = {"id": self.n, "method": method, "params": params}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + 120
        while True:
            m = self.receive(until)
            if m.get("id") == self.n:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            self.events.append(m)

    def open(self, url):
        """Load URL and wait until it is there; forget earlier events."""
        # Where only the part behind # is another, nothing would be loaded.
        for at in "about:blank", url:
            self.load(at)

    def load(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        until = time.monotonic() + 120
        while not any(m.get("method") == "Page.loadEventFired"
                      for m in self.events):
            self.events.append(self.receive(until))

    def run(self, script):
        """The value of an expression in the page; its error is one here."""
        r = self.call("Runtime.evaluate", expression=script,
                      returnByValue=True, awaitPromise=True,
                      userGesture=True)
        if "exceptionDetails" in r:
            raise RuntimeError(r["exceptionDetails"])
        return r["result"].get("value")

    def key(self, key, code=0):
        for kind in "keyDown", "keyUp":
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" \
                else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      code=key, windowsVirtualKeyCode=code, **text)

    def complaints(self, own=None):
        """What the console got of warnings and errors, and any request that
        is not for the page itself, nor for what begins with OWN."""
        # Answers a call, so that all that came before it is there.
        self.run("new Promise((r) => requestAnimationFrame(() => "
                 "setTimeout(r, 50)))")
        out, urls = [], []
        for m in self.events:
            what, p = m.get("method"), m.get("params", {})
            if what == "Runtime.exceptionThrown":
                out.append(json.dumps(p["exceptionDetails"])[:300])
            elif what == "Runtime.consoleAPICalled" and \
                    p["type"] in ("error", "warning", "assert"):
                out.append(json.dumps(p["args"])[:300])
            elif what == "Log.entryAdded" and \
                    p["entry"]["level"] in ("error", "warning"):
                out.append(p["entry"]["text"])
            elif what == "Network.requestWillBeSent":
                urls.append(p["request"]["url"])
        out += [f"asks for {u[:100]}" for u in urls[1:]
                if not u.startswith("data:") and
                not (own and u.startswith(own))]
        return out

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)

    @staticmethod
    def json(x):
        return json.dumps(x)

    def worst_contrast(self):
        """Of the texts that are seen, the least contrast with what is behind
        them, and which that is."""
        return self.run("""(() => {
        const parse = (c) => c.match(/[0-9.]+/g).map(Number);
        const light = (c) => { const [r, g, b] = parse(c).map((x) => {
            x /= 255;
            return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; });
            return .2126 * r + .7152 * g + .0722 * b; };
        const behind = (e) => { for (; e; e = e.parentElement) {
            const c = getComputedStyle(e).backgroundColor;
            if (parse(c)[3] !== 0) return c; } return "rgb(255, 255, 255)"; };
        let worst = [99];
        for (const e of document.querySelectorAll("body *")) {
            if (e.closest("svg, .figure, script, :disabled") ||
                !e.checkVisibility() ||
                ![...e.childNodes].some((n) => n.nodeType === 3 &&
                    n.textContent.trim())) continue;
            const a = light(getComputedStyle(e).color), b = light(behind(e));
            const k = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
            if (k < worst[0]) worst = [k, e.outerHTML.slice(0, 200)];
        }
        return worst; })()""")

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
