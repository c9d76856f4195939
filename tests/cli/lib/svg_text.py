# tests/cli/lib/svg_text.py -- text of gnuplot's SVG that nobody can read.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: svg_text.py FIGURE.svg...   One line a text that is cut off by the edge
# of its figure or that another one covers; the exit code tells whether there is
# any. Boxes are estimates: letters are taken as 0.55 of their size wide, which is
# less than DejaVu Sans has on average, so that what is reported is so.
import re
import sys

GROUP = re.compile(
    r'<g transform="translate\(([-\d.]+),([-\d.]+)\)( rotate\(([-\d.]+)\))?"'
    r'[^>]*font-size="([\d.]+)"[^>]*text-anchor="(\w+)">\s*<text>(.*?)</text>',
    re.S)
WIDE = 0.55
HIGH = 0.7  # of capitals


def box(x, y, turn, size, anchor, text):
    n = len(re.sub(r"&\w+;|&#\d+;", "x", text)) * WIDE * size
    start = {"start": 0, "middle": -n / 2, "end": -n}[anchor]
    if turn == 270:
        # Read upward: along the text is against y.
        return (x - HIGH * size, y - start - n, x, y - start)
    return (x + start, y - HIGH * size, x + start + n, y)


def covered(a, b):
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    least = min((r[2] - r[0]) * (r[3] - r[1]) for r in (a, b))
    return wide > 0 and high > 0 and wide * high > 0.1 * least


def offences(path):
    svg = open(path, encoding="utf-8").read()
    width, height = map(float, re.search(
        r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    seen = {}
    for x, y, _, turn, size, anchor, text in GROUP.findall(svg):
        turn = float(turn or 0)
        if text.strip() and turn in (0, 270):
            # A multiplot may draw what it has at its foot twice.
            seen[x, y, text] = box(float(x), float(y), turn, float(size),
                                   anchor, text.strip())
    texts = list(seen.items())
    for i, ((_, _, text), r) in enumerate(texts):
        if r[0] < 0 or r[1] < 0 or r[2] > width or r[3] > height:
            yield f'"{text}" is cut off'
        for (_, _, other), s in texts[:i]:
            if covered(r, s):
                yield f'"{text}" and "{other}" cover each other'


found = [f"{path}: {what}" for path in sys.argv[1:] for what in offences(path)]
print("\n".join(found))
sys.exit(bool(found))
