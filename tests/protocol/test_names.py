"""Names and room codes: what people may be called, and what is refused."""

import unicodedata
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demineur.protocol import ALPHABET, CODE_LENGTH, ErrorCode, Fault, clean_code, clean_name
from tests.effort import tries

ZWNJ, ZWJ, AS_EMOJI = "\u200c", "\u200d", "\ufe0f"

KEPT = [
    "Zoë",
    "Q.",
    "1",
    "!",
    "Nguyễn Thị Ánh",
    "Đặng Quốc Vượng",
    "Ελένη",
    "Иван Драгомиров",
    "مُحَمَّد",
    "خانة الألغام",
    "שָׁלוֹם",
    "สมชาย ใจดี",
    "ག྄",
    "देवनागरी",
    "王小明",
    "たろう",
    "김민수",
    f"می{ZWNJ}خواهم",
    f"क्{ZWJ}ष",
    "🙂",
    f"❤{AS_EMOJI}",
    f"❤{AS_EMOJI}{ZWJ}🔥",
    f"👨{ZWJ}👩{ZWJ}👧{ZWJ}👦",
    "👍🏽",
    "🇫🇷",
    f"1{AS_EMOJI}\u20e3",
    "☺\ufe0e",
    "O'Brien-Smith",
    "<script>alert(1)",
    "a" * 24,
    "🙂" * 24,
]


@pytest.mark.parametrize("name", KEPT)
def test_peoples_names_are_kept(name: str) -> None:
    assert clean_name(name) == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("  Zoe  Q  ", "Zoe Q"),
        ("Zoe\u0308", "Zoë"),
        ("Nguye\u0302\u0303n", "Nguyễn"),
        ("a\u00a0b\u3000c\u2009d", "a b c d"),
        (f"{ZWJ}Anna{ZWNJ}", "Anna"),
        (f"An{ZWJ}{ZWJ}na", f"An{ZWJ}na"),
        (f"An {ZWNJ} na", "An na"),
        (f"{AS_EMOJI}❤{AS_EMOJI}{AS_EMOJI}", f"❤{AS_EMOJI}"),
        (f"a{ZWJ}{AS_EMOJI}{ZWJ}", "a"),
    ],
)
def test_a_name_is_normalised(raw: str, name: str) -> None:
    assert clean_name(raw) == name


REFUSED = {
    "nothing": "",
    "spaces only": "   ",
    "joiners only": f"{ZWJ} {ZWNJ}{AS_EMOJI}",
    "25 letters": "a" * 25,
    "25 emoji": "🙂" * 25,
    "10,000 letters": "a" * 10_000,
    "10,000 marks": "a" + "\u0301" * 10_000,
    "a tower of marks": "Z" + "\u0336\u0321\u0352\u0354\u0347",
    "marks on nothing": "\u0301Zoe",
    "marks on a space": "Zo \u0301e",
    "24 letters with 4 marks each": "\u0644\u0651\u064e\u0670\u0655" * 24,
    "a null": "a\0b",
    "a tab": "a\tb",
    "a new line": "a\nb",
    "an escape": "a\x1b[31m",
    "a C1 control": "a\x85b",
    "a line separator": "a\u2028b",
    "right-to-left override": "abc\u202etxt.exe",
    "left-to-right override": "\u202dabc",
    "a direction isolate": "\u2067abc\u2069",
    "a direction mark": "abc\u200f",
    "the Arabic letter mark": "abc\u061c",
    "a zero-width space": "An\u200bna",
    "a word joiner": "An\u2060na",
    "a byte order mark": "\ufeffAnna",
    "a soft hyphen": "An\u00adna",
    "a grapheme joiner": "An\u034fna",
    "tag characters": "🏴\U000e0067\U000e007f",
    "the Hangul filler": "\u3164",
    "the half-width filler": "Anna\uffa0",
    "the Braille blank": "\u2800",
    "a musical blank": "\U0001d159",
    "a selector of variants": "A\ufe00",
    "an ideographic selector": "\u908a\U000e0102",
    "private use": "\ue000",
    "unassigned": "a\u0378",
    "no character": "a\uffff",
    "half a character": "a\ud800",
}


