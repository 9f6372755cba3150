"""TMX, TSV and XLIFF read and written; what is no memory, or an attack, is refused by name."""

from __future__ import annotations

import io
import itertools
from typing import BinaryIO, cast

import pytest
from translate.storage.tmx import tmxfile

from nmt.errors import InputError
from nmt.memory.files import FORMATS, MemoryFormat, format_of, read_units, write_units
from nmt.memory.segments import Reading
from nmt.memory.tmx import CHUNK_BYTES
from nmt.memory.unit import MOST_CHARACTERS, TranslationUnit

EN_FR = ("en", "fr")
HARD = [
    TranslationUnit("Open <b> & 'it' \"now\"", "Ouvrez <b> & « ça »"),
    TranslationUnit("two\nlines\tand a tab", "deux\nlignes\tet une tabulation"),
    TranslationUnit("back\\slash \\n {name} %s", "barre\\oblique \\n {name} %s"),
    TranslationUnit("emoji 🇫🇷 ]]> x", "émoji 🇫🇷 ]]> x"),
]
TMX = """<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-US" datatype="plaintext"/><body>
<tu tuid="1"><note>n</note>
 <tuv xml:lang="en-US">
  <seg>Click <bpt i="1">&lt;b&gt;</bpt>Save<ept i="1">&lt;/b&gt;</ept>, <ph>{name}</ph>.</seg></tuv>
 <tuv xml:lang="de"><seg>Klick</seg></tuv>
 <tuv xml:lang="fr_CA"><seg>Cliquez sur <hi>Enregistrer</hi>, <ph>{name}</ph>.</seg></tuv></tu>
<tu><tuv lang="en"><seg>Only English</seg></tuv></tu>
<tu><tuv xml:lang="EN"><seg> </seg></tuv><tuv xml:lang="fr"><seg>x</seg></tuv></tu>
<tu><tuv xml:lang="fr"><seg>Fermer</seg></tuv><tuv xml:lang="en"><seg>Close</seg></tuv></tu>
</body></tmx>"""


def read(
    data: str | bytes, kind: MemoryFormat = "tmx", languages: tuple[str, str] | None = EN_FR
) -> tuple[list[TranslationUnit], Reading]:
    reading = Reading(languages)
    stream = io.BytesIO(data.encode() if isinstance(data, str) else data)
    return list(read_units(stream, kind, reading)), reading


def test_a_tmx_of_others_is_read_by_language_without_native_codes() -> None:
    units, reading = read(TMX)

    assert [(unit.source, unit.target) for unit in units] == [
        ("Click Save, {name}.", "Cliquez sur Enregistrer, {name}."),
        ("Close", "Fermer"),
    ]
    assert (reading.n_units, reading.n_other_languages, reading.n_unfit) == (2, 1, 1)


def test_a_tmx_tells_its_languages_where_nobody_else_does() -> None:
    units, reading = read(TMX, languages=None)

    assert reading.languages == ("en", "de")
    assert [unit.target for unit in units] == ["Klick"]


@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_written_is_read_again(kind: MemoryFormat) -> None:
    written = b"".join(write_units(HARD, kind, EN_FR))

    assert read(written, kind)[0] == HARD


def test_another_tool_reads_our_tmx() -> None:
    found = tmxfile(io.BytesIO(b"".join(write_units(HARD, "tmx", EN_FR))), "en", "fr")

    assert [(unit.source, unit.target) for unit in found.units] == [(one.source, one.target) for one in HARD]


