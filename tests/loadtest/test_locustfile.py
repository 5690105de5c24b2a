"""The load test really races: a few players against a real server, through the command line."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_players_race_and_every_kind_of_request_is_counted_apart(tmp_path: Path) -> None:
    server = subprocess.Popen(
        [Path(sys.executable).with_name("demineur"), "serve", "--port", "0"],
        env={**os.environ, "DEMINEUR_DATA_DIR": str(tmp_path / "data")},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        entries = _race(found.group(), tmp_path)
    finally:
        server.terminate()
        server.wait(15)
        assert server.stdout is not None
        server.stdout.close()
    assert {"connect", "hello", "create", "join", "start", "tap"} <= set(entries)
    assert all(entry["Failure Count"] == "0" for entry in entries.values()), entries
    assert int(entries["create"]["Request Count"]) == 2
    assert int(entries["join"]["Request Count"]) == 4
    assert int(entries["start"]["Request Count"]) >= 2, "nobody asked for a rematch"
    assert int(entries["tap"]["Request Count"]) > 30
    for percentile in ("50%", "95%", "99%"):
        assert float(entries["tap"][percentile]) > 0


def _race(address: str, folder: Path) -> dict[str, dict[str, str]]:
    command = [sys.executable, "-m", "locust", "-f", "loadtest/locustfile.py", "--headless"]
    options = ["-u", "6", "-r", "6", "-t", "12s", "--host", address]
    done = subprocess.run(
        [*command, *options, "--only-summary", "--csv", str(folder / "load")],
        cwd=ROOT,
        env={
            **os.environ,
            "DEMINEUR_RACE_LEVEL": "beginner",
            "DEMINEUR_RACE_SIZE": "3",
            "DEMINEUR_RACE_PACE_MS": "60",
        },
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with (folder / "load_stats.csv").open() as stats:
        return {row["Name"]: row for row in csv.DictReader(stats)}
