"""Group commit over a link that the test plays: order, gathering, and every way to fail."""

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.exceptions import (
    BusyLoadingError,
    ClusterDownError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
)

from demineur.store import Conflict, Fenced, StoreMisconfigured, StoreSettings, StoreUnavailable
from demineur.store.appends import RENEWALS_PER_TTL, Append, Renewals
from demineur.store.commit import CONFLICT, FENCED, STORED, GroupCommit
from demineur.store.link import LinkBroken, LinkForbidden, Reply
from demineur.store.scripts import APPEND, Command

TTL_MS = 600_000
SETTINGS = StoreSettings(node_id="me", call_timeout_s=0.3)

Fault = BaseException | list[Reply] | tuple[str, BaseException] | bytes | None

OOM_INSIDE = b"OOM command not allowed when used memory > 'maxmemory'."


def codes_of(command: Command) -> list[str]:
    """The rooms that a call of the script appends to, in order."""
    keys = [str(key) for key in command[3 : 3 + int(command[2])]]
    return [key.partition("{")[2].partition("}")[0] for key in keys if key.endswith(":lease")]


class ModelRedis:
    """A link to a Redis that does what ``append.lua`` says, and fails as it is told.

    ``faults`` are taken one a call: an exception is raised instead of executing, one in a tuple
    after executing; a list of replies is answered as it is; ``OOM_INSIDE`` refuses every append.
    """

    def __init__(self, lanes: int = 1) -> None:
        self.lanes = lanes
        self.logs: dict[str, list[bytes]] = {}
        self.fenced: set[str] = set()
        self.faults: list[Fault] = []
        self.batches: list[list[str]] = []
        self.flying = 0
        self.most_flying = 0
        self.gates: dict[str, asyncio.Event] = {}

    def lane(self, key: str) -> str:
        return str(self.group(key))

    def group(self, key: str) -> int:
        return ord(key.partition("{")[2][0]) % self.lanes

    async def send(self, lane: str, commands: Sequence[Command]) -> list[Reply]:
        self.flying += 1
        self.most_flying = max(self.most_flying, self.flying)
        try:
            if lane in self.gates:
                await self.gates[lane].wait()
            await asyncio.sleep(0)
            fault = self.faults.pop(0) if self.faults else None
            if isinstance(fault, BaseException):
                raise fault
            if isinstance(fault, list):
                return fault
            if fault == OOM_INSIDE and commands[0][0] != "XRANGE":
                return [[OOM_INSIDE] * len(codes_of(command)) for command in commands]
            replies = [self._execute(command) for command in commands]
            if isinstance(fault, tuple):
                raise fault[1]
            return replies
        finally:
            self.flying -= 1

    async def send_here(self, lane: str, commands: Sequence[Command]) -> list[Reply]:
        return await self.send(lane, commands)

    def asked(self, reply: Reply) -> str | None:
        return None

    async def renew(self, lane: str) -> None:
        pass

    async def close(self) -> None:
        pass

    def _execute(self, command: Command) -> Reply:
        if command[0] == "XRANGE":
            code = str(command[1]).partition("{")[2].partition("}")[0]
            first, last = (int(str(word).partition("-")[0]) for word in command[2:4])
            events = self.logs.get(code, [])[first - 1 : last]
            return [(b"%d-0" % v, [b"e", event]) for v, event in enumerate(events, first)]
        words = list(command[4 + int(command[2]) :])
        codes = codes_of(command)
        self.batches.append(codes)
        return [self._append(code, words) for code in codes]

    def _append(self, code: str, words: list[Any]) -> int:
        _epoch, version, _ttl_ms, _renew, count = (int(words.pop(0)) for _ in range(5))
        events = [words.pop(0) for _ in range(count)]
        for _ in range(2):
            del words[: int(words.pop(0))]
        if code in self.fenced:
            return FENCED
        log = self.logs.setdefault(code, [])
        if len(log) != version - 1:
            return CONFLICT
        log.extend(events)
        return STORED


def put(commit: GroupCommit, code: str, version: int, *events: bytes) -> "asyncio.Future[None]":
    return commit.append(code, 1, version, events or (b"%d" % version,), ttl_ms=TTL_MS)


async def outcomes(*futures: "asyncio.Future[None]") -> list[type[Any]]:
    return [type(done) for done in await asyncio.gather(*futures, return_exceptions=True)]


Nothing = type(None)


# Gathering


