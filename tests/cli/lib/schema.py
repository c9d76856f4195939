# tests/cli/lib/schema.py -- specs held against the JSON Schema.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: schema.py SCHEMA FILE...
# One line a file: "FILE good", or "FILE bad PATH: MESSAGE".
import json
import re
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """YAML 1.2, as editors read it: 1e-4 is a number, `on` a text."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("bool", r"true|false", "tf"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    (
        "float",
        r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?",
        "-+.0123456789",
    ),
    ("null", r"null|~|", ["n", "~", ""]),
):
    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:" + tag, re.compile("^(%s)$" % pattern), list(first)
    )
Loader.add_constructor(
    "tag:yaml.org,2002:int", lambda l, node: int(node.value, 10)
)
Loader.add_constructor(
    "tag:yaml.org,2002:float", lambda l, node: float(node.value)
)


def load(path):
    with open(path, encoding="utf-8") as f:
        return yaml.load(f, Loader)


def validator(path):
    with open(path, encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def judge(checker, spec):
    """The first mistake, or None."""
    for error in checker.iter_errors(spec):
        at = "/".join(map(str, error.absolute_path))
        text = error.message.replace("\n", " ")
        if len(text) > 160:
            text = text[:60] + " ... " + text[-90:]
        return "%s: %s" % (at, text)
    return None


if __name__ == "__main__":
    held = validator(sys.argv[1])
    for name in sys.argv[2:]:
        why = judge(held, load(name))
        print(name, "good" if why is None else "bad " + why)
