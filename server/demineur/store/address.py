"""Where Redis is: the forms of address, parsed, and shown without their secrets.

    redis://[user:password@]host:port/db            one server; rediss:// over TLS
    unix://[user:password@]/path/to.sock?db=0       one server, by its socket
    redis+sentinel://[user:password@]host:port,host:port/service[/db]
    redis+cluster://[user:password@]host:port,host:port

    memory://name                                   one in this process, for tests and trials;
                                                    those who give the same name share it

``rediss+sentinel`` and ``rediss+cluster`` are the same over TLS. Options after ``?``:
``ca_file`` (PEM of an authority to trust besides those of the system), ``db``, and for Sentinels
that ask for their own, ``sentinel_user`` and ``sentinel_password``. Everything before ``@`` is
percent-decoded.
"""

import enum
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote, unquote, urlsplit

from demineur.store.errors import StoreMisconfigured


class Form(enum.Enum):
    """How one reaches the server that holds a key."""

    STANDALONE = "standalone"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


_SCHEMES = {
    "redis": (Form.STANDALONE, False),
    "rediss": (Form.STANDALONE, True),
    "unix": (Form.STANDALONE, False),
    "redis+sentinel": (Form.SENTINEL, False),
    "rediss+sentinel": (Form.SENTINEL, True),
    "redis+cluster": (Form.CLUSTER, False),
    "rediss+cluster": (Form.CLUSTER, True),
}

_DEFAULT_PORT = {Form.STANDALONE: 6379, Form.SENTINEL: 26379, Form.CLUSTER: 6379}
_SHOWN = {"ca_file", "db", "sentinel_user"}
_OPTIONS = {*_SHOWN, "sentinel_password"}


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """A parsed address. Its repr holds no secret."""

    form: Form
    hosts: tuple[tuple[str, int], ...] = ()
    socket_path: str = ""
    tls: bool = False
    ca_file: str | None = None
    db: int = 0
    service: str = ""
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    sentinel_username: str | None = None
    sentinel_password: str | None = field(default=None, repr=False)


def parse_address(url: str) -> RedisAddress:
    """Return the address that a URL stands for, or raise ``StoreMisconfigured``.

    >>> parse_address("redis+sentinel://:secret@a,b:5000/main").hosts
    (('a', 26379), ('b', 5000))
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in _SCHEMES:
        raise StoreMisconfigured(
            f"The Redis address {safe_url(url)!r} begins with none of: "
            + ", ".join(f"{name}://" for name in _SCHEMES)
        )
    form, tls = _SCHEMES[scheme]
    authority, path, query = _split(rest)
    options = _options(query, url)
    username, password, hosts = _credentials(authority)
    service, db = _service_and_db(form, path, options.get("db"), url)
    is_unix = scheme == "unix"
    if is_unix and (hosts or not path):
        raise StoreMisconfigured(f"{safe_url(url)!r} must be unix:///path/to/redis.sock")
    return RedisAddress(
        form=form,
        hosts=() if is_unix else _hosts(hosts, form, url),
        socket_path=unquote(path) if is_unix else "",
        tls=tls,
        ca_file=options.get("ca_file"),
        db=db,
        service=service,
        username=username,
        password=password,
        sentinel_username=options.get("sentinel_user"),
        sentinel_password=options.get("sentinel_password"),
    )


def safe_url(url: str) -> str:
    """Return the address without its secrets, fit for a log.

    >>> safe_url("redis://app:s3cret@cache:6379/0?sentinel_password=x&ca_file=/ca.pem")
    'redis://app:***@cache:6379/0?sentinel_password=***&ca_file=/ca.pem'
    """
    scheme, separator, rest = url.partition("://")
    before, _, query = rest.partition("?")
    if not separator or "@" in query or "#" in rest:
        # Somebody's password is not percent-encoded, and where it ends is anybody's guess.
        return f"{scheme}://***" if separator and scheme in _SCHEMES else "***"
    login, at, hosts = before.rpartition("@")
    if at:
        user, colon, _ = login.partition(":")
        login = f"{user}:***" if colon else "***"
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    shown = "&".join(_shown(name, value) for name, _, value in pairs)
    return f"{scheme}://{login}{at}{hosts}" + (f"?{shown}" if shown else "")


def _shown(name: str, value: str) -> str:
    return f"{name}={value}" if name in _SHOWN else f"{name if name in _OPTIONS else '***'}=***"


def _split(rest: str) -> tuple[str, str, str]:
    before, _, query = rest.partition("?")
    login, at, after = before.rpartition("@")
    hosts, slash, path = after.partition("/")
    return login + at + hosts, slash + path, query


def _options(query: str, url: str) -> dict[str, str]:
    options = {name: values[-1] for name, values in parse_qs(query).items()}
    unknown = set(options) - _OPTIONS
    if unknown:
        raise StoreMisconfigured(
            f"{safe_url(url)!r} has unknown options: {', '.join(sorted(unknown))}"
        )
    return options


def _credentials(authority: str) -> tuple[str | None, str | None, str]:
    login, at, hosts = authority.rpartition("@")
    if not at:
        return None, None, hosts
    user, _, password = login.partition(":")
    return unquote(user) or None, unquote(password) or None, hosts


def _service_and_db(form: Form, path: str, db: str | None, url: str) -> tuple[str, int]:
    parts = [unquote(part) for part in path.split("/") if part]
    service = ""
    if form is Form.SENTINEL:
        if not parts:
            raise StoreMisconfigured(f"{safe_url(url)!r} must name the Sentinel service: /service")
        service = parts.pop(0)
    text = db if db is not None else ("0" if url.startswith("unix:") or not parts else parts[0])
    if not text.isdecimal() or (form is Form.CLUSTER and int(text) != 0):
        raise StoreMisconfigured(f"{safe_url(url)!r}: there is no database {text!r}")
    return service, int(text)


def _hosts(text: str, form: Form, url: str) -> tuple[tuple[str, int], ...]:
    try:
        hosts = tuple(_host(part, _DEFAULT_PORT[form]) for part in text.split(","))
    except ValueError:
        raise StoreMisconfigured(f"{safe_url(url)!r}: hosts must read host:port") from None
    if form is Form.STANDALONE and len(hosts) != 1:
        raise StoreMisconfigured(f"{safe_url(url)!r}: only Sentinel and Cluster take several hosts")
    return hosts


def _host(text: str, default_port: int) -> tuple[str, int]:
    parts = urlsplit("//" + quote(text, safe=":[]%-._~"))
    if parts.path or parts.hostname is None:
        raise ValueError(text)
    return unquote(parts.hostname), default_port if parts.port is None else parts.port
