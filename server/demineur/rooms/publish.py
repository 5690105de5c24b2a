"""From the race's state and events to the wire's messages: what each audience may see.

Law of this module (R14): what belongs to a board leaves only through the engine's
``segments``, which refuses any cell that its player has not opened, and only to that player.
Everybody else gets counts. Seeds and boards are in no message before the race is over.
"""

from demineur import protocol as wire
from demineur.engine import Mask, Run, Status, segments
from demineur.race import Ending, Event, Phase, Place, RaceResult, Room, RoomSettings, Seat
from demineur.race import events as ev

_STATUS: dict[Status, str] = {status: status.value for status in Status}


def settings_message(settings: RoomSettings) -> wire.Settings:
    """Return the settings as the wire has them."""
    return wire.Settings.model_construct(
        level=settings.level,  # type: ignore[arg-type]
        start=settings.start,
        guess_free=settings.guess_free,
        mine=settings.mine,
        players=settings.players,
        listed=settings.listed,
    )


def room_settings(message: wire.Settings) -> RoomSettings:
    """Return the wire's settings as the race has them."""
    return RoomSettings(
        message.level,
        message.start,
        message.guess_free,
        message.mine,
        message.players,
        message.listed,
    )


def board_message(settings: RoomSettings) -> wire.BoardSize:
    """Return the size of the level's board."""
    level = settings.board
    return wire.BoardSize(width=level.width, height=level.height, mines=level.mines)


def player_message(seat: Seat) -> wire.Player:
    """Return a place as everybody may see it."""
    flags = seat.run.flags.bit_count() if seat.run else 0
    return wire.Player(
        seat=seat.seat,
        name=seat.name,
        ready=seat.ready,
        present=seat.present,
        status=_player_status(seat),
        percent=seat.percent,
        flags=flags,
        ms=seat.elapsed_ms(0) if seat.ending is not None else None,
        left=seat.left or None,
    )


def _player_status(seat: Seat) -> wire.PlayerStatus:
    if not seat.racing:
        return "waiting"
    if seat.ending is None:
        return "playing"
    return "finished" if seat.ending is Ending.WON else "out"


def progress_row(seat: Seat) -> tuple[int, int, int]:
    """Return seat, percent and flags: all that others learn of a run under way."""
    return seat.seat, seat.percent, seat.run.flags.bit_count() if seat.run else 0


def race_message(room: Room) -> wire.RaceInfo | None:
    """Return the race under way, or the last one; without its seed."""
    current = room.round
    if current is None:
        return None
    return wire.RaceInfo(
        round=current.number,
        commitment=current.commitment,
        marked=current.marked,
        seats=[seat.seat for seat in room.racers()],
    )


def clock_message(room: Room, seat: Seat | None, now_ms: int) -> wire.Clock:
    """Return the room's times, and the receiver's own clock, at the node's ``now_ms``."""
    current = room.round
    running = room.phase in {Phase.COUNTDOWN, Phase.RACING} and current is not None
    clock = wire.Clock(now_ms=now_ms)
    if running and current is not None:
        clock.go_at_ms = room.node_ms(current.go_ms)
        if current.ends_ms is not None:
            clock.ends_at_ms = room.node_ms(current.ends_ms)
    if seat is not None and seat.racing:
        at_ms = room.room_ms(now_ms)
        clock.own = wire.OwnClock(
            ms=seat.elapsed_ms(at_ms),
            running=seat.started_ms is not None and seat.ended_ms is None,
            frozen_ms=max(0, seat.frozen_until_ms - at_ms) if seat.ended_ms is None else 0,
        )
    return clock


def run_message(seat: Seat) -> wire.OwnRun | None:
    """Return the player's own run, whole."""
    run = seat.run
    if run is None:
        return None
    cells_in = run.geometry.cells_in
    return wire.OwnRun(
        n=seat.n,
        status=_STATUS[run.status],
        open=segments(run, run.opened | run.exploded),
        flags=cells_in(run.flags),
        exploded=cells_in(run.exploded),
    )


def snapshot(room: Room, seat: Seat | None, spectators: int, now_ms: int) -> wire.RoomSnapshot:
    """Return the whole room as the player of ``seat``, or a spectator (None), may see it."""
    return wire.RoomSnapshot(
        v=room.public_version,
        code=room.code,
        phase=room.phase.value,
        settings=settings_message(room.settings),
        board=board_message(room.settings),
        host=room.host,
        players=[player_message(each) for each in room.seats.values()],
        spectators=spectators,
        race=race_message(room),
        clock=clock_message(room, seat, now_ms),
        you=wire.You(
            role="spectator" if seat is None else "player",
            seat=None if seat is None else seat.seat,
            run=None if seat is None else run_message(seat),
        ),
        result=result_message(room.result) if room.result is not None else None,
    )


