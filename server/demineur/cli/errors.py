"""What the command line says when it cannot do what was asked.

All of it ends the same way: one line on standard error that says what and where, and
exit status 2. A traceback is always a fault of ours.
"""

from __future__ import annotations


class InputError(Exception):
    """Arguments or input that no answer can be given to; the message is one line."""