async def test_what_waits_in_a_turn_goes_in_one_call() -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    await asyncio.gather(*(put(commit, f"R{i}", 1) for i in range(50)), put(commit, "R0", 2))
    assert redis.batches == [[f"R{i}" for i in range(50)] + ["R0"]]
    assert (commit.calls, commit.appends) == (1, 51)


async def test_the_next_call_gathers_while_one_is_under_way() -> None:
    redis = ModelRedis()
    redis.gates["0"] = asyncio.Event()
    commit = GroupCommit(redis, SETTINGS)
    futures = [put(commit, "A", 1)]
    for version in range(2, 6):
        await asyncio.sleep(0)
        futures += [put(commit, "A", version), put(commit, "B", version - 1)]
    redis.gates["0"].set()
    assert await outcomes(*futures) == [Nothing] * 9
    assert redis.batches == [["A"], ["A", "B"] * 4]
    assert redis.most_flying == 1
    assert redis.logs == {"A": [b"1", b"2", b"3", b"4", b"5"], "B": [b"1", b"2", b"3", b"4"]}


@pytest.mark.parametrize(
    ("bounds", "sizes"),
    [
        ({"max_batch_appends": 4}, [4, 4, 2]),
        ({"max_batch_bytes": 3500}, [3, 3, 3, 1]),
        ({"max_batch_bytes": 1}, [1] * 10),
    ],
)
async def test_a_call_is_bounded(bounds: dict[str, int], sizes: list[int]) -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, StoreSettings(node_id="me", **bounds))  # type: ignore[arg-type]
    await asyncio.gather(*(put(commit, f"R{i}", 1, b"x" * 900) for i in range(10)))
    assert [len(batch) for batch in redis.batches] == sizes


async def test_a_lane_that_stands_still_does_not_hold_the_others() -> None:
    redis = ModelRedis(lanes=2)
    slow, quick = ("A", "B") if redis.lane("{A") == "0" else ("B", "A")
    redis.gates["0"] = asyncio.Event()
    commit = GroupCommit(redis, SETTINGS)
    waits = put(commit, slow, 1)
    for version in range(1, 5):
        await put(commit, quick, version)
    assert not waits.done()
    redis.gates["0"].set()
    await waits
    assert redis.logs == {slow: [b"1"], quick: [b"1", b"2", b"3", b"4"]}


async def test_a_room_that_changes_lanes_keeps_its_order() -> None:
    redis = ModelRedis()
    lanes = ["0"]
    redis.lane = lambda key: lanes[0]  # type: ignore[method-assign]
    redis.gates["0"] = asyncio.Event()
    commit = GroupCommit(redis, SETTINGS)
    futures = [put(commit, "A", 1)]
    await asyncio.sleep(0.01)
    lanes[0] = "1"
    futures.append(put(commit, "A", 2))
    await asyncio.sleep(0.01)
    assert redis.flying == 1, "an append overtook the one before"
    redis.gates["0"].set()
    assert await outcomes(*futures) == [Nothing, Nothing]


async def test_only_who_must_renews() -> None:
    renewals = Renewals()
    share_s = TTL_MS / 1000 / RENEWALS_PER_TTL
    assert renewals.is_due("A", 1, TTL_MS, 0.0)
    assert not renewals.is_due("A", 2, TTL_MS, share_s * 0.99)
    assert renewals.is_due("A", 3, TTL_MS, share_s * 1.01)
    assert not renewals.is_due("A", 4, TTL_MS, share_s * 1.5)
    assert renewals.is_due("A", 5, TTL_MS * 2, share_s * 1.5)
    assert renewals.is_due("A", 1, TTL_MS * 2, share_s * 1.5)
    assert renewals.is_due("B", 7, TTL_MS, 0.0)
    renewals.forget("A")
    assert renewals.is_due("A", 6, TTL_MS * 2, share_s * 1.5)


async def test_keys_that_are_not_touched_are_not_passed() -> None:
    def keys(*, renew: bool, timers: bool = False, meta: bool = False) -> list[str]:
        timer_fields, meta_fields = {"1": b"1"} if timers else {}, {"a": "b"} if meta else None
        append = Append("A", 1, 2, [b"x"], timer_fields, meta_fields, TTL_MS, renew=renew)
        return [key.rpartition(":")[2] for key in append.keys]

    assert keys(renew=False) == ["lease", "log"]
    assert keys(renew=False, timers=True) == ["lease", "log", "timers"]
    assert keys(renew=False, meta=True) == ["lease", "log", "meta"]
    assert keys(renew=True) == ["lease", "log", "timers", "meta"]


# Failures


