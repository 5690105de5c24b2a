"""From an address to the links that lead there."""

from typing import Any

from redis.asyncio.connection import (
    Connection,
    ConnectionPool,
    RedisSSLContext,
    SSLConnection,
    UnixDomainSocketConnection,
)
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import (
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)
from redis.backoff import NoBackoff

from demineur.store.address import Form, RedisAddress
from demineur.store.cluster import open_cluster
from demineur.store.link import Link, PoolLink
from demineur.store.settings import StoreSettings

MAX_CONNECTIONS = 64
"""Far more than are used at a time (``calls.CONCURRENT_CALLS`` and one for the appends)."""


class _SharesTls:
    """A connection with a given TLS context.

    redis-py makes one for each connection, and that reads all authorities of the system: 25 ms
    in which the event loop stands still.
    """

    def __init__(self, *, tls: RedisSSLContext, **options: Any) -> None:
        super().__init__(**options)
        self.ssl_context = tls


class _TlsConnection(_SharesTls, SSLConnection):
    pass


class _SentinelTlsConnection(_SharesTls, SentinelManagedSSLConnection):
    pass


def open_link(address: RedisAddress, settings: StoreSettings) -> Link:
    """Return a link to an address. It connects when it is first used."""
    options = _options(address, settings)
    if address.form is Form.CLUSTER:
        tls = {"ssl": address.tls, "ssl_ca_certs": address.ca_file}
        return open_cluster(address.hosts, options | tls)
    if address.tls:
        options["tls"] = RedisSSLContext(
            cert_reqs="required", check_hostname=True, ca_certs=address.ca_file
        )
    if address.form is Form.SENTINEL:
        return _open_sentinel(address, options)
    options |= {"db": address.db, "retry": Retry(NoBackoff(), 0)}
    if address.socket_path:
        return _pool(UnixDomainSocketConnection, path=address.socket_path, **options)
    [(host, port)] = address.hosts
    kind = _TlsConnection if address.tls else Connection
    return _pool(kind, host=host, port=port, socket_keepalive=True, **options)


def _pool(kind: Any, **options: Any) -> Link:
    return PoolLink(
        ConnectionPool(connection_class=kind, max_connections=MAX_CONNECTIONS, **options)
    )


def _options(address: RedisAddress, settings: StoreSettings) -> dict[str, Any]:
    """Return what all connections of an address share, as redis-py names it.

    RESP2 and no CLIENT SETINFO, so that a user with few rights is enough.
    """
    return {
        "username": address.username,
        "password": address.password,
        "socket_timeout": settings.call_timeout_s,
        "socket_connect_timeout": settings.connect_timeout_s,
        "protocol": 2,
        "driver_info": None,
    }


def _open_sentinel(address: RedisAddress, options: dict[str, Any]) -> Link:
    no_retry = Retry(NoBackoff(), 0)
    sentinel = Sentinel(  # type: ignore[no-untyped-call]
        address.hosts,
        sentinel_kwargs={
            "username": address.sentinel_username,
            "password": address.sentinel_password,
            "socket_timeout": options["socket_connect_timeout"],
            "socket_connect_timeout": options["socket_connect_timeout"],
            "retry": no_retry,
            "protocol": 2,
            "driver_info": None,
            "ssl": address.tls,
            "ssl_ca_certs": address.ca_file,
        },
    )
    pool = SentinelConnectionPool(  # type: ignore[no-untyped-call]
        address.service,
        sentinel,
        connection_class=_SentinelTlsConnection if address.tls else SentinelManagedConnection,
        max_connections=MAX_CONNECTIONS,
        db=address.db,
        retry=no_retry,
        socket_keepalive=True,
        **options,
    )
    return PoolLink(pool, sentinel.aclose)
