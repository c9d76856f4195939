# tests/browser/live.py -- a collector's page, as people use it.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: live.py FOLDER FOUR=URL HOSTILE=URL LARGE=URL OLD=URL EMPTY=URL NONE=URL
# Collectors at work: with the four patterns, texts that try to be markup, 100 pods,
# a database of yesterday, one without windows, and none. Pictures of what was looked
# at are left in FOLDER.
import os
import sys
import time

import browser

folder = sys.argv[1]
at = dict(x.split("=", 1) for x in sys.argv[2:])
failed = 0
PATTERNS = "normal", "pod_down", "pod_failure", "spine_failure"


def same(got, want):
    assert got == want, f"{got!r}, not {want!r}"


def until(b, script, what=None):
    """Wait until an expression is true, half a minute at most."""
    end = time.monotonic() + 30
    while not b.run(script):
        assert time.monotonic() < end, what or script
        time.sleep(.1)


def picture(b, name, whole=False):
    if whole:
        size = b.run("[innerWidth, document.documentElement.scrollHeight]")
        b.resize(*size)
        time.sleep(.3)
    b.picture(os.path.join(folder, f"live-{name}.png"))


def show(b, name):
    """The page of a collector, once it has all that it asks for."""
    b.load(at[name])
    until(b, "seen !== '' || document.body.dataset.level !== 'good' && "
          "state.now !== null", f"{name} does not load")
    until(b, "find('word').textContent !== 'Asking'")


WINDOWS = "state.windows.map((w) => [w.from_s, w.pattern])"


def go(b, i):
    """Move the slider to window I, and wait for its heat map."""
    b.run(f"(() => {{ find('slider').value = {i}; "
          "find('slider').dispatchEvent(new Event('input')); })()")
    until(b, f"find('heat').dataset.from === String(state.windows[{i}].from_s)")


def colour(b, src, dst):
    """The class of a cell by what is painted in its corner."""
    return b.run(f"""(() => {{
        const c = find("heat"), r = devicePixelRatio, e = 34;
        const s = (Math.min(c.clientWidth, c.clientHeight) - e) / heat.n;
        const p = c.getContext("2d").getImageData(
            (e + ({dst} + .2) * s) * r, (e + ({src} + .2) * s) * r, 1, 1).data;
        const of = {{"31,158,122": "good", "242,211,56": "fair",
            "179,51,29": "bad", "255,255,255": "none"}};
        return of[[...p].slice(0, 3).join()] || [...p].join(); }})()""")


def it_loads_without_a_complaint(b):
    show(b, "FOUR")
    same(b.run("document.body.dataset.level"), "good")
    same(b.run("document.title"), "Pingmesh")
    same(b.run("find('alarm').hidden"), True)
    same(b.run("document.documentElement.scrollWidth <= innerWidth"), True)
    same(b.run("document.querySelectorAll('script[src], link[rel=stylesheet],"
               " iframe, object').length"), 0)


def the_four_patterns_are_seen(b):
    """By name, and as they are painted: crosses, and a diagonal."""
    show(b, "FOUR")
    n = b.run("heat.n")
    windows = b.run(WINDOWS)
    same(len(windows), 6)
    same(sorted(set(p for _, p in windows) - {"unclear"}), sorted(PATTERNS))
    for i, (_, pattern) in enumerate(windows):
        go(b, i)
        same(b.run("find('pattern').dataset.pattern"), pattern)
        if pattern == "unclear":
            continue
        pods = b.run("heat.pods")
        bad = [k for k, word in enumerate(pods) if word != "fine"]
        same(len(bad), pattern in ("pod_down", "pod_failure"))
        word = {"pod_down": "none", "pod_failure": "bad"}.get(pattern)
        wrong = 0
        for src in range(n):
            for dst in range(n):
                want = word if src in bad or dst in bad else \
                    "bad" if pattern == "spine_failure" and src != dst \
                    else "good"
                wrong += colour(b, src, dst) != want
        # Within what the rule calls a pattern a few pairs may be otherwise.
        assert wrong <= n * n // 10, f"{pattern}: {wrong} of {n * n} cells"
        if bad:
            assert f"Pod {bad[0]}." in b.run("find('means').textContent")
        total = sum(int(x.split("=")[1]) for x in
                    b.run("find('heat').dataset.cells").split())
        same(total, n * n)
        picture(b, pattern)


