"""Glossaries: their files, what is wrong with them, and where their entries match."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.errors import InputError
from nmt.spans import Span
from nmt.text.glossary import Glossary, Term, find_form, in_case_of

TSV = "\ufeff# comment\n\nnetwork\tréseau\tinflect\nhard drive\tdisque dur\nAcme Cloud\nUS\tÉtats-Unis\n"
TBX = """<?xml version="1.0" encoding="UTF-8"?>
<tbx xmlns="urn:iso:std:iso:30042:ed-2" type="TBX-Basic"><text><body>
<conceptEntry id="1"><langSec xml:lang="en-GB"><termSec><term>network</term></termSec></langSec>
<langSec xml:lang="fr"><termSec><term>filet</term>
<termNote type="administrativeStatus">deprecatedTerm</termNote></termSec>
<termSec><term>réseau</term></termSec></langSec></conceptEntry>
<conceptEntry id="2"><langSec xml:lang="en"><termSec><term>English</term></termSec></langSec></conceptEntry>
</body></text></tbx>""".encode()
TBX_2 = b"""<!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd"><martif type="TBX" xml:lang="en"><text><body>
<termEntry><langSet xml:lang="en"><tig><term>dog</term></tig></langSet><langSet xml:lang="fr"><ntig><termGrp>
<term>chien</term></termGrp></ntig></langSet></termEntry></body></text></martif>"""


def test_tsv_has_targets_marks_and_words_to_copy() -> None:
    assert Glossary.from_tsv(TSV).terms == (
        Term("network", "réseau", inflect=True),
        Term("hard drive", "disque dur"),
        Term("Acme Cloud", "Acme Cloud"),
        Term("US", "États-Unis"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\n\tx\n", "line 2: the source term is blank"),
        ("a\tb\tplural\n", "line 1: the third column may hold 'inflect'"),
        ("a\tb\t\tc\n", "line 1: 4 columns"),
        ("a\tb\n#\nA\tc\n", "line 3: the source term of glossary: line 1 with another target"),
        ("a\tb\nbridge;pont\n", "line 2: no tab in \"bridge;pont\"; expected SOURCE, a tab, TARGET.*of ';'"),
        ("bridge,pont\n", "line 1: no tab in .*a tab in the place of ','"),
        ("bridge    pont\n", "line 1: no tab in .*a tab in the place of spaces"),
        ("Paris, Texas\n", "the term twice with a tab between if it is to be copied as it is"),
        (f"a\t{'b' * 201}\n", "line 1: the target term has 201 characters; at most 200"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_the_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Glossary.from_tsv(text)


def test_other_separators_are_part_of_a_term_beside_a_tab() -> None:
    [term] = Glossary.from_tsv("Paris, Texas\tParis (Texas); ville").terms
    assert term == Term("Paris, Texas", "Paris (Texas); ville")


def test_tbx_of_both_versions_is_read_and_deprecated_terms_are_not() -> None:
    assert Glossary.from_tbx(TBX, source="en", target="fr").terms == (Term("network", "réseau"),)
    assert Glossary.from_tbx(TBX_2, source="en", target="fr").terms == (Term("dog", "chien"),)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<tbx>\n<a></tbx>", "glossary: line 2: not XML"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]><tbx>&a;</tbx>', "glossary: not XML that can be read"),
        (TBX_2.replace(b'"fr"', b'"de"'), "1 concepts, none of them with a term in both en and fr"),
    ],
)
def test_what_is_wrong_with_tbx_is_said(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Glossary.from_tbx(data, source="en", target="fr")


def test_a_file_is_read_by_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "g.tbx").write_bytes(TBX)
    (tmp_path / "g.tsv").write_text("dog\tchien\n", encoding="utf-8")
    (tmp_path / "bad.tsv").write_bytes(b"dog\tchien\ncaf\xe9\tcaf\xe9\n")
    assert Glossary.read(tmp_path / "g.tbx", source="en", target="fr").terms[0].target == "réseau"
    assert Glossary.read(tmp_path / "g.tsv", source="en", target="fr").terms[0].target == "chien"
    with pytest.raises(InputError, match="line 2: not UTF-8"):
        Glossary.read(tmp_path / "bad.tsv", source="en", target="fr")
    with pytest.raises(InputError, match="No such file"):
        Glossary.read(tmp_path / "none.tsv", source="en", target="fr")


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("The network is down.", ["network"]),
        ("Networks and a networked NETWORK", ["NETWORK"]),
        ("A hard  drive and a hard drive", ["hard  drive", "hard drive"]),
        ("hard-drive", []),
        ("Tell us about the US.", ["US"]),
        ("Hard disk", ["Hard disk"]),
        ("hard drive bay", ["hard drive bay"]),
    ],
)
def test_entries_match_whole_words_the_longest_first(text: str, matched: list[str]) -> None:
    more = [Term("hard disk", "disque"), Term("hard", "dur"), Term("hard drive bay", "baie")]
    glossary = Glossary.of([*Glossary.from_tsv(TSV).terms, *more])
    found = [text[match.span.start : match.span.end] for match in glossary.matches(text)]
    if "hard-drive" in text:
        assert found == ["hard"]
    else:
        assert found == matched


def test_the_case_of_the_source_is_taken_over() -> None:
    term = Term("network", "réseau")
    assert in_case_of("NETWORK", term) == "RÉSEAU"
    assert in_case_of("network", term) == "réseau"
    assert in_case_of("US", Term("US", "États-Unis")) == "États-Unis"


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("réseau", "Les réseaux sont là.", "réseaux"),
        ("réseau", "Un réseau et des réseaux", "réseau"),
        ("disque dur", "Des disques durs.", "disques durs"),
        ("chat", "Le chapeau", None),
        ("chat", "Les chats", "chats"),
        ("disque dur", "un disque souple", None),
    ],
)
def test_another_form_of_a_term_is_found(term: str, text: str, found: str | None) -> None:
    span = find_form(term, text)
    assert (None if span is None else text[span.start : span.end]) == found


def test_matches_are_spans_of_the_text() -> None:
    assert Glossary.of([Term("dog", "chien")]).matches("A dog, a DOG.")[1].span == Span(9, 12)
