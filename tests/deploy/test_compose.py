"""docker-compose.yml: its structure, and that its files and commands are the project's own."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from typer.core import TyperGroup

from demineur.cli import build
from demineur.config import Settings
from demineur.net import Networks

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
NODES = sorted(name for name in SERVICES if name.startswith("node-"))


def _option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


def test_there_are_two_nodes_on_one_redis_behind_a_balancer_with_load_as_a_profile() -> None:
    assert NODES == ["node-a", "node-b"]
    assert set(SERVICES) == {"redis", "balancer", "load", *NODES}
    assert [name for name in SERVICES if SERVICES[name].get("profiles")] == ["load"]
    assert [name for name in SERVICES if SERVICES[name].get("ports")] == ["balancer"]


def test_redis_keeps_the_log_on_disk_before_it_answers() -> None:
    redis = SERVICES["redis"]
    source, target, _ = redis["volumes"][0].split(":")
    assert redis["command"] == ["redis-server", target]
    config = (ROOT / source).read_text().splitlines()
    assert "appendonly yes" in config
    assert "appendfsync always" in config
    assert "maxmemory-policy noeviction" in config
    assert redis["healthcheck"]["test"] == ["CMD", "redis-cli", "ping"]
    assert "redis-data:/data" in redis["volumes"]


@pytest.mark.parametrize("name", NODES)
def test_a_node_waits_for_redis_and_tells_the_others_its_own_address(name: str) -> None:
    node = SERVICES[name]
    assert node["depends_on"]["redis"]["condition"] == "service_healthy"
    command = node["command"]
    assert _option(command, "--redis-url") == "redis://redis:6379/0"
    assert _option(command, "--advertise") == f"{name}:{_option(command, '--internal-port')}"
    assert {_option(command, "--port"), _option(command, "--internal-port")} == set(node["expose"])


@pytest.mark.parametrize("name", NODES)
def test_the_command_line_takes_a_node_s_command(name: str) -> None:
    command = SERVICES[name]["command"]
    app = typer.main.get_command(build(command))
    assert isinstance(app, TyperGroup)
    context = app.commands[command[0]].make_context(command[0], command[1:])
    assert context.params["advertise"] == _option(command, "--advertise")


@pytest.mark.parametrize("name", NODES)
def test_the_settings_take_a_node_s_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in SERVICES[name]["environment"].items():
        monkeypatch.setenv(variable, re.sub(r"^\$\{\w+:[-?](.*)\}$", r"\1", value))
    assert "172.20.0.5" in Networks(Settings().trusted_proxies)


@pytest.mark.parametrize("name", NODES)
def test_the_secret_has_no_default(name: str) -> None:
    secret = SERVICES[name]["environment"]["DEMINEUR_CLUSTER_SECRET"]
    assert re.fullmatch(r"\$\{DEMINEUR_CLUSTER_SECRET:\?.+\}", secret)


def test_a_node_is_given_longer_to_stop_than_it_takes_to_drain() -> None:
    for name in NODES:
        assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) > 10


def test_the_balancer_runs_the_shipped_configuration_with_all_that_it_asks_for() -> None:
    balancer = SERVICES["balancer"]
    source = balancer["volumes"][0].split(":")[0]
    asked = set(re.findall(r'"\$\{(\w+)\}"', (ROOT / source).read_text()))
    assert set(balancer["environment"]) == asked
    nodes = {name: f"{name}:{_option(SERVICES[name]['command'], '--port')}" for name in NODES}
    assert balancer["environment"]["DEMINEUR_NODE_A"] == nodes["node-a"]
    assert balancer["environment"]["DEMINEUR_NODE_B"] == nodes["node-b"]


@pytest.mark.parametrize("name", [*NODES, "load"])
def test_what_is_built_is_built_from_a_stage_that_exists(name: str) -> None:
    build = SERVICES[name]["build"]
    dockerfile = (ROOT / build["context"] / build["dockerfile"]).read_text()
    assert re.search(rf"^FROM .* AS {build['target']}$", dockerfile, re.MULTILINE)


def test_what_the_dockerfile_copies_is_sent_to_the_builder() -> None:
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text()
    copied = {
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.MULTILINE)
        for source in line.split()[:-1]
    }
    sent = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert copied == set(sent)
    assert all((ROOT / source).exists() for source in copied)
