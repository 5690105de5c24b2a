#!/usr/bin/env python3
"""Print docs/settings.md: every setting with its default and its docstring in the code.

`make docs` writes the page; a test holds it to the code.
"""

import ast
import inspect
import sys
import textwrap
from dataclasses import MISSING, fields, is_dataclass
from itertools import pairwise
from typing import Any

from pydantic_core import PydanticUndefined

from demineur.config import Settings

HEAD = """\
# Settings

Made from the code by `make docs`; do not edit.

Every setting is an environment variable. Those that `demineur serve --help` lists are options as
well, and the option goes first. A list is written with commas between. A wrong value ends the
start with one line that names the setting.

In a group's table the part before the two underscores is the group.
"""

TITLES = {
    "": "A node",
    "net": "Connections",
    "rooms": "Rooms",
    "players": "What one client may ask for",
}


def docstrings(model: type) -> dict[str, str]:
    """Return the string that follows each field in the class's source."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(model)))
    (body,) = [node.body for node in tree.body if isinstance(node, ast.ClassDef)]
    found: dict[str, str] = {}
    for field, following in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match following:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    found[field.target.id] = " ".join(inspect.cleandoc(text).split())
    return found


def shown(value: Any) -> str:
    """Return a default as it would be written into the environment."""
    if value in (None, PydanticUndefined, MISSING, "", ()):
        return ""
    if isinstance(value, tuple):
        value = ",".join(value)
    if isinstance(value, bool | float):
        value = f"{value:g}" if isinstance(value, float) else str(value).lower()
    return f"`{value}`"


def table(rows: list[tuple[str, Any, str]]) -> str:
    """Return a table; every row must say what its setting does."""
    lines = ["| variable | default | what |", "|---|---|---|"]
    for name, default, text in rows:
        if not text:
            raise SystemExit(f"settings_page: {name} has no docstring")
        plain = text.replace("``", "`").replace("|", "\\|")
        lines.append(f"| `{name}` | {shown(default)} | {plain} |")
    return "\n".join(lines)


def page() -> str:
    """Return the whole page."""
    texts = docstrings(Settings)
    plain: list[tuple[str, Any, str]] = []
    groups: list[tuple[str, list[tuple[str, Any, str]]]] = []
    for name, field in Settings.model_fields.items():
        variable = f"DEMINEUR_{name.upper()}"
        if is_dataclass(field.default):
            inner = docstrings(type(field.default))
            groups.append(
                (
                    name,
                    [
                        (f"{variable}__{each.name.upper()}", each.default, inner.get(each.name, ""))
                        for each in fields(field.default)
                    ],
                )
            )
        else:
            plain.append((variable, field.default, texts.get(name, "")))
    parts = [HEAD]
    for name, rows in [("", plain), *groups]:
        parts.append(f"## {TITLES[name]}\n\n{table(rows)}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
