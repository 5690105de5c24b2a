"""The built wheel holds all that a server needs: code, scripts for Redis, and the web client."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Nothing is fetched: the build backend is among the development extras.
OPTIONS = ("wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", *OPTIONS, "--wheel-dir", str(folder), str(ROOT)],
        check=True,
        timeout=100,
    )
    (built,) = folder.glob("demineur-*.whl")
    return zipfile.ZipFile(built)


def _files(folder: Path, pattern: str) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob(pattern)
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_web_client_is_inside(wheel: zipfile.ZipFile) -> None:
    wanted = {f"demineur/web/{name}" for name in _files(ROOT / "web", "*")}
    assert "demineur/web/index.html" in wanted
    assert wanted <= set(wheel.namelist())


@pytest.mark.parametrize("pattern", ["*.py", "*.lua", "py.typed"])
def test_the_package_is_whole(wheel: zipfile.ZipFile, pattern: str) -> None:
    wanted = _files(ROOT / "server", pattern)
    assert wanted
    assert wanted <= set(wheel.namelist())


def test_the_command_and_the_licence_are_named(wheel: zipfile.ZipFile) -> None:
    (info,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    assert "demineur = demineur.cli:main" in wheel.read(f"{info}/entry_points.txt").decode()
    assert f"{info}/licenses/LICENSE" in wheel.namelist()
