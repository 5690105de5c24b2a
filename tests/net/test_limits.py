"""Numbers that make no sense are refused, each by its name."""

from dataclasses import fields, replace

import pytest

from demineur.net import Limits


@pytest.mark.parametrize(
    "name", [field.name for field in fields(Limits) if field.name != "deflate"]
)
def test_each_limit_is_positive(name: str) -> None:
    for value in (0, -1):
        with pytest.raises(ValueError, match=name):
            replace(Limits(), **{name: value})  # type: ignore[arg-type]


def test_droppable_is_not_above_the_whole() -> None:
    with pytest.raises(ValueError, match="droppable_bytes"):
        Limits(droppable_bytes=2, max_buffered_bytes=1)
