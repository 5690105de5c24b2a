"""``Settings``: everything that an operator can set, read once and frozen.

Each field is the environment variable ``DEMINEUR_`` and its name in capitals; a field of a
group has two underscores between: ``DEMINEUR_NET__MAX_CONNECTIONS``. The options of ``demineur
serve`` go before the environment. Defaults run on one machine; secrets have none.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from demineur.net import Limits
from demineur.rooms import RoomLimits, SessionLimits

Words = Annotated[tuple[str, ...], NoDecode]
"""Words with commas between."""


class Settings(BaseSettings):
    """The settings of one node."""

    model_config = SettingsConfigDict(
        env_prefix="DEMINEUR_", env_nested_delimiter="__", frozen=True, extra="forbid"
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
    workers: Annotated[int, Field(ge=1, le=256)] = 1
    """Processes that share the port; one a core."""

    internal_host: str = "127.0.0.1"
    """Address on which other nodes reach this one."""
    internal_port: Annotated[int, Field(ge=0, le=65535)] = 0
    """Its port; 0: the system's choice."""
    advertise: str = ""
    """``host:port`` that other nodes are told; none: the internal host and port."""
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
