"""TLS to Sentinel and Cluster, and certificates that must not be trusted."""

from pathlib import Path

import pytest

from demineur.store import Store, StoreSettings, StoreUnavailable
from tests.redis_servers import TlsServer, free_port, make_certificate
from tests.store.conftest import OpenStore, begin


async def test_a_certificate_of_nobody_known_is_refused(tmp_path: Path) -> None:
    with TlsServer(tmp_path / "redis").ready() as server:
        stranger = tmp_path / "stranger"
        stranger.mkdir()
        url = server.url.replace(str(server.certificate), str(make_certificate(stranger)))
        with pytest.raises(StoreUnavailable, match=r"(?i)certificate"):
            await Store.open(StoreSettings(url=url, call_timeout_s=0.2))
        plain = f"redis://127.0.0.1:{server.tls_port}"
        with pytest.raises(StoreUnavailable):
            await Store.open(StoreSettings(url=plain, call_timeout_s=0.2))


async def test_a_cluster_over_tls(tmp_path: Path, open_store: OpenStore, code: str) -> None:
    lines = ("cluster-enabled yes", "tls-cluster yes", f"cluster-port {free_port()}")
    with TlsServer(tmp_path / "redis", *lines).ready() as server:
        with server.client() as client:
            client.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)
        url = server.url.replace("rediss://", "rediss+cluster://")
        store = await open_store(StoreSettings(url=url))
        await begin(store, code, b"created")
        assert await store.load(code) == [b"created"]


async def test_sentinel_over_tls(tmp_path: Path, open_store: OpenStore, code: str) -> None:
    with TlsServer(tmp_path / "redis").ready() as server:
        lines = (
            "tls-replication yes",
            f"sentinel monitor races 127.0.0.1 {server.tls_port} 1",
        )
        sentinel = TlsServer(tmp_path / "s", *lines, mode=("--sentinel",), fsync=None)
        with sentinel.ready():
            # One authority for both: that of the address.
            both = tmp_path / "both.pem"
            both.write_text(server.certificate.read_text() + sentinel.certificate.read_text())
            place = f"127.0.0.1:{sentinel.tls_port}/races"
            url = f"rediss+sentinel://{place}?ca_file={both}"
            store = await open_store(StoreSettings(url=url))
            await begin(store, code, b"created")
            assert await store.load(code) == [b"created"]
