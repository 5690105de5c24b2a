"""Imports go down only: every module of the package is held to its floor."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "server" / "demineur"


@dataclass(frozen=True)
class Floor:
    """What one package of the project may know."""

    ours: frozenset[str]
    """Other packages of the project that it may import."""
    outside: frozenset[str] | None
    """Distributions that it may import; None where that is free."""
    pure: bool = False
    """No clock, no randomness, no input or output, nothing awaited."""


def _floor(ours: str = "", outside: str | None = None, *, pure: bool = False) -> Floor:
    libraries = None if outside is None else frozenset(outside.split())
    return Floor(frozenset(ours.split()), libraries, pure)


FLOORS = {
    "engine": _floor("", "", pure=True),
    "race": _floor("engine", "orjson", pure=True),
    "protocol": _floor("engine", "pydantic pydantic_core orjson"),
    "store": _floor("engine protocol"),
    "net": _floor("engine protocol"),
    "searcher": _floor("engine", ""),
    "rooms": _floor("engine protocol race searcher store net"),
}
"""Every package below the top floor; the rest, ``TOP``, wires them."""

TOP = frozenset({"app", "cli", "config", "workers"})

IMPURE = frozenset(
    {
        "asyncio",
        "concurrent",
        "datetime",
        "io",
        "multiprocessing",
        "os",
        "pathlib",
        "queue",
        "random",
        "secrets",
        "selectors",
        "shutil",
        "signal",
        "socket",
        "ssl",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "uuid",
    }
)
"""Modules with a clock, randomness, tasks or a way out."""


def _package_of(path: Path) -> str:
    """The floor's name: the folder under the package, or a top-level module's own name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if _package_of(path) != "__init__")


def _imports(tree: ast.AST) -> Iterator[str]:
    """Full dotted names, wherever they stand: in functions and behind TYPE_CHECKING too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield "." * node.level
            elif node.module == "demineur":
                yield from (f"demineur.{alias.name}" for alias in node.names)
            elif node.module:
                yield node.module


def faults(package: str, source: str) -> list[str]:
    """Say every import and every construct that the package's floor forbids."""
    floor = FLOORS[package]
    tree = ast.parse(source)
    found = [fault for name in _imports(tree) if (fault := _import_fault(package, floor, name))]
    if floor.pure:
        asynchronous = (ast.Await, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith)
        found += [
            f"line {node.lineno}: awaits"
            for node in ast.walk(tree)
            if isinstance(node, asynchronous)
        ]
    return found


def _import_fault(package: str, floor: Floor, name: str) -> str | None:
    top, _, rest = name.partition(".")
    if name.startswith("."):
        return "relative import: write the whole name"
    if top == "demineur":
        other = rest.split(".")[0]
        if other not in {package, *floor.ours}:
            return f"imports {name}: not below {package}"
    elif top in sys.stdlib_module_names:
        if floor.pure and top in IMPURE:
            return f"imports {name}: {package} is pure"
    elif floor.outside is not None and top not in floor.outside:
        return f"imports {name}: not a library of {package}"
    return None


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_keeps_to_its_floor(path: Path) -> None:
    package = _package_of(path)
    assert package in FLOORS or package in TOP, f"{package} stands on no floor"
    if package in FLOORS:
        assert faults(package, path.read_text()) == []


def test_simulated_players_know_only_what_a_client_may() -> None:
    """Benchmarks (``bench_*.py``) look at a part from inside and are exempt."""
    for path in set((ROOT / "loadtest").rglob("*.py")) - set((ROOT / "loadtest").rglob("bench_*")):
        names = [n for n in _imports(ast.parse(path.read_text())) if n.startswith("demineur")]
        assert all(n.split(".")[1:2] in (["engine"], ["protocol"]) for n in names), path


@pytest.mark.parametrize(
    ("package", "source", "word"),
    [
        ("engine", "import numpy", "library"),
        ("engine", "from demineur.protocol import decode", "below"),
        ("engine", "from demineur import race", "below"),
        ("engine", "def f():\n    import time", "pure"),
        ("engine", "async def f(): ...", "awaits"),
        ("race", "import random", "pure"),
        ("race", "from demineur.protocol.client import Tap", "below"),
        ("race", "from . import state", "relative"),
        ("protocol", "from demineur.race import Race", "below"),
        ("protocol", "import redis", "library"),
        ("store", "from demineur.net import Listener", "below"),
        ("net", "from demineur.store import Store", "below"),
        ("rooms", "from demineur.app import Node", "below"),
    ],
)
def test_the_rules_catch_what_they_forbid(package: str, source: str, word: str) -> None:
    (fault,) = faults(package, source)
    assert word in fault


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("engine", "import hashlib\nfrom demineur.engine.geometry import Geometry"),
        ("race", "from demineur.engine import Run"),
        ("protocol", "from pydantic import BaseModel"),
        ("store", "import asyncio, redis.asyncio"),
        ("rooms", "from demineur.store import Store\nfrom demineur.race import decide"),
    ],
)
def test_the_rules_let_pass_what_they_allow(package: str, source: str) -> None:
    assert faults(package, source) == []
