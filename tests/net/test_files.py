"""The limit of open files goes up within the hard one, and never down."""

import resource
from collections.abc import Iterator

import pytest

from demineur.net import allow_open_files


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_up_and_never_down() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    assert allow_open_files(300) == 300
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (300, hard)
    assert allow_open_files(100) == 300
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (300, hard)


def test_never_above_the_hard_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[int, int]] = []
    with monkeypatch.context() as patch:
        patch.setattr(resource, "getrlimit", lambda _: (100, 200))
        patch.setattr(resource, "setrlimit", lambda _, limits: taken.append(limits))
        assert allow_open_files(1_000_000) == 200
    assert taken == [(200, 200)]
