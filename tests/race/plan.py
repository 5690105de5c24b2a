"""Random plans: what players, time and failures do to a room, drawn by Hypothesis.

A plan names its deeds loosely ("a mine of player 2's"); `commands` makes them precise on the
room as it then is. The same plan on two rooms in the same state is the same commands.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from demineur.engine import Mask, Run
from demineur.race import Phase, Room, RoomSettings, Seat
from demineur.race import commands as cmd
from tests.race.scene import DRAW, GUESS_FREE, OWN, PENALTY, SEED, SHARED

NOBODY = 6
"""Who has no seat; below it are identities and the seats that they have first."""
SETTINGS = [
    replace(each, players=4)
    for each in (OWN, PENALTY, SHARED, GUESS_FREE, replace(SHARED, mine="penalty"))
]
ANY_SETTINGS = [*SETTINGS, replace(OWN, players=2), RoomSettings("nightmare")]


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that happens: how long after the one before, what, to whom."""

    after_ms: int
    what: str
    who: int
    pick: int
    length_ms: int
    """Of a stall: how long it is."""

    @property
    def outage_ms(self) -> int:
        return self.length_ms if self.what == "stall" else 0


MOVES = ["first", "safe", "mine", "flag", "flag", "chord", "chord", "any", "again", "rush", "lose"]
ROOM = ["join", "ready", "all-ready", "start", "rematch", "all-rematch", "found", "found", "go"]
RARE = ["leave", "drop", "return", "unready", "settings", "rename", "not-found", "all-leave"]
SHORT_MS = [0, 1, 40, 700, 2_999, 3_000]
LONG_MS = [9_999, 10_000, 19_999, 20_000, 50_000, 59_999, 60_000, 600_000, 7_200_000]
OUTAGES_MS = [1, 250, 3_000, 65_000, 700_000]


def _deeds(what: list[str]) -> st.SearchStrategy[Deed]:
    return st.builds(
        Deed,
        st.sampled_from(SHORT_MS * 12 + LONG_MS),
        st.sampled_from(what),
        st.integers(0, NOBODY),
        st.integers(0, 99),
        st.sampled_from(OUTAGES_MS),
    )


DEEDS = _deeds([*MOVES, *MOVES, *ROOM, *RARE])
DEEDS_AND_STALLS = _deeds([*MOVES, *MOVES, *ROOM, *RARE, "drop", *["stall"] * 4])
OPENINGS = [
    "",
    "join ready",
    "join join all-ready start found",
    "join all-ready start found go first first",
    "join join join all-ready start found go first first first drop",
    "join all-ready start found go rush all-leave",
    "join join ready start found all-leave",
]


@dataclass(frozen=True, slots=True)
class Plan:
    """The room's settings, and what happens in it."""

    settings: RoomSettings
    deeds: list[Deed]


