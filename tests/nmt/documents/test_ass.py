"""ass and ssa: what is no text of a dialogue comes back character by character."""

from __future__ import annotations

import random
import re

import pytest

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import same, texts, translated
from tests.nmt.documents.generated import phrase, sentence

HEAD = """[Script Info]
; A comment with words
Title: Some words
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Default,Arial,20

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""


def line(text: str, number: int = 0, kind: str = "Dialogue") -> str:
    begin, end = f"0:00:{number * 2:02}.00", f"0:00:{number * 2 + 1:02}.50"
    return f"{kind}: 0,{begin},{end},Default,Ann, the 1st,0,0,,{text}".replace(", the 1st,", ",0,") + "\n"


def body(chance: random.Random) -> str:
    text = sentence(chance, 5, 9)
    words = text.split()
    half = len(words) // 2
    first, last = " ".join(words[:half]), " ".join(words[half:])
    return chance.choice(
        [
            text,
            f"{first}\\N{last}",
            f"{{\\i1}}{first}{{\\i0}} {last}",
            f"{{\\pos(10,20)\\fad(1,2)}}{text}",
            f"{first}, {{\\b1}}{last}",
            f"- {phrase(chance)}?\\N- {phrase(chance)}.",
            f"{first}\\h{last}",
            f"{{a note}}{text}",
            "{\\p1}m 0 0 l 100 0 100 100{\\p0}",
            " ".join([first, "{\\c&H00FF00&}" + last]),
        ]
    )


def script(seed: int) -> str:
    chance = random.Random(seed)
    lines = [line(body(chance), number) for number in range(12)]
    lines.insert(4, line(phrase(chance), 4, "Comment"))
    end = "\r\n" if seed % 2 else "\n"
    return (HEAD + "".join(lines) + "\n[Fonts]\nfontname: a.ttf\n").replace("\n", end)


_WORDS = re.compile(r"\{[^}]*\}|\\[NnhH]|[^\w{}\\]+")


def bodies(text: str) -> list[str]:
    return [one.split(",", 9)[9].strip() for one in text.splitlines() if one.startswith("Dialogue:")]


@pytest.mark.parametrize("seed", range(20))
def test_scripts_come_back_as_they_were(seed: int) -> None:
    source = script(seed)
    result = translated("a.ass", source).decode()

    assert translated("a.ass", source, same).decode() == source
    keep = [one for one in source.splitlines() if not one.startswith("Dialogue:")]
    assert [one for one in result.splitlines() if not one.startswith("Dialogue:")] == keep
    for old, new in zip(bodies(source), bodies(result), strict=True):
        assert re.findall(r"\{[^}]*\}", old) == re.findall(r"\{[^}]*\}", new)
        if "\\p1" in old:
            assert new == old
            continue
        assert _WORDS.sub("", new) == _WORDS.sub("", old).upper()


def one(text: str) -> str:
    return bodies(translated("a.ass", HEAD + line(text)).decode())[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"{\i1}Red{\i0} car.", r"{\i1}RED{\i0} CAR."),
        (r"A {\i1}red car{\i0}.", r"A {\i1}RED CAR{\i0}."),
        (r"{\an8}Up here.", r"{\an8}UP HERE."),
        (r"- Yes?\N- No.", r"- YES?\N- NO."),
        (r"{why}Red\hcar.", r"{why}RED\hCAR."),
        ("One, two, three.", "ONE, TWO, THREE."),
    ],
)
def test_tags_stay_with_their_words(text: str, expected: str) -> None:
    assert one(text) == expected


def test_a_sentence_over_two_dialogues_is_one_text() -> None:
    source = HEAD + line("He was the first to", 0) + line("see the red car.", 1)

    assert texts("a.ssa", source) == ["He was the first to see the red car."]
    cues = bodies(translated("a.ssa", source).decode())
    assert (len(cues), " ".join(cues)) == (2, "HE WAS THE FIRST TO SEE THE RED CAR.")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("1\n00:00 --> 00:01\nx\n", r"no section \[Events\]"),
        (HEAD + "Dialogue: 0,0:00:01.00\n", "line 12 has not the fields"),
        (HEAD + line("x").replace("0:00:00.00", "soon"), "line 12 has no times"),
    ],
)
def test_what_is_no_script_is_an_error(source: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_document("a.ass", source.encode())