def test_a_large_tmx_is_read_a_chunk_at_a_time() -> None:
    units = (TranslationUnit(f"Sentence number {index}", "x" * 50) for index in range(5000))
    pieces = b"".join(write_units(units, "tmx", EN_FR))
    stream = io.BytesIO(pieces)

    first = next(read_units(stream, "tmx", Reading(EN_FR)))

    assert first.source == "Sentence number 0"
    assert len(pieces) > 5 * CHUNK_BYTES
    assert stream.tell() == CHUNK_BYTES


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + ']><tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>&j;</seg></tuv>'
    "</tu></body></tmx>"
)
OUTSIDE = (
    '<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/passwd">]><tmx version="1.4"><header srclang="en"/><body>'
    '<tu><tuv xml:lang="en"><seg>&x;</seg></tuv><tuv xml:lang="fr"><seg>b</seg></tuv></tu></body></tmx>'
)


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (BOMB, "tmx", "the TMX file declares XML entities; remove them"),
        (OUTSIDE, "tmx", "the TMX file declares XML entities; remove them"),
        ("<html><body/></html>", "tmx", "this is no TMX: its root element is html; give a TMX"),
        ("just text", "tmx", "this is no TMX: it is not well-formed XML at line 1, column 0"),
        ("", "tmx", "the file has no translation unit"),
        (TMX[:600], "tmx", "this is no TMX: it is not well-formed XML at line"),
        ('<tmx version="1.4"><header srclang="en"/><body/></tmx>', "tmx", "the file has no translation unit"),
        ("a\tb\nc", "tsv", "line 2 has 1 columns; write a source, a tab and a target"),
        ("a;b", "tsv", "line 1 has 1 columns"),
        (b"a\t\xff", "tsv", "line 1 is not UTF-8 at byte 2"),
        ("\n", "tsv", "the file has no translation unit"),
        (b"a" * 200_000, "tsv", "line 1 has over"),
        ("<xliff version='1.0'/>", "xliff", "this is no XLIFF of version 1.1, 1.2"),
        (OUTSIDE, "xliff", "the XLIFF file declares XML entities"),
        ("no xml", "xliff", "the XLIFF file is not well-formed XML"),
    ],
)
def test_what_is_no_memory_is_refused(data: str | bytes, kind: MemoryFormat, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(data, kind)


def test_the_wrong_languages_are_named() -> None:
    with pytest.raises(InputError, match="no unit from en to es: its languages are de, en, fr; name two"):
        read(TMX, languages=("en", "es"))
    with pytest.raises(InputError, match="a table does not name its languages"):
        read("a\tb", "tsv", None)
    unnamed = TMX.replace('xml:lang="', 'x="').replace('lang="en"', "").replace('srclang="en-US"', "")
    with pytest.raises(InputError, match="the file does not name its languages"):
        read(unnamed, languages=None)


def test_texts_too_long_or_illegal_are_left_out_and_counted() -> None:
    long = "x" * (MOST_CHARACTERS + 1)

    units, reading = read(f"{long}\ta\na\x01\tb\nc\td", "tsv")

    assert [unit.source for unit in units] == ["c"]
    assert reading.n_unfit == 2
    written = b"".join(write_units([TranslationUnit(long, "a"), TranslationUnit("b", "c")], "tmx", EN_FR))
    units, reading = read(written)
    assert ([unit.source for unit in units], reading.n_unfit) == (["b"], 1)


def test_xliff_gives_what_people_have_accepted() -> None:
    version_1 = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
    <file source-language="en" target-language="fr-FR" original="x" datatype="x"><body>
    <trans-unit id="1">
     <source>Save <g id="1">all</g><ph id="2">&lt;br/&gt;</ph></source>
     <target state="translated">Tout <g id="1">enregistrer</g></target></trans-unit>
    <trans-unit id="2"><source>a</source>
     <target state="needs-review-translation">b</target></trans-unit>
    <trans-unit id="3"><source>a</source><target/></trans-unit>
    <trans-unit id="4"><source>a</source></trans-unit>
    <trans-unit id="5" approved="no"><source>a</source><target>b</target></trans-unit>
    </body></file></xliff>"""

    units, reading = read(version_1, "xliff", None)

    assert [(unit.source, unit.target) for unit in units] == [("Save all", "Tout enregistrer")]
    assert reading.languages == ("en", "fr")


def test_a_file_is_known_by_its_suffix() -> None:
    assert [format_of(name) for name in ("a.TMX", "b.xlf", "c.xliff", "d.tsv")] == [
        "tmx",
        "xliff",
        "xliff",
        "tsv",
    ]
    with pytest.raises(InputError, match=r"\.docx is not known"):
        format_of("a.docx")


def test_an_endless_unit_takes_no_memory() -> None:
    head = b'<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>'

    class Endless:
        """Text without end, as far as anybody reads."""

        pieces = itertools.chain([head], itertools.repeat(b"a" * CHUNK_BYTES, 200))

        def read(self, _: int) -> bytes:
            return next(self.pieces, b"")

    with pytest.raises(InputError, match="not well-formed"):
        list(read_units(cast(BinaryIO, Endless()), "tmx", Reading(EN_FR)))