def a_pair_tells_its_numbers_and_its_history(b):
    show(b, "FOUR")
    box = b.run("(() => { const r = find('heat').getBoundingClientRect();"
                "return [r.left, r.top, (Math.min(r.width, r.height) - 34)"
                " / heat.n]; })()")
    x, y = box[0] + 34 + 2.5 * box[2], box[1] + 34 + 1.5 * box[2]
    b.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    until(b, "find('pair-name').textContent === 'Pod 1 to pod 2'")
    cell = b.run("heat.cell[heat.n + 2]")
    text = b.run("find('facts').textContent")
    for word in "P99", "P50", "Drop rate", f"Connected{cell['n_success']:,}":
        assert word in text, (word, text)
    for kind in "mousePressed", "mouseReleased":
        b.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
               button="left", clickCount=1)
    until(b, "document.querySelectorAll('#history svg').length === 2")
    picture(b, "pair")
    # The same by keys.
    b.run("find('heat').focus()")
    for key, code in ("ArrowDown", 40), ("ArrowRight", 39), ("ArrowRight", 39):
        b.key(key, code)
    same(b.run("find('pair-name').textContent"), "Pod 2 to pod 4")
    b.key("Enter", 13)
    until(b, "find('history').textContent.includes('Pod 2 to pod 4')")


def drop_rates_have_their_colours(b):
    show(b, "FOUR")
    i = [p for _, p in b.run(WINDOWS)].index("spine_failure")
    go(b, i)
    b.run("document.querySelector('[data-show=drop]').click()")
    until(b, "heat.show === 'drop'")
    time.sleep(.5)
    until(b, "find('heat').dataset.cells.includes('bad=')")
    same(b.run("document.querySelector('[data-show=drop]').getAttribute("
               "'aria-pressed')"), "true")
    assert "1 in 1,000" in b.run("find('legend').textContent")
    same(colour(b, 0, 1), "bad")
    same(colour(b, 1, 1), b.run("classOf(heat.cell[heat.n + 1], 'drop', "
                                "heat.bounds)"))
    picture(b, "drop")


def services_and_alerts_are_told(b):
    show(b, "FOUR")
    cards = b.run("document.querySelectorAll('#cards article').length")
    assert cards >= 2, cards
    same(b.run("document.querySelectorAll('#cards svg').length"), 2 * cards)
    same(b.run("document.querySelectorAll('#cards .bound').length"), 2 * cards)
    n_open = b.run("state.alerts.filter(isOpen).length")
    assert n_open > 0
    same(b.run("document.querySelectorAll('#alert-rows tr.open').length"),
         n_open)
    b.run("find('past').click()")
    same(b.run("document.querySelectorAll('#alert-rows tr').length"),
         b.run("state.alerts.length"))
    assert b.run("document.querySelectorAll('#agent-rows tr').length") > 3
    b.run("(() => { find('job').value = '1day'; "
          "find('job').dispatchEvent(new Event('change')); })()")
    until(b, "find('cards').textContent.includes('No window of this length')")


def http_pings_have_levels_of_their_own(b):
    show(b, "HOSTILE")
    b.run("document.querySelector('[data-of=http]').click()")
    until(b, "find('cards').textContent.includes('400 cut off')")
    same(b.run("document.querySelectorAll('#cards article').length"), 3)
    same(b.run("document.querySelectorAll('#cards .alerts').length"), 1)
    same(b.run("document.querySelectorAll('#cards .bound').length"), 6)
    text = b.run("find('cards').textContent")
    for words in "3,600 of 4,000 with status 200", "4,000 of 4,000", \
            "<script>xss = 1</script>", "P99 2.5 ms":
        assert words in text, (words, text)
    assert "50 ms" in b.run("find('bounds').textContent")
    assert "GETs without status 200" in b.run(
        "find('alert-rows').textContent")
    picture(b, "http", whole=True)
    b.run("document.querySelector('[data-of=connect]').click()")
    until(b, "find('cards').textContent.includes('drop rate')")
    same(b.run("document.querySelectorAll('#cards article').length"), 4)


