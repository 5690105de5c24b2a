"""Settings: the environment, groups, lists, and one clear line for what is wrong."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from demineur.app import App, _advertised
from demineur.cli import run
from demineur.config import Settings
from demineur.net import Limits
from demineur.rooms import RoomLimits, SessionLimits

# Refused, with the setting's name and what is wrong, before anything is opened.
BAD = {
    "PORT=x": "setting port: ",
    "PORT=70000": "setting port: Input should be less than or equal to 65535",
    "WORKERS=0": "setting workers: ",
    "FSYNC=never": "setting fsync: Input should be 'always' or 'everysec'",
    "LOG_LEVEL=loud": "setting log_level: ",
    "LOG_FORMAT=xml": "setting log_format: ",
    "FORWARDED_HEADER=via": "setting forwarded_header: ",
    "CLUSTER_SECRET=short": "setting cluster_secret: ",
    "TRUSTED_PROXIES=10.0.0.0/8,proxy": "setting trusted_proxies: 'proxy' does not appear",
    "METRICS_FROM=1.2.3.4/99": "setting metrics_from: '1.2.3.4/99' does not appear",
    "ORIGINS=play.example": "setting origins: 'play.example' is no origin",
    "ADVERTISE=a b:1": "setting advertise: 'a b:1' is not host:port",
    "INTERNAL_HOST=0.0.0.0": "setting advertise: an internal host that stands for all",
    "REDIS_URL=http://x": "setting redis_url: The Redis address 'http://x' begins with none of",
    "REDIS_URL=redis://u:sekret@h:zz": "setting redis_url: 'redis://u:***@h:zz': hosts must",
    "NET=5": "setting net: ",
    "NET__MAX_FRAME_BYTES=0": "setting net: max_frame_bytes must be positive",
    "NET__MAX_FRAME_BYTES=many": "setting net.max_frame_bytes: ",
    "NET__NO_SUCH=1": "setting net.no_such: ",
    "ROOMS__SPECTATORS=-1": "setting rooms: spectators must be positive",
    "ROOMS__OPEN_TTL_MS=0": "setting rooms: open_ttl_ms must be positive",
    "PLAYERS__MOVES_PER_S=-1": "setting players: moves_per_s must be positive",
    "PLAYERS__MOVE_BURST=0": "setting players: move_burst must be positive",
}


@pytest.mark.parametrize("given", BAD)
def test_a_bad_value_is_one_line_and_status_2(
    given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, _, value = given.partition("=")
    monkeypatch.setenv(f"DEMINEUR_{name}", value)
    assert run(["serve"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(f"demineur: {BAD[given]}")
    assert "sekret" not in err
    assert "alue error" not in err


def test_the_command_says_so_too(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("demineur")
    done = subprocess.run(
        [program, "serve", "--port", "99999"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("demineur: setting port: ")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_defaults_are_those_of_one_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings()
    assert (settings.host, settings.port, settings.workers) == ("127.0.0.1", 8080, 1)
    assert settings.redis_url is None
    assert settings.cluster_secret is None
    assert settings.fsync == "always"
    assert (settings.net, settings.rooms, settings.players) == (
        Limits(),
        RoomLimits(),
        SessionLimits(),
    )


def test_groups_are_set_field_by_field(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMINEUR_NET__MAX_FRAME_BYTES", "100")
    monkeypatch.setenv("DEMINEUR_NET__FIRST_FRAME_S", "0.5")
    monkeypatch.setenv("DEMINEUR_NET__DEFLATE", "true")
    monkeypatch.setenv("DEMINEUR_ROOMS__SPECTATORS", "0")
    monkeypatch.setenv("DEMINEUR_PLAYERS__MOVE_BURST", "7")
    settings = Settings()
    assert settings.net == Limits(max_frame_bytes=100, first_frame_s=0.5, deflate=True)
    assert settings.rooms == RoomLimits(spectators=0)
    assert settings.players == SessionLimits(move_burst=7)


def test_lists_have_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMINEUR_ORIGINS", "https://play.example, http://[::1]:8080,")
    monkeypatch.setenv("DEMINEUR_TRUSTED_PROXIES", "10.0.0.0/8,::1")
    monkeypatch.setenv("DEMINEUR_METRICS_FROM", "")
    settings = Settings()
    assert settings.origins == ("https://play.example", "http://[::1]:8080")
    assert settings.trusted_proxies == ("10.0.0.0/8", "::1")
    assert settings.metrics_from == ()


def test_options_go_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMINEUR_PORT", "81")
    assert Settings().port == 81
    assert Settings(port=82).port == 82


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().port = 1  # type: ignore[misc]


def test_secrets_are_not_shown() -> None:
    settings = Settings.model_validate(
        {"redis_url": "redis://:sekret@h", "cluster_secret": "sekret-sekret-sekret"}
    )
    assert "sekret" not in repr(settings)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "127.0.0.1:9"),
        ({"internal_host": "::1"}, "[::1]:9"),
        ({"advertise": "node-a:8081"}, "node-a:8081"),
        ({"advertise": "node-a"}, "node-a:9"),
        ({"advertise": "[fd00::7]"}, "[fd00::7]:9"),
        ({"advertise": "[fd00::7]:81", "internal_host": "::"}, "[fd00::7]:81"),
        ({"advertise": "10.0.0.7", "internal_host": "0.0.0.0"}, "10.0.0.7:9"),
    ],
)
def test_what_other_nodes_are_told(given: dict[str, str], told: str) -> None:
    assert _advertised(Settings.model_validate(given), 9) == told
    assert App is not None
