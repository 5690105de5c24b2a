"""How a node proves that it is one when it relays a client to another node.

Law of this module: the shared secret itself never goes over the wire. What goes is an HMAC
over the handshake's random key, the path and the client's address, so that neither can be
changed and an overheard proof fits no other handshake.
"""

import hmac
from hashlib import sha256

PROOF_HEADER = "Demineur-Relay-Proof"
ADDRESS_HEADER = "Demineur-Relay-Address"
PATH_PREFIX = "/relay/"

_SECRET_BYTES_MIN = 16


def checked_secret(secret: str) -> bytes:
    """Return the secret's bytes; raises ``ValueError`` for one that is shorter than 16."""
    raw = secret.encode()
    if len(raw) < _SECRET_BYTES_MIN:
        raise ValueError(f"the relay secret needs at least {_SECRET_BYTES_MIN} bytes")
    return raw


def proof(secret: bytes, key: str, path: str, address: str) -> str:
    """Return the proof for a handshake with this ``Sec-WebSocket-Key``, as hexadecimals."""
    return hmac.new(secret, "\n".join((key, path, address)).encode(), sha256).hexdigest()


def is_proven(secret: bytes, claimed: str, key: str, path: str, address: str) -> bool:
    """Return whether the claimed proof is right, in constant time."""
    return hmac.compare_digest(claimed.encode(), proof(secret, key, path, address).encode())
