"""The web client's files, read once and kept in memory.

Law of this module: only what was found under the folder at the start can be asked for, by the
very name it was found by. So there is no path to traverse and no file to wait for.
"""

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

_CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""Other kinds of files are not served: notes and settings may lie beside the client."""

_ALREADY_SMALL = {".ico", ".png", ".woff2"}

_AT_THE_TOP = ("favicon.ico", "favicon.svg", "manifest.webmanifest", "robots.txt", "sw.js")
"""Answered without ``/static`` too: that is where browsers look, and what a worker may rule
is below its own address."""

_FILE_BYTES_MAX = 4_194_304


@dataclass(frozen=True, slots=True)
class Variant:
    """One encoding of a file, with its strong ETag."""

    body: bytes
    etag: str
    encoding: str = ""

    def is_named_in(self, if_none_match: str) -> bool:
        """Return whether the client has this already.

        >>> Variant(b"", '"a"').is_named_in('"b", W/"a"'), Variant(b"", '"a"').is_named_in("")
        (True, False)
        """
        tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
        return "*" in tags or self.etag in tags


@dataclass(frozen=True, slots=True)
class Asset:
    """A file: plain, and packed where that is smaller."""

    content_type: str
    plain: Variant
    packed: Variant | None

    def choose(self, accept_encoding: str) -> Variant:
        """Return the variant for this ``Accept-Encoding``."""
        if self.packed is not None and _accepts_gzip(accept_encoding):
            return self.packed
        return self.plain


class StaticSite(Mapping[str, Asset]):
    """The files of a folder by their addresses, ``/static/…``; hidden ones are left out."""

    def __init__(self, folder: Path) -> None:
        self._assets: dict[str, Asset] = {}
        root = folder.resolve()
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root).as_posix()
            if _is_served(path, root, name):
                self._assets[f"/static/{name}"] = _asset(path)
        for name in _AT_THE_TOP:
            asset = self._assets.get(f"/static/{name}")
            if asset is not None:
                self._assets[f"/{name}"] = asset

    def __getitem__(self, address: str) -> Asset:
        return self._assets[address]

    def __contains__(self, address: object) -> bool:
        return address in self._assets

    def __iter__(self) -> Iterator[str]:
        return iter(self._assets)

    def __len__(self) -> int:
        return len(self._assets)


def find_web() -> Path:
    """Return the folder of the web client: in the wheel, or in the checkout it runs from.

    Raises ``FileNotFoundError`` where there is none.
    """
    package = Path(str(files("demineur")))
    for folder in (package / "web", package.parents[1] / "web"):
        if (folder / "index.html").is_file():
            return folder
    raise FileNotFoundError("the web client (web/index.html) is not installed")


def _is_served(path: Path, root: Path, name: str) -> bool:
    return (
        path.is_file()
        and path.suffix in _CONTENT_TYPES
        and not any(part.startswith(".") or part == "node_modules" for part in name.split("/"))
        and path.resolve().is_relative_to(root)
        and path.stat().st_size <= _FILE_BYTES_MAX
    )


def _asset(path: Path) -> Asset:
    body = path.read_bytes()
    digest = hashlib.sha256(body).hexdigest()[:32]
    packed = None
    if path.suffix not in _ALREADY_SMALL:
        small = gzip.compress(body, 9, mtime=0)
        if len(small) < len(body):
            packed = Variant(small, f'"{digest}-gz"', "gzip")
    return Asset(_CONTENT_TYPES[path.suffix], Variant(body, f'"{digest}"'), packed)


def _accepts_gzip(accept_encoding: str) -> bool:
    for part in accept_encoding.lower().split(","):
        coding, _, parameters = part.partition(";")
        if coding.strip() in {"gzip", "*"}:
            quality = parameters.strip().replace(" ", "")
            return not quality.startswith("q=0") or any(c in "123456789" for c in quality[3:])
    return False