def agents_with_an_old_list_come_first(b):
    show(b, "HOSTILE")
    until(b, "document.querySelectorAll('#agent-rows tr').length > 40")
    words = b.run("[...document.querySelectorAll('#agent-rows tr')].map((r) =>"
                  " r.lastChild.textContent)")
    same(sorted(words[:4]), ["another", "older", "older", "older"])
    same([words.count(w) for w in ("newest", "none", "?")],
         [len(words) - 6, 1, 1])
    text = b.run("find('agents-of').textContent")
    for part in "4 probe by an older list", "1 have no list", "1 do not say":
        assert part in text, (part, text)


def colours_have_the_bounds_of_the_jobs(b):
    """600 us is green, and red where jobs say so."""
    for page, word, pod in ("HOSTILE", "good", "fine"), \
            ("STRICT", "bad", "failed"):
        show(b, page)
        b.run("(() => { find('dc').value = 1; "
              "find('dc').dispatchEvent(new Event('change')); })()")
        until(b, "heat.n === 2")
        until(b, f"find('heat').dataset.cells.includes('{word}=4')")
        same(b.run("heat.pods"), [pod, pod])
    assert "400 \u00b5s" in b.run("find('legend').textContent")


def time_is_gone_through(b):
    show(b, "FOUR")
    n = b.run("state.windows.length")
    go(b, 0)
    same(b.run("document.body.dataset.level"), "past")
    same(b.run("find('back').disabled"), True)
    b.run("find('on').click()")
    until(b, "find('slider').value === '1'")
    assert b.run("find('when').textContent").endswith(
        b.run("hour(state.windows[1].to_s)"))
    b.run("find('live').click()")
    until(b, f"find('slider').value === String({n} - 1)")
    same(b.run("document.body.dataset.level"), "good")


def texts_are_never_markup(b):
    show(b, "HOSTILE")
    same(b.run("window.xss === undefined"), True)
    same(b.run("document.querySelectorAll('body script').length"), 1)
    same(b.run("document.querySelectorAll('main img, main b').length"),
         b.run("document.querySelectorAll('#dogs b').length"))
    b.run("find('past').click()")
    text = b.run("document.body.textContent")
    for word in "<script>xss = 1</script>", "\"it's\" & <b>\u2028</b>", \
            "<img src=x onerror='xss = 1'>":
        assert b.run("[...document.querySelectorAll('#cards h3')].map((h) => "
                     "h.textContent)").count(word) == 1, word
        assert word in text
    same(b.run("document.documentElement.scrollWidth <= innerWidth"), True)
    picture(b, "hostile", whole=True)


def each_data_centre_has_its_own(b):
    show(b, "FOUR")
    same(b.run("find('dcs').hidden"), True)
    show(b, "HOSTILE")
    same(b.run("find('dcs').hidden"), False)
    for dc, n, pattern in (1, 2, "normal"), (0, 6, "spine_failure"):
        b.run(f"(() => {{ find('dc').value = {dc}; "
              "find('dc').dispatchEvent(new Event('change')); })()")
        until(b, f"heat.n === {n}")
        until(b, f"find('pattern').dataset.pattern === '{pattern}'")
        until(b, "find('cards').children.length === "
              f"{'1' if dc else '4'}")


def what_was_not_in_the_page_does_not_run(b):
    show(b, "FOUR")
    for by in "s.textContent = 'window.xss = 1'", \
            "s.src = 'data:text/javascript,window.xss = 1'":
        b.run(f"(() => {{ const s = document.createElement('script'); {by}; "
              "document.body.append(s); })()")
    b.run("document.body.setAttribute('onclick', 'window.xss = 1')")
    b.run("document.body.click()")
    time.sleep(.3)
    same(b.run("window.xss === undefined"), True)
    refused = b.run("fetch('http://127.0.0.1:9/').then(() => 0, () => 1)")
    same(refused, 1)
    said = [c for c in b.complaints(at["FOUR"]) if "Content Security" in c]
    assert len(said) >= 4, said
    b.events.clear()


