"""The web client's files: names, types, tags, packing, and no way out of the folder."""

import gzip
from pathlib import Path

import pytest

from demineur.net import HttpRoutes, StaticSite, find_web
from tests.net.conftest import Raw, Recorder, Start, request_head

_FILES = {
    "index.html": b"<!doctype html>" + b"<p>page</p>" * 50,
    "app.js": b"export const x = 1;\n" * 50,
    "css/style.css": b"body { margin: 0 }\n" * 50,
    "icons/board.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "manifest.webmanifest": b"{}",
    "lang/fr.json": b'{"a": "b"}',
    "icon.png": b"\x89PNG\r\n\x1a\n" + b"\0" * 500,
    "font.woff2": b"wOF2" + b"\0" * 500,
    "notes.md": b"not for the public",
    ".env": b"SECRET=1",
    ".git/config.json": b"{}",
    "node_modules/x/index.js": b"1",
}

_TYPES = {
    "/": "text/html; charset=utf-8",
    "/r/K7MP-3QXZ": "text/html; charset=utf-8",
    "/static/index.html": "text/html; charset=utf-8",
    "/static/app.js": "text/javascript; charset=utf-8",
    "/static/css/style.css": "text/css; charset=utf-8",
    "/static/icons/board.svg": "image/svg+xml",
    "/static/manifest.webmanifest": "application/manifest+json",
    "/manifest.webmanifest": "application/manifest+json",
    "/static/lang/fr.json": "application/json",
    "/static/icon.png": "image/png",
    "/static/font.woff2": "font/woff2",
}


@pytest.fixture
def site(tmp_path: Path) -> StaticSite:
    (tmp_path / "secret.txt").write_bytes(b"above the folder")
    folder = tmp_path / "web"
    for name, body in _FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return StaticSite(folder)


@pytest.fixture
async def raw(start: Start, site: StaticSite, raws: list[Raw]) -> Raw:
    raws.append(await Raw.connect(await start(Recorder(), http=HttpRoutes(site=site))))
    return raws[0]


async def test_each_file_has_its_type_and_its_body(raw: Raw) -> None:
    for path, content_type in _TYPES.items():
        status, headers, body = await raw.ask(path)
        assert (status, headers["content-type"]) == (200, content_type), path
        name = "index.html" if path in {"/", "/r/K7MP-3QXZ"} else path.removeprefix("/static")
        assert body == _FILES[name.removeprefix("/")]
        assert headers["cache-control"] == "no-cache"


async def test_a_known_tag_is_304_without_a_body(raw: Raw) -> None:
    _, headers, _ = await raw.ask("/static/app.js")
    tag = headers["etag"]
    assert tag.startswith('"')
    for known in (tag, f'"other", W/{tag}', "*"):
        status, headers, body = await raw.ask("/static/app.js", **{"If-None-Match": known})
        assert (status, headers["etag"], body) == (304, tag, b"")
        assert "content-length" not in headers
    for unknown in ('"other"', "", tag.strip('"')):
        assert (await raw.ask("/static/app.js", **{"If-None-Match": unknown}))[0] == 200


async def test_packed_where_asked_and_smaller(raw: Raw) -> None:
    _, plain, body = await raw.ask("/static/app.js")
    _, packed, small = await raw.ask("/static/app.js", **{"Accept-Encoding": "br, gzip;q=0.5"})
    assert "content-encoding" not in plain
    assert packed["content-encoding"] == "gzip"
    assert plain["vary"] == packed["vary"] == "Accept-Encoding"
    assert gzip.decompress(small) == body
    assert len(small) < len(body) // 5
    assert packed["etag"] != plain["etag"]
    for refused in ("gzip;q=0", "gzip; q=0.0", "br", "identity"):
        _, headers, _ = await raw.ask("/static/app.js", **{"Accept-Encoding": refused})
        assert "content-encoding" not in headers
    for path in ("/static/icon.png", "/static/icons/board.svg"):  # no smaller when packed
        _, headers, _ = await raw.ask(path, **{"Accept-Encoding": "gzip"})
        assert "content-encoding" not in headers


async def test_head_of_a_file(raw: Raw) -> None:
    status, headers, body = await raw.ask("/static/app.js", "HEAD")
    assert (status, headers["content-length"], body) == (200, str(len(_FILES["app.js"])), b"")


@pytest.mark.parametrize(
    "path",
    [
        "/static/../secret.txt",
        "/static/%2e%2e/secret.txt",
        "/static/..%2fsecret.txt",
        "/static/%252e%252e/secret.txt",
        "/static/..\\secret.txt",
        "/static//secret.txt",
        "/static//etc/passwd",
        "/static/./app.js",
        "/static/app.js%00.png",
        "/static/app.js/",
        "/static/",
        "/static",
        "/static/.env",
        "/static/.git/config.json",
        "/static/node_modules/x/index.js",
        "/static/notes.md",
        "/static/link.txt",
        "/static/APP.JS",
        "/app.js",
        "//",
        "/r/",
        "/r/a/b",
        "/r/" + "x" * 40,
        "http://elsewhere.example/",
        "*",
    ],
)
async def test_nothing_else_is_served(raw: Raw, path: str) -> None:
    raw.send(request_head(path, headers={"Host": "localhost"}))
    status, _, body = await raw.response()
    assert status == 404
    assert b"above the folder" not in body


def test_the_web_client_is_found() -> None:
    assert (find_web() / "index.html").is_file()


def test_the_web_client_of_a_wheel_is_preferred(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "server" / "demineur"
    package.mkdir(parents=True)
    monkeypatch.setattr("demineur.net.static.files", lambda _: package)
    with pytest.raises(FileNotFoundError):
        find_web()
    for folder in (tmp_path / "web", package / "web"):
        folder.mkdir()
        (folder / "index.html").write_text("<p>")
        assert find_web() == folder