@st.composite
def plans(draw: st.DrawFn, *, stalls: bool = True, most: int = 30) -> Plan:
    """Draw a plan: a usual beginning, then anything."""
    opening = [
        Deed(3_000 if what == "go" else 1, what, number % NOBODY, 1, 0)
        for number, what in enumerate(draw(st.sampled_from(OPENINGS)).split(), 1)
    ]
    any_deed = DEEDS_AND_STALLS if stalls else DEEDS
    deeds = draw(st.lists(any_deed, min_size=most // 3, max_size=most))
    return Plan(draw(st.sampled_from(SETTINGS)), opening + deeds)


def commands(room: Room, deed: Deed) -> Iterator[cmd.Command]:
    """Yield the deed's commands, each made on the room as the one before left it."""
    seats = list(room.seats) or [NOBODY]
    seat = NOBODY if deed.who == NOBODY else seats[deed.who % len(seats)]
    if deed.what in _MANY:
        yield from _MANY[deed.what](room, seat)
    elif deed.what == "stall":
        yield cmd.Stall(deed.outage_ms)
    elif deed.what in _ROOM:
        yield _ROOM[deed.what](room, seat, deed)
    else:
        yield _move(room, room.seats.get(seat), seat, deed)


def _all_ready(room: Room, _: int) -> Iterator[cmd.Command]:
    for seat in list(room.seats):
        yield cmd.Ready(seat, True, DRAW)


def _all_rematch(room: Room, _: int) -> Iterator[cmd.Command]:
    for seat in list(room.seats):
        yield cmd.Rematch(seat, cmd.Draw(f"{room.rounds:032x}", room.rounds))


def _all_leave(room: Room, _: int) -> Iterator[cmd.Command]:
    for seat in list(room.seats):
        player = room.seats.get(seat)
        if player is not None and player.playing:
            yield cmd.Leave(seat)


def _rush(room: Room, seat: int) -> Iterator[cmd.Command]:
    """Open everything, which wins, but for a first tap where a shared start allows none."""
    player = room.seats.get(seat)
    while player is not None and room.phase is Phase.RACING and player.playing:
        before = player.n
        yield _move(room, player, seat, Deed(0, "safe", 0, 0, 0))
        if player.n == before:
            break


def _lose(room: Room, seat: int) -> Iterator[cmd.Command]:
    """Begin, and tap a mine."""
    for what in ("first", "mine"):
        yield _move(room, room.seats.get(seat), seat, Deed(0, what, 0, 1, 0))


_MANY: dict[str, Callable[[Room, int], Iterator[cmd.Command]]] = {
    "all-ready": _all_ready,
    "all-rematch": _all_rematch,
    "all-leave": _all_leave,
    "rush": _rush,
    "lose": _lose,
}


def _seed_of(room: Room, deed: Deed) -> str:
    """Of the search under way, but for one time in ten."""
    search = room.preparing
    return "ee" * 16 if search is None or deed.pick % 10 == 9 else search.seed


def _absent(room: Room, deed: Deed) -> str:
    absent = [seat.player for seat in room.seats.values() if not seat.present]
    return absent[deed.pick % len(absent)] if absent else "p1"


_ROOM: dict[str, Callable[[Room, int, Deed], cmd.Command]] = {
    "join": lambda room, seat, deed: cmd.Join(f"p{deed.who}", f"Player {deed.who}"),
    "leave": lambda room, seat, deed: cmd.Leave(seat),
    "drop": lambda room, seat, deed: cmd.Drop(seat),
    "rename": lambda room, seat, deed: cmd.Rename(seat, f"Name {deed.pick % 3}"),
    "ready": lambda room, seat, deed: cmd.Ready(seat, True, DRAW),
    "unready": lambda room, seat, deed: cmd.Ready(seat, False, DRAW),
    "settings": lambda room, seat, deed: cmd.ChangeSettings(
        seat if deed.pick % 4 == 0 else room.host, ANY_SETTINGS[deed.pick % len(ANY_SETTINGS)]
    ),
    "start": lambda room, seat, deed: cmd.Start(
        seat if deed.pick % 4 == 0 else room.host, cmd.Draw(SEED, deed.pick)
    ),
    "rematch": lambda room, seat, deed: cmd.Rematch(seat, cmd.Draw("ab" * 16, deed.pick)),
    "found": lambda room, seat, deed: cmd.Prepared(_seed_of(room, deed), deed.pick % 3),
    "not-found": lambda room, seat, deed: cmd.PrepareFailed(_seed_of(room, deed)),
    "return": lambda room, seat, deed: cmd.Join(_absent(room, deed), "Another name"),
    "tick": lambda room, seat, deed: cmd.Tick(),
    "go": lambda room, seat, deed: cmd.Tick(),
}


def _move(room: Room, player: Seat | None, seat: int, deed: Deed) -> cmd.Tap | cmd.Flag:
    n = player.n + 1 if player is not None else 1
    cell = deed.pick % 83 - 1
    run = player.run if player is not None else None
    if run is not None:
        cell = _cell(room, run, deed)
    if deed.what == "again":
        return cmd.Tap(seat, max(1, n - 1 - deed.pick % 2), cell)
    if deed.what == "flag":
        return cmd.Flag(seat, n, cell)
    return cmd.Tap(seat, n, cell)


def _cell(room: Room, run: Run, deed: Deed) -> int:
    board = run.board
    if board is None or deed.what == "first":
        marked = room.round.marked if room.round is not None else None
        return marked if marked is not None and deed.pick % 4 else deed.pick % 81
    hidden = run.geometry.full & ~(run.opened | run.exploded)
    wanted: dict[str, Mask] = {
        "safe": board.safe & hidden & ~run.flags,
        "mine": board.mines & hidden,
        "flag": hidden if deed.pick % 4 == 0 else board.mines & hidden & ~run.flags,
        "chord": run.opened & run.geometry.spread(run.flags | run.exploded),
    }
    cells = run.geometry.cells_in(wanted.get(deed.what, run.geometry.full))
    return cells[deed.pick % len(cells)] if cells else deed.pick % 81
