#!/usr/bin/python3
# tests/browser/report.py -- a page of `culprit report`, as people use it.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: report.py PAGE [FOLDER]
# The page is of two results of the figure `small`, and claims of its own. With
# FOLDER, pictures of what was looked at are left there.
import os
import sys

import browser

page = "file://" + os.path.abspath(sys.argv[1])
folder = sys.argv[2] if len(sys.argv) > 2 else None
failed = 0


def test(b, function):
    global failed
    try:
        function(b)
        rest = b.complaints()
        assert not rest, rest
        print("ok", function.__name__)
    except Exception as e:  # whatever it is, the next one is to be tried
        failed += 1
        print("FAIL", function.__name__, f"({type(e).__name__}: {e})")


def same(got, want):
    assert got == want, f"{got!r}, not {want!r}"


def picture(b, name):
    if folder:
        b.picture(os.path.join(folder, name + ".png"))


def it_loads_without_a_complaint(b):
    b.open(page)
    same(b.run("document.title"), "culprit report")
    same(b.run("document.documentElement.className"), "js")
    same(b.run("window.xss === undefined"), True)
    same(b.run("document.querySelectorAll('article').length"), 3)
    # Wide tables scroll by themselves; the page never does sideways.
    same(b.run("document.documentElement.scrollWidth <= innerWidth"), True)
    picture(b, "light")


COLUMN = """Array.from(document.querySelectorAll('#claims tbody tr'))
    .map((r) => r.cells[%d].dataset.v ?? r.cells[%d].textContent.trim())"""


def column(b, i):
    return b.run(COLUMN % (i, i))


def head(i):
    return f"document.querySelectorAll('#claims thead th')[{i}]"


def claims_are_sorted_by_a_click_and_by_a_key(b):
    b.open(page)
    before = column(b, 3)
    assert len(before) >= 3, before
    same(b.run(head(3) + ".getAttribute('aria-sort')"), "none")
    b.run(head(3) + ".querySelector('button').click()")
    same(b.run(head(3) + ".getAttribute('aria-sort')"), "ascending")
    numbers = [float(x) for x in column(b, 3) if x]
    same(numbers, sorted(float(x) for x in before if x))
    # What has no number stands at the end, both ways.
    assert "" not in column(b, 3)[:len(numbers)]
    b.run(head(3) + ".querySelector('button').focus()")
    b.key("Enter", 13)
    same(b.run(head(3) + ".getAttribute('aria-sort')"), "descending")
    same([float(x) for x in column(b, 3) if x], numbers[::-1])
    assert "" not in column(b, 3)[:len(numbers)]
    b.run(head(1) + ".querySelector('button').click()")
    same(b.run(head(3) + ".getAttribute('aria-sort')"), "none")
    words = column(b, 1)
    same(sorted(words, key=str.lower), sorted(column(b, 1), key=str.lower))
    same(len(words), len(before))


def claims_are_chosen_by_verdict(b):
    b.open(page)
    shown = "Array.from(document.querySelectorAll('#claims tbody tr'))" \
        ".filter((r) => r.offsetParent !== null).map((r) => " \
        "r.dataset.verdict)"
    everything = b.run(shown)
    for verdict in set(everything):
        b.run("document.querySelector('#verdicts "
              f"[data-verdict={verdict}]').click()")
        same(b.run(shown), [v for v in everything if v == verdict])
        same(b.run("document.querySelector('#verdicts "
                   "[aria-pressed=true]').dataset.verdict"), verdict)
    b.run("document.querySelector('#verdicts button').click()")
    same(b.run(shown), everything)


OPEN = """Array.from(document.querySelectorAll('#small details.cell'))
    .filter((c) => c.open).map((c) => c.dataset.point + '/' + c.dataset.run)"""
CHOOSE = """(() => { const s = document.querySelector('#small select.%s');
    s.value = %r; s.dispatchEvent(new Event('change')); })()"""


def one_cell_at_a_time_is_looked_into(b):
    b.open(page)
    points = b.run("Array.from(document.querySelectorAll("
                   "'#small select.point option')).map((o) => o.value)")
    assert len(points) == 4, points
    for point in points:
        b.run(CHOOSE % ("point", point))
        runs = b.run("Array.from(document.querySelectorAll("
                     "'#small select.run option')).map((o) => o.value)")
        assert runs, point
        for run in runs:
            b.run(CHOOSE % ("run", run))
            same(b.run(OPEN), [f"{point}/{run}"])
            cell = f"#small-p{point}-r{run}"
            same(b.run(f"document.querySelector('{cell} .run')"
                       ".textContent.startsWith('culprit explain small')"),
                 True)
            size = b.run("(() => { const r = document.querySelector("
                         f"'{cell} svg[role=img]').getBoundingClientRect();"
                         " return r.width > 500 && r.height > 200; })()")
            same(size, True)
    b.run("document.querySelector('#small .open').click()")
    same(b.run(OPEN)[0].split("/")[0], points[0])
    b.run("document.querySelector('#small .cells').scrollIntoView()")
    picture(b, "cell")


def a_network_that_is_shared_is_drawn(b):
    """A page has it once, and each cell uses it: in the colours of the page."""
    b.open(page + "#small/1")
    fill = b.run("getComputedStyle(document.querySelector("
                 "'#small defs .c-node')).fill")
    same(fill, "rgb(255, 255, 255)")
    same(b.run("Array.from(document.querySelectorAll('#small use')).every("
               "(u) => document.querySelector(u.getAttribute('href') || "
               "u.getAttribute('xlink:href')) !== null)"), True)
    box = b.run("(() => { const r = document.querySelector('#small "
                "details[open] svg use').getBoundingClientRect(); "
                "return [r.width > 400, r.height > 100]; })()")
    same(box, [True, True])