async def test_an_answer_that_was_lost_is_found_in_the_log() -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    redis.faults = [("after", LinkBroken(OSError("gone"), sent=True))]
    futures = [put(commit, "A", 1), put(commit, "A", 2), put(commit, "B", 1)]
    assert await outcomes(*futures) == [Nothing] * 3
    assert redis.logs == {"A": [b"1", b"2"], "B": [b"1"]}


async def test_a_stored_append_stays_so_when_the_one_before_is_still_in_doubt() -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    broken = LinkBroken(OSError("gone"), sent=True)
    redis.faults = [("after", broken), None, broken]
    first = put(commit, "A", 1)
    await asyncio.sleep(0)
    second = put(commit, "A", 2)
    assert await outcomes(first, second) == [Nothing, Nothing]
    assert redis.logs == {"A": [b"1", b"2"]}


async def test_another_s_events_are_not_taken_for_one_s_own() -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    redis.faults = [LinkBroken(OSError("gone"), sent=True)]
    future = put(commit, "A", 1, b"mine")
    redis.logs["A"] = [b"theirs"]
    assert await outcomes(future) == [Conflict]


async def test_what_was_never_sent_is_no_unknown_outcome() -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    redis.faults = [LinkBroken(OSError("refused"), sent=False)] * 100
    with pytest.raises(StoreUnavailable) as failed:
        await put(commit, "A", 1)
    assert not failed.value.outcome_unknown
    redis.faults = [LinkBroken(OSError("gone"), sent=True)] * 100
    with pytest.raises(StoreUnavailable) as failed:
        await put(commit, "A", 1)
    assert failed.value.outcome_unknown
    assert commit.waiting_appends == 0


async def test_when_an_append_is_given_up_the_later_ones_of_its_room_are() -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    redis.faults = [LinkBroken(OSError("gone"), sent=False)] * 100
    first = put(commit, "A", 1)
    await asyncio.sleep(SETTINGS.call_timeout_s / 2)
    late, other = put(commit, "A", 2), put(commit, "B", 1)
    assert await outcomes(first, late) == [StoreUnavailable, StoreUnavailable]
    assert not other.done()
    redis.faults.clear()
    await other
    assert redis.logs == {"B": [b"1"]}


REFUSALS: list[Exception] = [
    OutOfMemoryError("command not allowed when used memory > 'maxmemory'."),
    ReadOnlyError("You can't write against a read only replica."),
    ClusterDownError("Hash slot not served"),
    BusyLoadingError("Redis is loading the dataset in memory"),
    ResponseError("MISCONF Redis is configured to save RDB snapshots"),
    ResponseError("NOREPLICAS Not enough good replicas to write."),
    ResponseError("BUSY Redis is busy running a script."),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: str(refusal)[:10])
async def test_a_refused_call_is_sent_again(refusal: Exception) -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    redis.faults = [[refusal], [refusal]]
    assert await outcomes(put(commit, "A", 1), put(commit, "A", 2)) == [Nothing, Nothing]
    assert redis.logs == {"A": [b"1", b"2"]}


@pytest.mark.parametrize(
    "message",
    [
        b"OOM command not allowed when used memory > 'maxmemory'.",
        b"@user_script: 30: -READONLY You can't write against a read only replica.",
        b"MISCONF Errors writing to the AOF file",
    ],
)
async def test_an_append_refused_inside_the_script_holds_the_later_ones_of_its_room(
    message: bytes,
) -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    redis.logs["B"] = [b"1"]
    redis.faults = [[[message, STORED, CONFLICT]]]
    futures = [put(commit, "A", 1), put(commit, "B", 1), put(commit, "A", 2)]
    assert await outcomes(*futures) == [Nothing] * 3
    assert redis.logs == {"A": [b"1", b"2"], "B": [b"1"]}


async def test_a_script_that_redis_does_not_know_is_sent_whole() -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    sent: list[Command] = []
    plain_send = redis.send

    async def send(lane: str, commands: Sequence[Command]) -> list[Reply]:
        sent.extend(commands)
        return await plain_send(lane, commands)

    redis.send = send  # type: ignore[method-assign]
    redis.faults = [[NoScriptError("No matching script.")]]
    await put(commit, "A", 1)
    assert [command[:2] for command in sent] == [("EVALSHA", APPEND.sha), ("EVAL", APPEND.source)]


