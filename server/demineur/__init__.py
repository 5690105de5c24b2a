"""Démineur: a self-hosted, real-time Minesweeper race server.

The package is built in floors, and imports go down only: ``engine`` (pure), then
``protocol`` and ``race`` (pure), then ``store`` and ``net``, then ``rooms``, then
``app``, ``config`` and ``cli``. ``tests/test_architecture.py`` walks the imports and
holds this.
"""

__version__ = "0.1.0"
