"""What the transport counts, for Prometheus.

Law of this module: what happens for every frame is a plain integer of ``TRAFFIC``, collected
when somebody asks (a counter object would cost more than the frame); what happens seldom is a
labelled counter. No label comes from a client.
"""

from collections.abc import Iterable

from prometheus_client import REGISTRY, Counter, Gauge
from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector


class Traffic:
    """Frames and bytes of websocket messages since the process began."""

    __slots__ = ("bytes_in", "bytes_out", "dropped", "frames_in", "frames_out")

    def __init__(self) -> None:
        self.frames_in = 0
        self.frames_out = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.dropped = 0


TRAFFIC = Traffic()


class _TrafficCollector(Collector):
    def collect(self) -> Iterable[Metric]:
        frames = CounterMetricFamily(
            "demineur_net_frames", "Websocket messages.", labels=["direction"]
        )
        frames.add_metric(["in"], TRAFFIC.frames_in)
        frames.add_metric(["out"], TRAFFIC.frames_out)
        size = CounterMetricFamily(
            "demineur_net_bytes", "Bytes of websocket messages.", labels=["direction"]
        )
        size.add_metric(["in"], TRAFFIC.bytes_in)
        size.add_metric(["out"], TRAFFIC.bytes_out)
        dropped = CounterMetricFamily(
            "demineur_net_dropped_frames", "Droppable messages not sent to slow receivers."
        )
        dropped.add_metric([], TRAFFIC.dropped)
        return [frames, size, dropped]


REGISTRY.register(_TrafficCollector())

CONNECTIONS = Gauge("demineur_net_connections", "Websockets open now.", ["kind"])
"""``kind``: ``direct``, or ``relayed`` from another node."""

PENDING = Gauge("demineur_net_pending", "Sockets that are no websocket (yet).")

REFUSED = Counter("demineur_net_refused", "Handshakes and sockets refused.", ["reason"])

REQUESTS = Counter("demineur_net_http_requests", "Plain HTTP requests answered.", ["status"])

CLOSED = Counter("demineur_net_closed", "Websockets closed, by the code that counts.", ["code"])

FAULTS = Counter("demineur_net_faults", "Exceptions caught at the edge of a connection.")

RELAYS = Counter("demineur_net_relays", "Connections passed on to another node.", ["outcome"])
"""``outcome``: ``opened``, ``refused`` or ``timeout``."""
