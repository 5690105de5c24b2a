"""The shipped balancer configuration, read by a real HAProxy. Racing through it: tests/faults."""

import os
import re
import shutil
import subprocess
from pathlib import Path

CONFIG = Path(__file__).parents[2] / "deploy" / "haproxy.cfg"


def _haproxy() -> str:
    found = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/local/sbin:/usr/sbin")
    assert found, "haproxy is not installed; see make test"
    return found


def _check(config: Path) -> subprocess.CompletedProcess[str]:
    nodes = {
        "DEMINEUR_BIND": "127.0.0.1:18080",
        "DEMINEUR_NODE_A": "127.0.0.1:18081",
        "DEMINEUR_NODE_B": "127.0.0.1:18082",
    }
    return subprocess.run(
        [_haproxy(), "-c", "-f", str(config)],
        capture_output=True,
        text=True,
        env=os.environ | nodes,
        check=False,
        timeout=30,
    )


def test_haproxy_takes_the_configuration_without_a_warning() -> None:
    checked = _check(CONFIG)
    assert checked.returncode == 0, checked.stderr
    assert "WARNING" not in checked.stderr


def test_a_fault_in_the_configuration_is_found(tmp_path: Path) -> None:
    broken = tmp_path / "haproxy.cfg"
    broken.write_text(CONFIG.read_text().replace("balance uri", "balance url"))
    assert _check(broken).returncode != 0


def test_every_room_path_goes_to_the_hashed_nodes_and_secrets_stay_inside() -> None:
    text = CONFIG.read_text()
    rooms = text.split("\nbackend rooms\n")[1].split("\nbackend ")[0]
    assert re.search(r"^\s+balance uri path-only$", rooms, re.MULTILINE)
    assert re.search(r"^\s+hash-type consistent\b", rooms, re.MULTILINE)
    assert "set-header X-Forwarded-For %[src]" in text
    assert re.search(r"return status 404 .* path /metrics } or { path_beg /relay/ }", text)
