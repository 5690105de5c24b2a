"""``Settings``: everything that an operator can set, read once and frozen.

Each field is the environment variable ``DEMINEUR_`` and its name in capitals; a field of a
group has two underscores between: ``DEMINEUR_NET__MAX_CONNECTIONS``. The options of ``demineur
serve`` go before the environment. Defaults run on one machine; secrets have none.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from demineur.net import Limits, Networks
from demineur.rooms import RoomLimits, SessionLimits
from demineur.store import StoreMisconfigured
from demineur.store.address import parse_address
from demineur.store.backend import MEMORY

PREFIX = "DEMINEUR_"

_ORIGIN = re.compile(r"\*|https?://(?:[A-Za-z0-9.\-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?/?")
_ADVERTISED = re.compile(r"(?:[A-Za-z0-9.\-_]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_EVERYWHERE = {"", "0.0.0.0", "::"}  # noqa: S104 - compared, not listened on

Words = Annotated[tuple[str, ...], NoDecode]
"""Words with commas between."""


class Settings(BaseSettings):
    """The settings of one node."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid"
    )

    host: str = "127.0.0.1"
    """Address to listen on; ``0.0.0.0`` for all of the machine's."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """Port of the web client, the websockets and the small HTTP API; 0: the system's choice."""
    redis_url: SecretStr | None = None
    """``redis://``, ``rediss://``, ``unix://``, ``redis+sentinel://`` or ``redis+cluster://``.
    None: the server starts its own Redis in the data directory."""
    data_dir: Path = Path(".data")
    """Where an own Redis keeps its files."""
    fsync: Literal["always", "everysec"] = "always"
    """``appendfsync`` of an own Redis."""
    replicas: Annotated[int, Field(ge=0, le=16)] | None = None
    """Replicas of Redis that must hold a move before it is answered, where so many are connected.
    None: 1 with Sentinel and in a Cluster, else 0; 0 waits for none."""
    workers: Annotated[int, Field(ge=1, le=256)] = 1
    """Processes that share the port; one a core."""

    internal_host: str = "127.0.0.1"
    """Address on which other nodes reach this one."""
    internal_port: Annotated[int, Field(ge=0, le=65535)] = 0
    """Its port; 0: the system's choice."""
    advertise: str = ""
    """``host:port`` that other nodes are told, or the host alone where the port is the system's
    choice; none: the internal host and port."""
    cluster_secret: Annotated[SecretStr, Field(min_length=16)] | None = None
    """What the nodes of a site share, so that no one else can relay; 16 characters at least.
    None: drawn at random, which does for one machine."""

    origins: Words = ()
    """Origins besides the server's own that may open a websocket; ``*`` allows all."""
    trusted_proxies: Words = ()
    """Networks whose forwarding header tells the client's address."""
    forwarded_header: Literal["x-forwarded-for", "forwarded"] = "x-forwarded-for"
    """The header that the proxy writes."""
    metrics_from: Words = ("127.0.0.0/8", "::1/128")
    """Networks that may read ``/metrics``."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least that is logged."""
    log_format: Literal["text", "json"] = "text"
    """Lines for people, or one JSON object a line."""

    net: Limits = Limits()
    """What a connection may cost."""
    rooms: RoomLimits = RoomLimits()
    """What bounds a room."""
    players: SessionLimits = SessionLimits()
    """What one client may ask for."""

    @field_validator("origins", "trusted_proxies", "metrics_from", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(word for word in (part.strip() for part in value.split(",")) if word)
        return value

    @field_validator("trusted_proxies", "metrics_from")
    @classmethod
    def _are_networks(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        Networks(words)
        return words

    @field_validator("origins")
    @classmethod
    def _are_origins(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        for word in words:
            if not _ORIGIN.fullmatch(word):
                raise ValueError(f"{word!r} is no origin such as https://play.example")
        return words

    @field_validator("advertise")
    @classmethod
    def _is_advertisable(cls, text: str) -> str:
        if text and not _ADVERTISED.fullmatch(text):
            raise ValueError(f"{text!r} is not host:port")
        return text

    @field_validator("redis_url")
    @classmethod
    def _is_redis(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not url.get_secret_value().startswith(MEMORY):
            try:
                parse_address(url.get_secret_value())
            except StoreMisconfigured as error:
                raise ValueError(str(error)) from None
        return url

    @model_validator(mode="after")
    def _can_be_reached(self) -> "Settings":
        if self.internal_host in _EVERYWHERE and not self.advertise:
            raise ValueError(
                "advertise: an internal host that stands for all addresses is none that other "
                "nodes can reach; set what they are told"
            )
        return self


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the names of variables that look like settings and are none; a slip of the pen.

    >>> unknown_variables({"DEMINEUR_PROT": "80", "DEMINEUR_PORT": "80", "HOME": "/"})
    ['DEMINEUR_PROT']
    """
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    return sorted(
        name
        for name in environment
        if name.startswith(PREFIX) and name.partition("__")[0] not in known
    )
