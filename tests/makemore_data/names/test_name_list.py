from __future__ import annotations

import random

import pytest

from makemore_data.names.name_list import UnusableNames, parse_names

TEN = ["ada", "bo", "cy", "dee", "eve", "fay", "gus", "hal", "ivy", "jo"]
TEXT = "\n".join(TEN)


@pytest.mark.parametrize(
    ("text", "lowered"),
    [
        (TEXT, 0),
        (TEXT + "\n", 0),
        (TEXT.replace("\n", "\r\n"), 0),
        (TEXT.replace("\n", "\r"), 0),
        ("\ufeff" + TEXT, 0),
        ("\n\n" + TEXT.replace("\n", "\n \n\t\n") + "\n\n", 0),
        (TEXT.replace("\n", " \n  "), 0),
        (TEXT.replace("a", "A"), 3),
        (TEXT.upper(), 10),
    ],
    ids=[
        "as it is",
        "newline at the end",
        "Windows",
        "old Mac",
        "byte order mark",
        "blank lines",
        "blanks around",
        "some capitals",
        "all capitals",
    ],
)
def test_ways_to_write_the_same_list(text: str, lowered: int) -> None:
    parsed = parse_names(text.encode(), "the file")
    assert list(parsed.names) == TEN
    assert parsed.lowered == lowered


def test_repeated_names_and_their_order_are_kept() -> None:
    names = [*reversed(TEN), *TEN, *TEN]
    assert list(parse_names("\n".join(names).encode(), "the file").names) == names


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file is empty."),
        (b" \n\r\n\t\n", "the file holds no names."),
        (b"\xef\xbb\xbf", "the file holds no names."),
        (b"ada\nbo", "the file holds too few names: expected at least 10, got 2."),
        (
            TEXT.encode() + b"\njos\xc3\xa9",
            "Line 11 of the file is 'josé', but 'é' is not a letter from a to z.",
        ),
        (
            b"\n\nmary ann\n" + TEXT.encode(),
            "Line 3 of the file is 'mary ann', but ' ' is not a letter from a to z.",
        ),
        (
            b"emma,f,123\nolivia,f,99\n" + TEXT.encode(),
            "Line 1 of the file is 'emma,f,123', but ',' is not a letter from a to z "
            "(1 more such line).",
        ),
        (
            b"a.\nb.\nc.\n" + TEXT.encode(),
            "Line 1 of the file is 'a.', but '.' is not a letter from a to z (2 more such lines).",
        ),
        (
            "\u212aarl".encode() + b"\n" + TEXT.encode(),  # the Kelvin sign: lower() makes it a k
            "Line 1 of the file is '\u212aarl', but '\u212a' is not a letter from a to z.",
        ),
        (
            "em\u200bma".encode() + b"\n" + TEXT.encode(),
            "Line 1 of the file is 'em\\u200bma', but '\\u200b' is not a letter from a to z.",
        ),
        (
            b"x" * 1000 + b"1",
            "Line 1 of the file is 'xxxxxxxxxxxxxxxxxxxxxxxx...', "
            "but '1' is not a letter from a to z.",
        ),
        (
            TEXT.encode("utf-16"),
            "the file is not a text file: it holds null bytes.",
        ),
        (b"\x89PNG\r\n\x1a\n\0\0", "the file is not a text file: it holds null bytes."),
        (
            b"ada\njos\xe9\n",
            "the file is not a text file in UTF-8: byte 0xe9 at position 7 does not fit.",
        ),
    ],
)
def test_what_is_no_list_of_names_gets_one_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(UnusableNames) as raised:
        parse_names(content, "the file")
    assert str(raised.value) == sentence


def test_a_list_is_read_whole_or_not_at_all() -> None:
    chance = random.Random(0)
    pieces = [name.encode() for name in TEN] + [b"\n"] * 12 + [b"\r\n", b"\r", b" ", b"Eve"]
    trouble = [b"\0", b"\xff", b"\xc3\xa9", b".", b"\x0c", b"7", b"\xe2\x80\xa8"]
    outcomes = set()
    for _ in range(2_000):
        parts = chance.choices(pieces, k=60) + chance.choices(trouble, k=chance.randint(0, 1))
        chance.shuffle(parts)
        content = b"".join(parts)
        lines = [line.strip() for line in content.replace(b"\r", b"\n").split(b"\n")]
        try:
            names = parse_names(content, "the file").names
        except UnusableNames:
            outcomes.add("refused")
        else:
            outcomes.add("read")
            assert [name.encode() for name in names] == [line.lower() for line in lines if line]
    assert outcomes == {"read", "refused"}
