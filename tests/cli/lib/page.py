#!/usr/bin/python3
# tests/cli/lib/page.py -- what a page of `culprit report` must be.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: page.py FILE FIGURE_ID...
# Elements are closed in order; ids are there once, and all that is referred to
# is there; nothing is fetched, and nothing runs but the page's own script.
import html.parser
import re
import sys

VOID = {"meta", "link", "br", "input", "img", "hr"}
HANDLERS = re.compile("on[a-z]+$")


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.refs = [], [], set()
        self.n = {}
        self.heads = []

    def handle_starttag(self, tag, attrs):
        where = self.getpos()
        names = [k for k, _ in attrs]
        assert len(names) == len(set(names)), f"{where}: {names}"
        self.n[tag] = self.n.get(tag, 0) + 1
        for key, value in attrs:
            assert not HANDLERS.match(key), f"{where}: {key}"
            if key == "id":
                self.ids.append(value)
            elif key in ("href", "xlink:href", "src"):
                assert value.startswith(("#", "data:")), f"{where}: {value}"
                if value.startswith("#"):
                    self.refs.add(value[1:])
            elif key in ("aria-labelledby", "for"):
                self.refs.add(value)
            self.refs.update(re.findall(r"url\(#([^)]*)\)", value or ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, \
            f"{self.getpos()}: </{tag}> in {self.open[-4:]}"
        self.open.pop()


path, *figures = sys.argv[1:]
with open(path, encoding="utf-8", newline="") as f:
    text = f.read()
p = Page()
p.feed(text)
p.close()
assert not p.open, p.open
assert text.startswith("<!DOCTYPE html>\n<html lang=\"en\">")
twice = {i for i in p.ids if p.ids.count(i) > 1} if len(p.ids) < 5000 else \
    {i for i, j in zip(sorted(p.ids), sorted(p.ids)[1:]) if i == j}
assert not twice, twice
assert all(re.fullmatch(r"[a-zA-Z][\w.-]*", i) for i in p.ids), p.ids
lost = p.refs - set(p.ids)
assert not lost, lost
assert p.n["script"] == 1 and p.n["main"] == 1 and p.n["style"] == 1, p.n
assert p.n["article"] == len(figures), p.n
for f in figures:
    assert f in p.ids, f
for word in "http:", "https:", "@import", "innerHTML", "eval(":
    code = re.sub(r"http://www\.w3\.org/\S*", "", text)
    assert word not in code, word