async def test_redis_breaks_between_the_hash_and_the_whole_script() -> None:
    redis = ModelRedis(lanes=1)
    redis.group = lambda key: ord(key.partition("{")[2][0])  # type: ignore[method-assign]
    redis.lane = lambda key: ""  # type: ignore[method-assign]
    commit = GroupCommit(redis, SETTINGS)
    redis.logs["A"] = [b"1"]
    redis.faults = [
        [[STORED], NoScriptError("No matching script.")],
        LinkBroken(OSError("refused"), sent=False),
    ]
    assert await outcomes(put(commit, "A", 1), put(commit, "B", 1)) == [Nothing, Nothing]
    assert redis.logs == {"A": [b"1"], "B": [b"1"]}


async def test_an_operator_s_fault_is_told_at_once() -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    redis.faults = [LinkForbidden("WRONGPASS"), [NoPermissionError("no permissions")]]
    assert await outcomes(put(commit, "A", 1)) == [StoreMisconfigured]
    assert await outcomes(put(commit, "A", 1)) == [StoreMisconfigured]
    await put(commit, "A", 1)


async def test_a_fault_of_ours_leaves_no_caller_waiting(caplog: pytest.LogCaptureFixture) -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    redis.faults = [ZeroDivisionError("bug")]
    with pytest.raises(StoreUnavailable) as failed:
        await put(commit, "A", 1)
    assert failed.value.outcome_unknown
    assert "ZeroDivisionError" in caplog.text
    await put(commit, "A", 1)


async def test_a_caller_who_left_disturbs_nobody() -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    left, stays, fenced = put(commit, "A", 1), put(commit, "B", 1), put(commit, "C", 1)
    redis.fenced.add("C")
    left.cancel()
    fenced.cancel()
    await stays
    await put(commit, "A", 2)
    assert redis.logs["A"] == [b"1", b"2"]
    assert commit.waiting_appends == 0


async def test_close_stores_what_waits() -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    futures = [put(commit, "A", 1), put(commit, "B", 1)]
    await commit.close()
    assert await outcomes(*futures) == [Nothing, Nothing]
    with pytest.raises(StoreUnavailable):
        put(commit, "A", 2)


async def test_close_does_not_wait_for_ever() -> None:
    redis = ModelRedis()
    redis.gates["0"] = asyncio.Event()
    commit = GroupCommit(redis, SETTINGS)
    futures = [put(commit, "A", 1), put(commit, "A", 2)]
    await asyncio.wait_for(commit.close(), 2)
    assert await outcomes(*futures) == [StoreUnavailable, StoreUnavailable]
    assert commit.waiting_appends == 0


# Everything at once

FAULTS = st.sampled_from(["none", "before", "after", "unsent", "refused", "inside", "noscript"])


def make_fault(name: str) -> Fault:
    broken = LinkBroken(OSError(name), sent=name != "unsent")
    return {
        "none": None,
        "before": broken,
        "unsent": broken,
        "after": ("after", broken),
        "refused": [ReadOnlyError("You can't write against a read only replica.")],
        "inside": OOM_INSIDE,
        "noscript": [NoScriptError("No matching script.")],
    }[name]


@settings(deadline=None, max_examples=150)
@given(
    st.lists(FAULTS, max_size=8),
    st.lists(st.tuples(st.sampled_from("ABC"), st.integers(1, 3)), min_size=1, max_size=25),
    st.integers(1, 5),
)
def test_no_fault_loses_or_doubles_an_event(
    faults: list[str], appends: list[tuple[str, int]], batch: int
) -> None:
    async def run() -> None:
        redis = ModelRedis()
        bounds = StoreSettings(node_id="me", max_batch_appends=batch)
        commit = GroupCommit(redis, bounds)
        redis.faults = [make_fault(name) for name in faults]
        numbers = itertools.count()
        expected: dict[str, list[bytes]] = {}
        futures = []
        for i, (code, count) in enumerate(appends):
            log = expected.setdefault(code, [])
            events = [b"%d" % next(numbers) for _ in range(count)]
            futures.append(put(commit, code, len(log) + 1, *events))
            log.extend(events)
            if i % 3 == 0:
                await asyncio.sleep(0)
        assert await outcomes(*futures) == [Nothing] * len(futures)
        assert redis.logs == expected

    with pytest.MonkeyPatch.context() as patch:
        for pause in ("FIRST_PAUSE_S", "LONGEST_PAUSE_S"):
            patch.setattr(f"demineur.store.commit.{pause}", 0.0005)
        asyncio.run(run())


async def test_a_fenced_room_is_fenced_for_all_that_wait() -> None:
    redis = ModelRedis()
    commit = GroupCommit(redis, SETTINGS)
    redis.fenced.add("A")
    futures = [put(commit, "A", 1), put(commit, "A", 2), put(commit, "B", 1)]
    assert await outcomes(*futures) == [Fenced, Fenced, Nothing]
