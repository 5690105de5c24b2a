"""What people type: names and room codes, and how each is made clean.

A name is normalised (NFC, white space folded, joiners that join nothing dropped) and then must
be 1 to 24 visible characters without control, direction-override or other invisible ones, and
without stacks of marks, so that nobody can hide, or turn or cover another's line. Two players
may have the same name, or ones that look the same: seats tell them apart. A room code is eight
letters of an alphabet without look-alikes: 30**8 = 6.6e11 codes, so with 10,000 rooms alive a
guess hits once in 6.6e7 tries.
"""

import re
import unicodedata

from demineur.protocol.codes import ErrorCode, Fault

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""No 0 O, 1 I L, or U: what is read aloud or copied by hand comes out the same."""

CODE_LENGTH = 8
NAME_VISIBLE_MAX = 24
NAME_CODE_POINTS_MAX = 96
"""Room for combining marks and joined emoji above the visible ones."""
MARKS_MAX = 4
"""On one character. Arabic, Thai and Vietnamese need two or three; more is a tower that covers
the lines above and below."""

_JOINERS = "\u200c\u200d\ufe0e\ufe0f"
"""Zero-width joiners and the two selectors of how an emoji looks: real names need them between
other characters, so they are taken there and nowhere else."""
_IDLE_JOINERS = re.compile(
    # At the start, after a space, after a joiner; then before a space, or at the end.
    r"(?:^|(?<=[ \u200c\u200d]))[\u200c\u200d\ufe0e\ufe0f]+"
    r"|(?<=[\ufe0e\ufe0f])[\ufe0e\ufe0f]+"
    r"|[\u200c\u200d]+[\ufe0e\ufe0f]*(?= |$)"
)
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
"""Fillers, blanks and selectors that Unicode files among letters, signs and marks."""


def clean_name(raw: str) -> str:
    """Return the normalised name, or raise a ``Fault`` (``bad_name``).

    >>> clean_name("  Zoe\\u0308   Q. ")
    'Zoë Q.'
    """
    if len(raw) > 4 * NAME_CODE_POINTS_MAX:
        raise _too_long()
    name = _normalised(raw)
    if _INVISIBLE.search(name) or any(_is_control(character) for character in name):
        raise Fault(ErrorCode.BAD_NAME, "A name has no control, direction or invisible characters.")
    if not 1 <= _visible(name) <= NAME_VISIBLE_MAX or len(name) > NAME_CODE_POINTS_MAX:
        raise _too_long()
    return name


def _too_long() -> Fault:
    return Fault(ErrorCode.BAD_NAME, f"A name has 1 to {NAME_VISIBLE_MAX} characters.")


def _normalised(raw: str) -> str:
    name = unicodedata.normalize("NFC", raw)
    name = "".join(" " if unicodedata.category(c) == "Zs" else c for c in name)
    while (fewer := _IDLE_JOINERS.sub("", name)) != name:
        name = fewer
    return " ".join(part for part in name.split(" ") if part)


def _is_control(character: str) -> bool:
    if character == " " or character in _JOINERS:
        return False
    return unicodedata.category(character)[0] in "CZ"


def _visible(name: str) -> int:
    """Return how many characters can be seen; refuse marks without one, or too many on one."""
    visible, marks = 0, MARKS_MAX
    for character in name:
        if character in _JOINERS:
            continue
        if unicodedata.category(character)[0] != "M":
            visible += 1
            marks = MARKS_MAX if character == " " else 0
        elif marks == MARKS_MAX:
            raise Fault(ErrorCode.BAD_NAME, "A name has only a few marks on each character.")
        else:
            marks += 1
    return visible


def clean_code(raw: str) -> str | None:
    """Return the room code in its one spelling, or None where it is none.

    >>> clean_code("k7mp-3qxz"), clean_code("K7MP"), clean_code("K7MP3QX0")
    ('K7MP3QXZ', None, None)
    """
    if not raw.isascii():
        # Upper case makes an S of a long s, and two of a sharp s.
        return None
    code = raw.replace("-", "").replace(" ", "").upper()
    if len(code) != CODE_LENGTH or any(c not in ALPHABET for c in code):
        return None
    return code
