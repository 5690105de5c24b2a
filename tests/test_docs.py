"""What is written for people is held to the code: codes, messages, examples, links, commands."""

import json
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
import typer.main
from prometheus_client import REGISTRY
from pydantic import BaseModel
from typer.core import TyperGroup

import demineur.app  # noqa: F401 - registers every metric
from demineur import protocol
from demineur.cli import build
from demineur.config import Settings
from demineur.engine import LEVELS
from demineur.protocol import CloseCode, ErrorCode

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text()

# Sent by nobody: what a client sees when the line is cut.
NO_CLOSE_FRAME = 1006


def section(text: str, heading: str) -> str:
    """Return what stands under a heading, up to the next one of any depth."""
    _, found, rest = text.partition(f"\n{heading}\n")
    assert found, f"no heading {heading!r}"
    return re.split(r"^#+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of all table rows but the heads."""
    lines = [line.strip() for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rulers = [i for i, row in enumerate(cells) if set("".join(row)) <= set("-: ")]
    assert rulers, "there is no table"
    heads = {i - 1 for i in rulers} | set(rulers)
    return [row for i, row in enumerate(cells) if i not in heads]


def first_words(text: str) -> list[str]:
    return [row[0].strip("`") for row in rows(text)]


def members(union: Any) -> dict[str, type[BaseModel]]:
    """Return the models of a discriminated union by their tag, ``t`` or ``e``."""
    if get_origin(union) is Annotated:
        union = get_args(union)[0]
    assert get_origin(union) in {Union, types.UnionType}
    found: dict[str, type[BaseModel]] = {}
    for model in get_args(union):
        tag = model.model_fields.get("t") or model.model_fields["e"]
        found[get_args(tag.annotation)[0]] = model
    return found


def test_every_error_code_is_explained_and_no_other() -> None:
    assert sorted(first_words(section(PROTOCOL, "## Errors"))) == sorted(ErrorCode)


def test_every_close_code_is_explained_and_no_other() -> None:
    documented = [int(word) for word in first_words(section(PROTOCOL, "## Close codes"))]
    assert documented == sorted({*CloseCode, NO_CLOSE_FRAME})


def test_every_client_message_is_explained_with_its_fields() -> None:
    documented = {
        row[0].strip("`"): set(re.findall(r"`(\w+)`", row[1]))
        for row in rows(section(PROTOCOL, "## What a client says"))
    }
    models = members(protocol.ClientMessage)
    assert documented == {kind: set(model.model_fields) - {"t"} for kind, model in models.items()}


def test_every_server_message_is_explained() -> None:
    documented = first_words(section(PROTOCOL, "## What the server says"))
    assert sorted(documented) == sorted(members(protocol.ServerMessage))


def test_every_event_is_explained() -> None:
    documented = first_words(section(PROTOCOL, "### Events"))
    assert sorted(documented) == sorted(members(protocol.RoomEvent))


def test_every_phase_is_explained() -> None:
    annotation = protocol.RoomSnapshot.model_fields["phase"].annotation
    assert first_words(section(PROTOCOL, "### The room")) == list(get_args(annotation))


def test_the_answer_to_a_move_is_explained() -> None:
    documented = first_words(section(PROTOCOL, "### Moves"))
    assert documented == [name for name in protocol.Moved.model_fields if name not in {"t", "n"}]


def test_the_alphabet_of_room_codes_is_told() -> None:
    assert f"`{protocol.ALPHABET}`" in PROTOCOL
    assert "`K7MP-3QXZ`" in PROTOCOL
    assert protocol.clean_code("K7MP-3QXZ")


def test_the_page_of_settings_is_fresh() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "settings_page.py")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert made.stdout == (ROOT / "docs" / "settings.md").read_text(), "run make docs"


def _variables() -> set[str]:
    """Every environment variable that the page of settings lists."""
    page = (ROOT / "docs" / "settings.md").read_text()
    return {row[0].strip("`") for part in page.split("\n## ")[1:] for row in rows(part)}


@pytest.mark.parametrize("name", ["DEMINEUR_NET__MAX_CONNECTIONS", "DEMINEUR_PLAYERS__MOVE_BURST"])
def test_a_limit_is_set_by_the_variable_that_the_page_names(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert name in _variables()
    monkeypatch.setenv(name, "7")
    group, field = name.removeprefix("DEMINEUR_").lower().split("__")
    assert getattr(getattr(Settings(), group), field) == 7


FILES = sorted([*PAGES, ROOT / "docker-compose.yml", *(ROOT / "deploy").iterdir()])


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_variables_that_are_named_exist(file: Path) -> None:
    of_the_balancer = {"DEMINEUR_BIND", "DEMINEUR_NODE_A", "DEMINEUR_NODE_B"}
    of_the_tests = {"DEMINEUR_FULL"}
    racers = (ROOT / "loadtest" / "locustfile.py").read_text()
    of_the_load_test = set(re.findall(r"DEMINEUR_RACE_[A-Z_]+", racers))
    named = set(re.findall(r"DEMINEUR_[A-Z][A-Z_]*[A-Z]", file.read_text()))
    assert named <= _variables() | of_the_balancer | of_the_tests | of_the_load_test


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_commands_that_are_shown_are_taken(file: Path) -> None:
    for command in re.findall(r"\bdemineur (?:serve|board|replay|verify) .*$", *_shown(file)):
        words = shlex.split(command.split("    ")[0].replace("[", "").replace("]", ""))
        words = [{"HEX": "00" * 16, "CELL": "0", "N": "1", "%i": "1"}.get(w, w) for w in words]
        app = typer.main.get_command(build(words[1:]))
        assert isinstance(app, TyperGroup)
        app.commands[words[1]].make_context(words[1], words[2:])


def _shown(file: Path) -> tuple[str, re.RegexFlag]:
    """Return what stands in blocks of a page, or the whole of another file."""
    text = file.read_text()
    if file.suffix == ".md":
        text = "\n".join(re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL))
    return text, re.MULTILINE


def test_the_levels_are_as_in_the_engine() -> None:
    table = rows(section((ROOT / "docs" / "rules.md").read_text(), "## The board"))
    documented = [
        (name, *(int(number) for number in size.split(" × ")), int(mines))
        for name, size, _, mines in table
    ]
    assert documented == [(v.id, v.width, v.height, v.mines) for v in LEVELS.values()]
    for level, (_, _, cells, _) in zip(LEVELS.values(), table, strict=True):
        assert int(cells.replace(",", "")) == level.width * level.height


def _examples() -> dict[str, Any]:
    text = (ROOT / "docs" / "formats.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec("\n".join(blocks), names)
    return names


def test_the_example_makes_the_boards_of_the_vectors() -> None:
    example = _examples()
    boards = json.loads((ROOT / "tests" / "vectors" / "boards.json").read_text())
    for board in boards:
        made = example["mine_cells"](
            bytes.fromhex(board["seed"]),
            board["width"],
            board["height"],
            board["mines"],
            board["first_tap"],
        )
        assert made == board["mine_cells"]
    assert len(boards) == 36


def test_the_example_makes_the_attempts_of_the_engine() -> None:
    from demineur.engine import attempt_seed

    seed = bytes(range(16))
    for attempt in (0, 1, 2, 2**32 - 1):
        assert _examples()["attempt_seed"](seed, attempt) == attempt_seed(seed, attempt)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in _anchors(linked), f"{page.name} links to {target}"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_make_targets_that_are_named_exist(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = re.findall(r"(?:^|`)(?:\$ )?make ([a-z-]+)", page.read_text(), re.MULTILINE)
    assert set(named) <= targets


def test_every_target_is_in_the_list_of_help() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert phony
    documented = set(re.findall(r"^([a-z-]+):.* ## ", makefile, re.MULTILINE))
    assert set(phony.group(1).split()) - {"types"} == documented


def test_metrics_that_are_named_exist_and_are_all_there_are() -> None:
    page = (ROOT / "docs" / "measuring.md").read_text()
    named = set(re.findall(r"`(demineur_\w+)`", page))
    collected = {
        metric.name + ("_total" if metric.type == "counter" else "")
        for metric in REGISTRY.collect()
        if metric.name.startswith("demineur_")
    }
    assert named == collected


def test_every_decision_is_in_the_list() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(
        r"^- \[\d{3}\]\((.+?)\): ", (folder / "README.md").read_text(), re.MULTILINE
    )
    assert listed == sorted(path.name for path in folder.glob("0*.md") if path.name[:3] != "000")