def what_is_old_does_not_look_fresh(b):
    show(b, "OLD")
    until(b, "document.body.dataset.level === 'old'")
    same(b.run("find('alarm').hidden"), False)
    assert "overdue" in b.run("find('alarm').textContent")
    assert b.run("document.title").startswith("Old")
    picture(b, "old")
    show(b, "EMPTY")
    until(b, "document.body.dataset.level === 'empty'")
    until(b, "!find('nothing').hidden")
    show(b, "NONE")
    until(b, "find('alarm').textContent.includes('--db')")


# [what, level]: of a window that ended 700 s ago, unless told otherwise.
CASES = [
    ({}, "good"),
    ({"answer_age_s": 46}, "lost"),
    ({"answer_age_s": 86400}, "lost"),
    ({"problem": "there is no file"}, "old"),
    ({"newest": None, "with_data": None}, "empty"),
    ({"with_data": None}, "empty"),
    ({"with_data": {"from_s": 98200, "to_s": 98800}}, "old"),
    ({"now_s": 100719}, "good"),
    ({"now_s": 100721}, "old"),
    ({"now_s": 186400}, "old"),
    ({"now_s": 99000}, "clock"),
    ({"shown_s": 98800}, "past"),
    ({"shown_s": 99400}, "good"),
]


def each_age_has_its_word(b):
    show(b, "FOUR")
    window = {"from_s": 98800, "to_s": 99400, "due_s": 100000}
    base = {"answer_age_s": 3, "now_s": 100100, "problem": None,
            "newest": window, "with_data": window, "last_batch_s": 100090,
            "started_s": 1, "shown_s": None}
    for change, level in CASES:
        what = b.json({**base, **change})
        got = b.run(f"freshness({what})")
        assert got["level"] == level, (change, got)
        assert len(got["says"]) > 10, got
    old = b.run(f"freshness({b.json({**base, 'now_s': 186400})}).says")
    assert "last batch" in old, old


def it_fits_a_screen(b):
    """What plots/page.png is: `cp build/tests/browser/live-page.png plots/page.png`
    keeps it."""
    b.resize(1200, 860)
    show(b, "FOUR")
    go(b, [p for _, p in b.run(WINDOWS)].index("pod_failure"))
    b.run("heat.at = {src: 0, dst: 2}; paint(); tellPair(); openPair(heat.at)")
    until(b, "document.querySelectorAll('#history svg').length === 2")
    time.sleep(.3)
    bottom = b.run("find('legend').getBoundingClientRect().bottom")
    assert bottom < 860, bottom
    picture(b, "page")
    assert os.path.getsize(os.path.join(folder, "live-page.png")) < 150000
    b.resize(1440, 1000)


def an_end_of_the_collector_is_told(b):
    """Nobody need look at the clock: the page itself says it."""
    show(b, "FOUR")
    b.run("state.answered_wall -= 60000")
    until(b, "document.body.dataset.level === 'lost'")
    assert b.run("document.title").startswith("No answer")
    same(b.run("find('alarm').hidden"), False)
    picture(b, "lost")


def each_control_has_a_name(b):
    show(b, "FOUR")
    nameless = b.run("""Array.from(document.querySelectorAll(
        "button, select, input, a, [role=img], [role=application]")).filter(
        (e) => !(e.textContent.trim() || e.getAttribute("aria-label") ||
            e.labels?.length)).map((e) => e.outerHTML.slice(0, 100))""")
    same(nameless, [])
    same(b.run("document.querySelectorAll('h1').length"), 1)


def a_narrow_screen_is_enough(b):
    b.resize(380, 800)
    show(b, "FOUR")
    same(b.run("document.documentElement.scrollWidth"), 380)
    assert b.run("find('heat').getBoundingClientRect().width") > 300
    picture(b, "narrow", whole=True)
    b.resize(1440, 1000)


