"""What an append costs, alone and in company: in Redis, in this process, and in waiting.

A number of rooms append one event each in the same turn of the event loop, and do so again
when all are stored, so each round is one call of group commit. Redis's own time is from its
``INFO commandstats``; this process' is its CPU time.

    python loadtest/bench_store.py --rooms 1 50 200 --seconds 2 --json

Without ``--url`` it starts a Redis of its own, once for each ``--fsync``. With ``--racing`` the
node beats as it does while races run; with ``--replicas`` appends wait for so many replicas.
"""

import argparse
import json
import secrets
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import redis.asyncio as redis
import uvloop

from demineur.store import Lease, Store, StoreSettings

EVENT = b'{"k":"tap","s":3,"c":417,"at":1700000000000,"ms":48211,"n":57}'
TTL_MS = 600_000


@dataclass(frozen=True)
class Cost:
    """The cost of an append when ``rooms`` append at a time."""

    backend: str
    rooms: int
    appends_per_s: float
    redis_us: float | None
    process_us: float
    round_p50_ms: float
    round_p99_ms: float


async def redis_us(client: "redis.Redis | None") -> int:
    """Microseconds that Redis has spent in scripts."""
    if client is None:
        return 0
    stats = await client.info("commandstats")
    return sum(int(stats.get(f"cmdstat_{name}", {}).get("usec", 0)) for name in ("evalsha", "eval"))


async def measure(
    store: Store, client: "redis.Redis | None", name: str, rooms: int, seconds: float
) -> Cost:
    """Let rooms append in rounds for so long, and return what it cost."""
    tag = secrets.token_hex(4)
    codes = [f"{tag}{i}" for i in range(rooms)]
    epochs = []
    for code in codes:
        lease = await store.acquire(code, create=True)
        if not isinstance(lease, Lease):
            raise SystemExit(f"room {code} can't be made: {lease}")
        epochs.append(lease.epoch)
    version = 1

    async def one_round() -> None:
        nonlocal version
        pending = [
            store.append(code, epoch, version, [EVENT], ttl_ms=TTL_MS)
            for code, epoch in zip(codes, epochs, strict=True)
        ]
        for future in pending:
            await future
        version += 1

    for _ in range(20):
        await one_round()
    rounds = []
    redis_before, cpu_before = await redis_us(client), time.process_time()
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        round_began = time.perf_counter()
        await one_round()
        rounds.append(1000 * (time.perf_counter() - round_began))
    took_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu_before
    appends = rooms * len(rounds)
    spent_us = await redis_us(client) - redis_before
    return Cost(
        backend=name,
        rooms=rooms,
        appends_per_s=round(appends / took_s),
        redis_us=round(spent_us / appends, 2) if client is not None else None,
        process_us=round(1e6 * cpu_s / appends, 2),
        round_p50_ms=round(statistics.median(rounds), 3),
        round_p99_ms=round(statistics.quantiles(rounds, n=100)[98], 3),
    )


async def run(options: argparse.Namespace) -> list[Cost]:
    """Measure all that the options ask for."""
    costs = []
    for fsync in options.fsync if options.url is None else ["url"]:
        with tempfile.TemporaryDirectory() as directory:
            settings = StoreSettings(
                url=options.url,
                data_dir=Path(directory),
                fsync=fsync if options.url is None else "always",
                replicas=options.replicas,
            )
            store = await Store.open(settings)
            store.racing = options.racing
            socket = settings.data_dir / "redis" / "redis.sock"
            client = redis.Redis(unix_socket_path=str(socket)) if options.url is None else None
            try:
                costs += [
                    await measure(store, client, fsync, rooms, options.seconds)
                    for rooms in options.rooms
                ]
            finally:
                if client is not None:
                    await client.aclose()
                await store.close()
    return costs


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What an append costs, alone and in company.")
    parser.add_argument("--url", help="a Redis by its address, in place of an own one")
    parser.add_argument("--rooms", type=int, nargs="+", default=[1, 10, 50, 200])
    parser.add_argument("--fsync", nargs="+", default=["everysec", "always"])
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--racing", action="store_true", help="beat every 10 ms meanwhile")
    parser.add_argument("--replicas", type=int, help="replicas that an append waits for")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    costs = uvloop.run(run(options))
    if options.json:
        json.dump([asdict(cost) for cost in costs], sys.stdout, indent=1)
        print()
        return
    print(f"{'fsync':>9} {'rooms':>6} {'appends/s':>10} {'Redis µs':>9} {'process µs':>11}", end="")
    print(f" {'round p50 ms':>13} {'p99 ms':>8}")
    for cost in costs:
        spent = "-" if cost.redis_us is None else f"{cost.redis_us:.2f}"
        print(
            f"{cost.backend:>9} {cost.rooms:>6} {cost.appends_per_s:>10.0f} {spent:>9} "
            f"{cost.process_us:>11.2f} {cost.round_p50_ms:>13.3f} {cost.round_p99_ms:>8.3f}"
        )


if __name__ == "__main__":
    main()
