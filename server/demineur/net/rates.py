"""Token buckets: how often somebody may do something.

Law of this module: it reads no clock; whoever asks brings the time, in nanoseconds of
``time.monotonic_ns`` (the ``arrived_ns`` of a frame will do).
"""

from math import ceil

from demineur.net.addresses import group

_NS_PER_S = 1_000_000_000


class TokenBucket:
    """``burst`` tokens at first and at most; ``rate_per_s`` come back each second.

    >>> bucket = TokenBucket(rate_per_s=2, burst=1)
    >>> bucket.take(0), bucket.take(0), bucket.wait_ms, bucket.take(500_000_000)
    (True, False, 500, True)
    """

    __slots__ = ("_burst", "_rate", "_stamp_ns", "_tokens")

    def __init__(self, rate_per_s: float, burst: float) -> None:
        if rate_per_s <= 0 or burst < 1:
            raise ValueError("a bucket needs a positive rate and a burst of at least one")
        self._rate = rate_per_s / _NS_PER_S
        self._burst = float(burst)
        self._tokens = float(burst)
        self._stamp_ns = 0

    def take(self, now_ns: int, tokens: float = 1.0) -> bool:
        """Take the tokens if they are there; else take none and return False.

        A time before the last one counts as the last one.
        """
        self._fill(now_ns)
        if self._tokens < tokens:
            return False
        self._tokens -= tokens
        return True

    @property
    def tokens(self) -> float:
        """What the last ``take`` left."""
        return self._tokens

    @property
    def wait_ms(self) -> int:
        """Whole milliseconds from the last ``take`` until one token is there, rounded up."""
        missing = 1.0 - self._tokens
        return ceil(missing / self._rate / 1_000_000) if missing > 0 else 0

    def is_full(self, now_ns: int) -> bool:
        """Whether the bucket is as good as new, so that it may be forgotten."""
        self._fill(now_ns)
        return self._tokens >= self._burst

    def _fill(self, now_ns: int) -> None:
        passed_ns = now_ns - self._stamp_ns
        if passed_ns > 0:
            self._tokens = min(self._burst, self._tokens + passed_ns * self._rate)
            self._stamp_ns = now_ns


class Gate:
    """One bucket an address (an IPv6 /64 counts as one), in bounded memory.

    ``max_addresses`` buckets are kept; beyond, the one that was used the longest ago is
    forgotten, which costs nothing where it has filled up again. O(1) a call.

    >>> gate = Gate(rate_per_s=1, burst=1)
    >>> gate.admit("192.0.2.1", 0), gate.admit("192.0.2.1", 0), gate.admit("192.0.2.2", 0)
    (True, False, True)
    >>> gate.wait_ms("192.0.2.1")
    1000
    """

    def __init__(self, rate_per_s: float, burst: float, max_addresses: int = 10_000) -> None:
        if max_addresses < 1:
            raise ValueError("max_addresses must be positive")
        TokenBucket(rate_per_s, burst)  # refuses bad numbers now, not at the first client
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._max_addresses = max_addresses
        self._buckets: dict[str, TokenBucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def admit(self, address: str, now_ns: int) -> bool:
        """Return whether this address may do it now, and count it if so."""
        return self.bucket(address).take(now_ns)

    def bucket(self, address: str) -> TokenBucket:
        """Return the bucket of this address, for somebody who takes from it often."""
        key = group(address)
        bucket = self._buckets.pop(key, None)
        if bucket is None:
            bucket = TokenBucket(self._rate_per_s, self._burst)
            if len(self._buckets) >= self._max_addresses:
                del self._buckets[next(iter(self._buckets))]
        self._buckets[key] = bucket  # at the end: the order of the dict is that of use
        return bucket

    def wait_ms(self, address: str) -> int:
        """Milliseconds from this address' last try until it would be admitted; 0 if unknown."""
        bucket = self._buckets.get(group(address))
        return bucket.wait_ms if bucket is not None else 0