def all_is_legible(b):
    show(b, "FOUR")
    dark = b.run("isDark()")
    worst = b.worst_contrast()
    assert worst[0] >= 4.5, worst
    picture(b, "dark" if dark else "light", whole=True)
    b.resize(1440, 1000)


def colours_are_apart_without_red_or_green(b):
    """Distances (CIE 1976) of the three colours as somebody without the one or
    the other cone sees them, by Machado's matrices of 2009; 20 is plain."""
    show(b, "FOUR")
    rgb = [b.run(f"colours().{w}") for w in ("good", "fair", "bad")]
    eyes = {
        "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        "no red": ((.152286, 1.052583, -.204868),
                   (.114503, .786281, .099216), (-.003882, -.048116, 1.051998)),
        "no green": ((.367322, .860646, -.227968),
                     (.280085, .672501, .047413), (-.011820, .042940, .968881)),
    }

    def lab(text, eye):
        c = [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        c = [x / 12.92 if x <= .04045 else ((x + .055) / 1.055) ** 2.4
             for x in c]
        c = [min(1, max(0, sum(m * x for m, x in zip(row, c)))) for row in eye]
        xyz = [sum(m * x for m, x in zip(row, c)) / w for row, w in zip(
            ((.4124, .3576, .1805), (.2126, .7152, .0722),
             (.0193, .1192, .9505)), (.9505, 1, 1.089))]
        f = [t ** (1 / 3) if t > .008856 else 7.787 * t + 16 / 116
             for t in xyz]
        return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])

    for name, eye in eyes.items():
        for i in range(3):
            for k in range(i):
                p, q = lab(rgb[i], eye), lab(rgb[k], eye)
                d = sum((x - y) ** 2 for x, y in zip(p, q)) ** .5
                assert d > 20, (name, rgb[i], rgb[k], d)


def a_hundred_pods_are_painted(b):
    begin = time.monotonic()
    show(b, "LARGE")
    until(b, "heat.n === 100")
    loaded = time.monotonic() - begin
    ms = b.run("(() => { const t = performance.now(); for (let i = 0; i < 10; "
               "i++) paint(); return (performance.now() - t) / 10; })()")
    same(b.run("heat.cell.length"), 10000)
    begin = time.monotonic()
    go(b, 0)
    print(f"note: 100 x 100 pods: page {loaded:.1f} s, a window "
          f"{time.monotonic() - begin:.2f} s, painted in {ms:.1f} ms")
    picture(b, "large")


ALL = [it_loads_without_a_complaint, the_four_patterns_are_seen,
       a_pair_tells_its_numbers_and_its_history, drop_rates_have_their_colours,
       services_and_alerts_are_told, http_pings_have_levels_of_their_own,
       agents_with_an_old_list_come_first, colours_have_the_bounds_of_the_jobs,
       time_is_gone_through,
       texts_are_never_markup, each_data_centre_has_its_own, what_is_old_does_not_look_fresh,
       it_fits_a_screen, each_age_has_its_word, an_end_of_the_collector_is_told,
       each_control_has_a_name, a_narrow_screen_is_enough,
       colours_are_apart_without_red_or_green, a_hundred_pods_are_painted,
       what_was_not_in_the_page_does_not_run, all_is_legible]


def run(b, function):
    global failed
    try:
        function(b)
        # Looking at what is painted is this test's own doing.
        rest = [c for c in b.complaints("http://127.0.0.1:")
                if "willReadFrequently" not in c]
        assert not rest, rest
        print("ok", function.__name__, "in the dark" if b.dark else "")
    except Exception as e:  # whatever it is, the next one is to be tried
        failed += 1
        print("FAIL", function.__name__, f"({type(e).__name__}: {e})")


chosen = os.environ.get("ONLY")
for dark, functions in (False, ALL), (True, [all_is_legible]):
    b = browser.Browser(dark)
    try:
        for f in functions:
            if not chosen or f.__name__ == chosen:
                run(b, f)
    finally:
        b.close()
sys.exit(failed > 0)
