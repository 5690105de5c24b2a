"""The published schema, and the two lists of codes."""

import json
from collections.abc import Iterator
from dataclasses import fields
from hashlib import sha256
from typing import Any

from demineur import protocol as wire
from demineur.protocol import CLOSE_REASONS, SUBPROTOCOL, CloseCode, ErrorCode, schema
from demineur.race import Ending, Phase, Reason, RoomSettings

CLIENT = "create flag hello join leave ping ready rematch rename settings start tap"
SERVER = "clock error event goodbye lobby missed moved pong progress room spectators welcome"


def kinds(direction: str) -> dict[str, dict[str, Any]]:
    """Return a direction's messages by kind."""
    published = schema()[direction]
    mapping = published["discriminator"]["mapping"]
    return {kind: published["$defs"][ref.split("/")[-1]] for kind, ref in mapping.items()}


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a schema, at any depth."""
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from parts(each)
    elif isinstance(value, list):
        for each in value:
            yield from parts(each)


def test_the_kinds_of_v1_are_these() -> None:
    assert SUBPROTOCOL == schema()["subprotocol"] == "demineur.v1"
    assert sorted(kinds("client")) == CLIENT.split()
    assert sorted(kinds("server")) == SERVER.split()


def test_the_fields_of_a_move_and_its_answer_are_these() -> None:
    assert kinds("client")["tap"]["required"] == ["t", "n", "c"]
    assert list(kinds("client")["flag"]["properties"]) == ["t", "n", "c"]
    answer = "t n ms open flag status frozen_ms again"
    assert list(kinds("server")["moved"]["properties"]) == answer.split()


def test_it_is_json_and_the_same_each_time() -> None:
    said = {sha256(json.dumps(schema()).encode()).hexdigest() for _ in range(2)}
    assert len(said) == 1


def test_no_message_takes_what_is_not_declared() -> None:
    for direction in ("client", "server"):
        objects = [part for part in parts(schema()[direction]) if part.get("type") == "object"]
        assert len(objects) >= 12
        for part in objects:
            assert part["additionalProperties"] is False, part["title"]


def test_every_number_of_a_client_is_bounded() -> None:
    numbers = [p for p in parts(schema()["client"]) if p.get("type") in {"integer", "number"}]
    assert len(numbers) >= 8
    for number in numbers:
        assert number["minimum"] >= 0
        assert number["maximum"] <= 2**53


def test_every_text_of_a_client_is_bounded_or_a_name() -> None:
    for title, message in kinds("client").items():
        for name, field in message["properties"].items():
            for part in parts(field):
                if part.get("type") == "string" and "const" not in part and "enum" not in part:
                    assert "maxLength" in part or name == "name", (title, name)


# Both lists of codes.


def test_error_codes_are_as_clients_know_them() -> None:
    for code in ErrorCode:
        assert code.value == code.name.lower()


def test_every_refusal_of_the_race_is_an_error_code() -> None:
    assert {reason.value for reason in Reason} <= {code.value for code in ErrorCode}


def test_every_close_code_has_a_reason_that_fits_a_close_frame() -> None:
    assert set(CLOSE_REASONS) == set(CloseCode)
    for reason in CLOSE_REASONS.values():
        assert 0 < len(reason.encode()) <= 123


def test_close_codes_are_ones_that_may_be_sent() -> None:
    for code in CloseCode:
        assert 4000 <= code < 5000 or code in {1001, 1003, 1009, 1011, 1012, 1013}


# The wire's words are the race's.


def test_settings_are_the_races() -> None:
    of_the_race = {field.name: field.default for field in fields(RoomSettings)}
    of_the_wire = {name: field.default for name, field in wire.Settings.model_fields.items()}
    assert list(of_the_wire) == list(of_the_race)
    for name in of_the_race.keys() - {"level"}:
        assert of_the_wire[name] == of_the_race[name]


def test_endings_and_phases_are_the_races() -> None:
    properties = schema()["server"]["$defs"]
    assert set(properties["Standing"]["properties"]["ending"]["enum"]) == set(Ending)
    phases = properties["RoomSnapshot"]["properties"]["phase"]["enum"]
    assert set(phases) == set(Phase) - {Phase.CLOSED}