def scores_are_those_of_the_chosen_algorithm(b):
    b.open(page)
    cell = "document.querySelector('#small details.cell[open]')"
    seen = f"Array.from({cell}.querySelectorAll('.c-says')).filter((g) => " \
        "getComputedStyle(g).visibility === 'visible')" \
        ".map((g) => g.dataset.says)"
    same(b.run(seen), ["0"])
    for i in "1", "2", "0":
        b.run(f"{cell}.querySelector('input[value=\"{i}\"]').click()")
        same(b.run(seen), [i])


def the_arena_has_its_figures_and_its_table(b):
    b.open(page + "#arena")
    wide = b.run("Array.from(document.querySelectorAll('#arena .figure svg'))"
                 ".map((s) => s.getBoundingClientRect().width > 500)")
    same(wide, [True] * 4)
    same(b.run("document.querySelector('#arena > p').textContent"
               ".startsWith('Best is ')"), True)
    same(b.run("document.querySelectorAll('#arena b').length"), 0)
    cells = "Array.from(document.querySelectorAll('#arena tbody tr'))" \
        ".map((r) => r.cells[2].textContent)"
    before = b.run(cells)
    assert len(before) >= 5, before
    b.run("document.querySelectorAll('#arena thead th')[2]"
          ".querySelector('button').click()")
    same(b.run(cells), sorted(before, key=float))
    # It scrolls by itself, and the page never does sideways.
    same(b.run("document.documentElement.scrollWidth <= innerWidth"), True)
    picture(b, "arena")


def an_address_opens_its_cell(b):
    b.open(page + "#small/2")
    same(b.run(OPEN)[0].split("/")[0], "2")
    top = b.run("document.querySelector('#small details[open]')"
                ".getBoundingClientRect().top")
    assert abs(top) < 60, top
    b.open(page + "#why-1")
    same(b.run("document.getElementById('why-1').closest('details').open"),
         True)
    b.open(page + "#%3Cscript%3E/x/y")
    same(len(b.run(OPEN)), 1)


def colours_follow_the_system_and_the_button(b):
    ground = "getComputedStyle(document.body).backgroundColor"
    b.open(page)
    light = b.run(ground)
    b.run("document.getElementById('theme').click()")
    dark = b.run(ground)
    assert light != dark
    same(b.run("document.getElementById('theme').textContent"),
         "Light colours")
    picture(b, "button")
    b.run("document.getElementById('theme').click()")
    same(b.run(ground), light)
    b.run("localStorage.clear()")


def all_is_legible(b):
    """Of each text its contrast with what is behind it is at least 4.5."""
    b.open(page + "#small/3")
    dark = b.run("matchMedia('(prefers-color-scheme: dark)').matches")
    picture(b, "dark" if dark else "bright")
    worst = b.worst_contrast()
    assert worst[0] >= 4.5, worst


def figures_are_found_by_their_name(b):
    b.open(page)
    shown = "Array.from(document.querySelectorAll('.side li')).filter(" \
        "(l) => l.offsetParent !== null).length"
    n = b.run(shown)
    b.run("(() => { const f = document.getElementById('find'); "
          "f.value = 'small'; f.dispatchEvent(new Event('input')); })()")
    same(b.run(shown), 2)
    b.run("(() => { const f = document.getElementById('find'); "
          "f.value = ''; f.dispatchEvent(new Event('input')); })()")
    same(b.run(shown), n)


def each_control_has_a_name(b):
    b.open(page)
    nameless = b.run("""Array.from(document.querySelectorAll(
        "button, select, input, a, [role=img]")).filter((e) => !(
            e.textContent.trim() || e.getAttribute("aria-label") ||
            e.getAttribute("aria-labelledby") || e.labels?.length))
        .map((e) => e.outerHTML.slice(0, 100))""")
    same(nameless, [])
    same(b.run("document.querySelectorAll('h1').length"), 1)


# A class that says how an element is laid out would show it all the same.
def what_is_hidden_is_not_shown(b):
    b.open(page)
    same(b.run("""(() => { const e = document.querySelector(".bar");
        e.hidden = true; const n = e.getClientRects().length;
        e.hidden = false; return [n, e.getClientRects().length]; })()"""),
         [0, 1])


def without_scripts_all_can_be_opened(b):
    b.call("Emulation.setScriptExecutionDisabled", value=True)
    b.open(page)
    b.call("Emulation.setScriptExecutionDisabled", value=False)
    same(b.run("document.documentElement.className"), "")
    same(b.run("Array.from(document.querySelectorAll('details.cell > summary'))"
               ".every((s) => s.getBoundingClientRect().height > 10)"), True)


with_light = [it_loads_without_a_complaint,
              claims_are_sorted_by_a_click_and_by_a_key,
              claims_are_chosen_by_verdict, one_cell_at_a_time_is_looked_into,
              a_network_that_is_shared_is_drawn,
              scores_are_those_of_the_chosen_algorithm,
              the_arena_has_its_figures_and_its_table,
              an_address_opens_its_cell,
              colours_follow_the_system_and_the_button,
              figures_are_found_by_their_name, each_control_has_a_name,
              what_is_hidden_is_not_shown,
              without_scripts_all_can_be_opened, all_is_legible]
for dark, functions in (False, with_light), (True, [all_is_legible]):
    b = browser.Browser(dark)
    try:
        for f in functions:
            test(b, f)
    finally:
        b.close()
sys.exit(failed > 0)
