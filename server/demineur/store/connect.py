"""From an address to the links that lead there."""

from typing import Any

from redis.asyncio.connection import (
    Connection,
    ConnectionPool,
    SSLConnection,
    UnixDomainSocketConnection,
)
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool
from redis.backoff import NoBackoff

from demineur.store.address import Form, RedisAddress
from demineur.store.cluster import open_cluster
from demineur.store.link import Link, PoolLink
from demineur.store.settings import StoreSettings


def open_link(address: RedisAddress, settings: StoreSettings) -> Link:
    """Return a link to an address. It connects when it is first used."""
    if address.form is Form.CLUSTER:
        return open_cluster(address, connection_options(address, settings))
    options = connection_options(address, settings)
    if address.form is Form.SENTINEL:
        return _open_sentinel(address, options)
    if address.socket_path:
        return PoolLink(
            ConnectionPool(
                connection_class=UnixDomainSocketConnection, path=address.socket_path, **options
            )
        )
    [(host, port)] = address.hosts
    kind = SSLConnection if address.tls else Connection
    return PoolLink(ConnectionPool(connection_class=kind, host=host, port=port, **options))


def connection_options(address: RedisAddress, settings: StoreSettings) -> dict[str, Any]:
    """Return what all connections of an address share, as redis-py names it.

    RESP2 and no CLIENT SETINFO, so that a user with few rights is enough.
    """
    options: dict[str, Any] = {
        "username": address.username,
        "password": address.password,
        "db": address.db,
        "socket_timeout": settings.call_timeout_s,
        "socket_connect_timeout": settings.connect_timeout_s,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 2,
        "driver_info": None,
    }
    if not address.socket_path:
        options["socket_keepalive"] = True
    if address.tls and address.ca_file is not None:
        options["ssl_ca_certs"] = address.ca_file
    return options


def _open_sentinel(address: RedisAddress, options: dict[str, Any]) -> Link:
    sentinel_options = options | {
        "username": address.sentinel_username,
        "password": address.sentinel_password,
        "db": 0,
        "socket_timeout": options["socket_connect_timeout"],
        "ssl": address.tls,
    }
    sentinel = Sentinel(address.hosts, sentinel_kwargs=sentinel_options)  # type: ignore[no-untyped-call]
    pool = SentinelConnectionPool(  # type: ignore[no-untyped-call]
        address.service, sentinel, ssl=address.tls, **options
    )
    return PoolLink(pool, sentinel.aclose)