def result_message(result: RaceResult) -> wire.Result:
    """Return the finished race with its seed; the caller has seen that it is over."""
    level = RoomSettings(result.level).board
    return wire.Result(
        round=result.number,
        seed=result.seed,
        attempt=result.attempt,
        commitment=result.commitment,
        width=level.width,
        height=level.height,
        mines=level.mines,
        marked=result.marked,
        standings=[_standing(place) for place in result.places],
    )


def _standing(place: Place) -> wire.Standing:
    return wire.Standing(
        place=place.place,
        seat=place.seat,
        name=place.name,
        ending=place.ending.value,
        ms=place.ms,
        percent=place.percent,
        three_bv=place.three_bv,
        three_bv_solved=place.three_bv_solved,
        taps=place.taps,
        flags=place.flags,
        penalty_ms=place.penalty_ms,
        first_tap=place.first_tap,
    )


def moved(seat: Seat, n: int, at_ms: int, opened: Mask, flag: int | None) -> wire.Moved:
    """Return the answer to a move that was made; the state is the one after it.

    ``opened`` is what the move opened, ``flag`` the cell whose flag it set or lifted.
    """
    run = seat.run
    if run is None:
        return wire.Moved(n=n, ms=seat.elapsed_ms(at_ms))
    message = wire.Moved(n=n, ms=seat.elapsed_ms(at_ms))
    if opened:
        message.open = segments(run, opened)
        if opened & run.exploded and run.penalty and seat.ended_ms is None:
            message.frozen_ms = max(0, seat.frozen_until_ms - at_ms)
    if flag is not None:
        message.flag = (flag, bool(run.flags & run.geometry.bit[flag]))
    if _status_changed(run, opened):
        message.status = _STATUS[run.status]  # type: ignore[assignment]
    return message


def _status_changed(run: Run, opened: Mask) -> bool:
    return run.status is not Status.PLAYING or (bool(opened) and run.taps == 1)


def public_event(room: Room, event: Event) -> wire.RoomEvent | None:  # noqa: C901, PLR0911, PLR0912
    """Return what everybody in the room is told of ``event``, right after it was applied."""
    match event:
        case ev.Joined(_, seat):
            return wire.events.Joined(player=player_message(room.seats[seat]))
        case ev.Left(_, seat):
            return wire.events.Left(seat=seat)
        case ev.Renamed(_, seat, name):
            return wire.events.Renamed(seat=seat, name=name)
        case ev.Readied(_, seat, ready):
            return wire.events.Readied(seat=seat, ready=ready)
        case ev.Dropped(_, seat):
            return wire.events.Presence(seat=seat, present=False)
        case ev.Returned(_, seat):
            return wire.events.Presence(seat=seat, present=True)
        case ev.HostChanged(_, seat):
            return wire.events.HostChanged(seat=seat)
        case ev.SettingsChanged(_, settings):
            return wire.events.SettingsChanged(
                settings=settings_message(settings), board=board_message(settings)
            )
        case ev.Preparing():
            return wire.events.Preparing()
        case ev.Unprepared() | ev.CountdownStopped():
            return wire.events.Unprepared(
                reason="no_board" if isinstance(event, ev.Unprepared) else "stopped"
            )
        case ev.CountdownStarted(go_ms=go_ms):
            race = race_message(room)
            if race is None:
                return None
            return wire.events.Countdown(race=race, go_at_ms=room.node_ms(go_ms))
        case ev.Went(_, ends_ms):
            return wire.events.Went(ends_at_ms=room.node_ms(ends_ms))
        case ev.RunEnded(_, seat, ending):
            ended = room.seats[seat]
            return wire.events.RunEnded(
                seat=seat,
                status="finished" if ending is Ending.WON else "out",
                ms=ended.elapsed_ms(0),
            )
        case ev.Stalled(_, ms):
            return wire.events.Stalled(ms=ms)
        case ev.Finished():
            if room.result is None:
                return None
            return wire.events.Finished(result=result_message(room.result))
        case ev.Rematched(_, seat):
            return wire.events.Rematched(seat=seat, round=room.rounds + 1)
        case _:
            return None
