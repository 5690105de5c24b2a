"""What is counted can be collected, and no label comes from a client."""

from prometheus_client import REGISTRY

from tests.net.conftest import Raw, Recorder, Start, client, raw_frame, until


def _value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_frames_bytes_and_connections(start: Start) -> None:
    listener = await start(Recorder(echoes=True))
    names = ("demineur_net_frames_total", "demineur_net_bytes_total")
    before = {(name, way): _value(name, direction=way) for name in names for way in ("in", "out")}
    open_before = _value("demineur_net_connections", kind="direct")
    async with client(listener) as ws:
        for _ in range(3):
            await ws.send("12345")
            await ws.recv()
        assert _value("demineur_net_connections", kind="direct") == open_before + 1
    await until(lambda: listener.connections == 0)
    gained = {key: _value(key[0], direction=key[1]) - before[key] for key in before}
    assert list(gained.values()) == [3, 3, 15, 15]
    assert _value("demineur_net_connections", kind="direct") == open_before


async def test_close_codes_of_a_clients_choice_are_no_labels(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    listener = await start(endpoint)
    before = _value("demineur_net_closed_total", code="other")
    for code in (3000, 4999):
        raws.append(await Raw.upgraded(listener))
        raws[-1].send(raw_frame(code.to_bytes(2), 8))
        await endpoint.until(lambda: code in endpoint.codes)  # noqa: B023
    assert _value("demineur_net_closed_total", code="other") == before + 2
    assert _value("demineur_net_closed_total", code="3000") == 0
