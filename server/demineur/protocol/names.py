"""What people type: names and room codes, and how each is made clean.

A name is normalised (NFC, inner white space folded) and then must be 1 to 24 visible
characters without control, format or direction-override characters, so that nobody can
imitate, hide, or turn another's line around. A room code is eight letters of an alphabet
without look-alikes: 30**8 = 6.6e11 codes, so with 10,000 rooms alive a guess hits once in
6.6e7 tries.
"""

import unicodedata

from demineur.protocol.codes import ErrorCode, Fault

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""No 0 O, 1 I L, or U: what is read aloud or copied by hand comes out the same."""

CODE_LENGTH = 8
NAME_VISIBLE_MAX = 24
NAME_CODE_POINTS_MAX = 96
"""Room for combining marks and joined emoji above the visible ones."""

_JOINERS = {"\u200c", "\u200d", "\ufe0f"}
"""Format characters that real names and emoji need between other characters."""


def clean_name(raw: str) -> str:
    """Return the normalised name, or raise a ``Fault`` (``bad_name``).

    >>> clean_name("  Zoe\\u0308   Q. ")
    'Zoë Q.'
    """
    if len(raw) > 4 * NAME_CODE_POINTS_MAX:
        raise Fault(ErrorCode.BAD_NAME, f"A name has at most {NAME_VISIBLE_MAX} characters.")
    name = " ".join(unicodedata.normalize("NFC", raw).split(" "))
    name = " ".join(part for part in name.split(" ") if part)
    for character in name:
        if character != " " and _is_forbidden(character):
            raise Fault(
                ErrorCode.BAD_NAME, "A name has no control, direction or invisible characters."
            )
    visible = sum(1 for c in name if unicodedata.category(c)[0] != "M" and c not in _JOINERS)
    if not 1 <= visible <= NAME_VISIBLE_MAX or len(name) > NAME_CODE_POINTS_MAX:
        raise Fault(ErrorCode.BAD_NAME, f"A name has 1 to {NAME_VISIBLE_MAX} characters.")
    if all(unicodedata.category(c)[0] in "MZ" or c in _JOINERS for c in name):
        raise Fault(ErrorCode.BAD_NAME, "A name needs a letter, a digit or a sign.")
    return name


def _is_forbidden(character: str) -> bool:
    if character in _JOINERS:
        return False
    category = unicodedata.category(character)
    return category[0] in "CZ" or character in "\u115f\u1160\u3164\uffa0\u2800"


def clean_code(raw: str) -> str | None:
    """Return the room code in its one spelling, or None where it is none.

    >>> clean_code("k7mp-3qxz"), clean_code("K7MP"), clean_code("K7MP3QX0")
    ('K7MP3QXZ', None, None)
    """
    code = raw.replace("-", "").replace(" ", "").upper()
    if len(code) != CODE_LENGTH or any(c not in ALPHABET for c in code):
        return None
    return code
