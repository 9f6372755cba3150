"""srt and vtt: times stay, sentences are whole, lines fit; opened again with the formats' libraries."""

from __future__ import annotations

import pytest
import srt
import webvtt

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import aligned, same, texts, translated

SRT = """1
00:00:01,000 --> 00:00:02,500
When the rain stopped,

2
00:00:02,600 --> 00:00:05,000 X1:10 X2:20 Y1:5 Y2:6
the <i>children</i> went out
to play in the garden.

7
00:00:09,000 --> 00:00:11,000
{\\an8}<i>- Who is there?
- Nobody.</i>

8
00:00:12,000 --> 00:00:13,000
♪♪
"""

VTT = """WEBVTT - Title
Kind: captions

STYLE
::cue { color: yellow }

NOTE a remark

first
00:01.000 --> 00:02.000 align:left position:10%
<v Ann>Bread &amp; <c.loud>butter</c>

00:00:04.000 --> 00:00:05.000
A second cue.
"""


def test_a_sentence_over_two_cues_is_one_text() -> None:
    assert texts("a.srt", SRT)[0] == "When the rain stopped, the children went out to play in the garden."


def test_each_speaker_of_a_dialogue_is_a_text() -> None:
    assert texts("a.srt", SRT)[1:] == ["Who is there?", "Nobody."]


def test_srt_comes_back_as_it_was() -> None:
    assert translated("a.srt", SRT, same).decode() == SRT


def test_srt_keeps_numbers_times_and_positions() -> None:
    before, after = list(srt.parse(SRT)), list(srt.parse(translated("a.srt", SRT).decode()))

    assert [(cue.index, cue.start, cue.end, cue.proprietary) for cue in after] == [
        (cue.index, cue.start, cue.end, cue.proprietary) for cue in before
    ]
    assert after[0].content == "WHEN THE RAIN STOPPED,"
    assert after[1].content.replace("\n", " ") == "THE <i>CHILDREN</i> WENT OUT TO PLAY IN THE GARDEN."
    assert after[3].content == "♪♪"


def test_a_translation_is_cut_in_proportion_at_a_clause() -> None:
    document = read_document("a.srt", SRT[: SRT.index("7\n")].encode())
    target = "Lorsque la pluie eut cessé, les enfants sortirent pour aller jouer dans le jardin."
    translation = aligned(document.extracts[0].text, target, [(1, 1), (2, 2), (6, 7), (8, 8)])

    first, second = srt.parse(document.restore([translation]).decode())

    assert first.content == "Lorsque la pluie eut cessé,"
    assert second.content == "les <i>enfants</i> sortirent pour aller\njouer dans le jardin."


def test_no_line_is_longer_than_42_characters_where_words_allow() -> None:
    long_cue = "1\n00:00:01,000 --> 00:00:02,000\n" + "Every word of this is short. " * 5 + "\n"

    [cue] = srt.parse(translated("a.srt", long_cue, lambda text: text.replace("of", "de la")).decode())

    assert max(map(len, cue.content.split("\n"))) <= 42
    assert cue.content.replace("\n", " ") == ("Every word de la this is short. " * 5).strip()


def test_too_few_words_are_shown_in_every_cue() -> None:
    source = "1\n00:00:01,000 --> 00:00:02,000\nI do\n\n2\n00:00:02,000 --> 00:00:03,000\nagree.\n"

    cues = list(srt.parse(translated("a.srt", source, lambda _: "D'accord.").decode()))

    assert [cue.content for cue in cues] == ["D'accord.", "D'accord."]


def test_a_file_without_punctuation_keeps_its_cues_apart() -> None:
    source = "".join(
        f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\nwords without an end\n\n" for n in range(1, 10)
    )

    assert len(texts("a.srt", source)) == 9


def test_a_pause_ends_a_sentence() -> None:
    source = "1\n00:00:01,000 --> 00:00:02,000\nAnd then\n\n2\n00:00:20,000 --> 00:00:21,000\nshe left.\n"

    assert texts("a.srt", source) == ["And then", "she left."]


def test_vtt_keeps_header_styles_notes_settings_and_voices() -> None:
    result = translated("a.vtt", VTT).decode()
    cues = webvtt.from_string(result).captions

    assert result.startswith("WEBVTT - Title\nKind: captions\n")
    assert "::cue { color: yellow }" in result
    assert "NOTE a remark" in result
    assert [cue.raw_text for cue in cues] == ["<v Ann>BREAD &amp; <c.loud>BUTTER</c>", "A SECOND CUE."]
    assert "00:01.000 --> 00:02.000 align:left position:10%" in result


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.srt", "not a subtitle at all", "not SubRip"),
        ("a.srt", SRT + "\n9\n00:00:20,000 --> nonsense\nx\n", "not SubRip .* from line 1[0-9] on"),
        ("a.vtt", "no header", "not WebVTT"),
        ("a.vtt", VTT + "\n00:00:aa --> 00:00:09.000\nx\n", "3 lines with times but 2 readable cues"),
    ],
)
def test_a_broken_subtitle_file_is_an_error(name: str, data: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_document(name, data.encode())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Line one<br>line two", ["Line one", "line two"]),
        ("Line one.<br/>Line two.", ["Line one.", "Line two."]),
        ("Where are you? <BR> Here.", ["Where are you?", "Here."]),
        ("I went to the<br>market.", ["I went to the market."]),
        ("Hello<br>- Goodbye", ["Hello", "Goodbye"]),
        ("<i>Hello</i><br>you all", ["Hello", "you all"]),
    ],
)
@pytest.mark.parametrize("name", ["a.srt", "a.vtt"])
def test_br_parts_texts_and_stays(name: str, text: str, wanted: list[str]) -> None:
    begin = "WEBVTT\n\n" if name == "a.vtt" else "1\n"
    times = "00:00:01.000 --> 00:00:02.000" if name == "a.vtt" else "00:00:01,000 --> 00:00:02,000"
    source = f"{begin}{times}\n{text}\n"

    assert texts(name, source) == wanted
    assert translated(name, source, same).decode() == source
    assert translated(name, source).decode().lower() == source.lower()


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
def test_lines_between_and_after_cues_stay(end: str) -> None:
    source = (
        f"1\n00:00:01,000 --> 00:00:02,000\nOne line\nand two\n\n\n2\n00:00:03,000 --> 00:00:04,000\nEnd{end}"
    )

    assert translated("a.srt", source, same).decode() == source