@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED)
def test_what_hides_turns_or_covers_is_refused(raw: str) -> None:
    with pytest.raises(Fault) as refused:
        clean_name(raw)
    assert refused.value.code is ErrorCode.BAD_NAME


IGNORABLE = list(
    map(
        chr,
        chain(
            (0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
            range(0x180B, 0x1810),
            range(0x200B, 0x2010),
            range(0x202A, 0x202F),
            range(0x2060, 0x2070),
            range(0xFE00, 0xFE10),
            range(0xFFF0, 0xFFF9),
            range(0x1BCA0, 0x1BCA4),
            range(0x1D173, 0x1D17B),
            range(0xE0000, 0xE1000),
        ),
    )
)
"""Unicode's property Default_Ignorable_Code_Point: what a font shows nothing for."""


def test_no_ignorable_character_is_taken_but_where_it_joins() -> None:
    taken = {c for c in IGNORABLE if _taken(f"a{c}b") and clean_name(f"a{c}b") != "ab"}
    assert taken == {ZWNJ, ZWJ, "\ufe0e", AS_EMOJI}
    for character in IGNORABLE:
        assert not _taken(character)
        assert not _taken(f" {character} ")


def _taken(raw: str) -> bool:
    return isinstance(_clean(raw), str)


SPICY = st.one_of(
    st.characters(),
    st.sampled_from([" ", ZWJ, ZWNJ, AS_EMOJI, "\u0301", "\u064e", "\u202e", "🙂", "ễ", "م"]),
)


def _clean(raw: str) -> str | Fault:
    try:
        return clean_name(raw)
    except Fault as refused:
        return refused


@tries(300)
@given(st.text(SPICY, max_size=40))
def test_a_name_is_clean_or_refused(raw: str) -> None:
    name = _clean(raw)
    if isinstance(name, Fault):
        assert name.code is ErrorCode.BAD_NAME
        assert name.text.isascii(), "nothing of the name is repeated"
        return
    assert clean_name(name) == name
    assert unicodedata.is_normalized("NFC", name)
    assert name == name.strip(" ")
    assert "  " not in name
    assert len(name) <= 96
    kinds = [unicodedata.category(c) for c in name if c not in " \u200c\u200d\ufe0e\ufe0f"]
    assert 1 <= sum(kind[0] != "M" for kind in kinds) + name.count(" ") <= 24
    assert not any(kind[0] in "CZ" for kind in kinds)
    assert kinds[0][0] != "M"


@tries(100)
@given(st.text(max_size=12), st.text(max_size=12))
def test_how_a_name_is_composed_does_not_matter(left: str, right: str) -> None:
    raw = f"{left}é{right}"
    forms = [unicodedata.normalize(form, raw) for form in ("NFC", "NFD")]
    assert _taken(forms[0]) == _taken(forms[1])
    if _taken(raw):
        assert clean_name(forms[0]) == clean_name(forms[1])


# Room codes.

CODES = st.text(ALPHABET, min_size=CODE_LENGTH, max_size=CODE_LENGTH)


def test_the_alphabet_has_no_look_alikes() -> None:
    assert len(ALPHABET) == len(set(ALPHABET)) == 30
    assert not set("01OILU") & set(ALPHABET)


@tries(50)
@given(CODES)
def test_a_code_has_one_spelling_however_it_is_typed(code: str) -> None:
    for typed in (code, code.lower(), f"{code[:4]}-{code[4:]}", f" {code[:4]} {code[4:].lower()} "):
        assert clean_code(typed) == code


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "K7MP3QX",
        "K7MP3QXZZ",
        "K7MP3QX0",
        "K7MP3QXU",
        "K7MP_3QXZ",
        "K7MP/3QXZ",
        "K7MP3QXſ",
        "K7MP3Qß",
        "K7MP3QXＺ",
        "Ｋ7MP3QXZ",
        "K7MP3QXZ\n",
        "K7MP3QXZ\0",
        "../../etc",
    ],
    ids=ascii,
)
def test_what_is_no_code_is_none(raw: str) -> None:
    assert clean_code(raw) is None


@tries(200)
@given(st.text(max_size=20))
def test_any_text_is_a_code_of_the_alphabet_or_none(raw: str) -> None:
    code = clean_code(raw)
    assert code is None or (len(code) == CODE_LENGTH and set(code) <= set(ALPHABET))
