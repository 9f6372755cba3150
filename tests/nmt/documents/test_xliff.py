"""XLIFF 1.2 and 2.0: open segments get a target with the inline elements of their source."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from lxml import etree
from translate.storage import xliff, xliff2

from nmt.documents import read_document
from nmt.errors import InputError
from nmt.spans import Span
from tests.nmt.documents.doubles import aligned, same, texts, translated

V1 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
 <file original="a" source-language="en" datatype="plaintext">
  <body>
   <trans-unit id="1">
    <source>The <g id="1">red car</g> has<x id="2"/> %s doors.</source>
    <note>a note</note>
   </trans-unit>
   <trans-unit id="2"><source>Done</source><target state="translated">Fini</target></trans-unit>
   <trans-unit id="3" translate="no"><source>Never</source></trans-unit>
   <trans-unit id="6" approved="yes"><source>Yes</source></trans-unit>
   <trans-unit id="4"><source>Again</source><target state="needs-translation">Again</target></trans-unit>
   <trans-unit id="5"><source>Call <mrk mtype="protected">Ann Lee</mrk> now</source><target/></trans-unit>
  </body>
 </file>
</xliff>
"""
V2 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="2.0" srcLang="en" xmlns="urn:oasis:names:tc:xliff:document:2.0">
 <file id="f"><unit id="1"><segment>
  <source>A <pc id="1">bold</pc> word<ph id="2"/>.</source>
 </segment><segment state="final"><source>Done</source><target>Fini</target></segment></unit></file>
</xliff>
"""


def test_open_segments_are_translated_with_their_elements() -> None:
    result = translated("a.xlf", V1)

    store = xliff.xlifffile.parsestring(result)
    assert store.gettargetlanguage() == "fr"
    assert [unit.target and str(unit.target) for unit in store.units] == [
        "THE RED CAR HAS %S DOORS.",
        "Fini",
        None,
        None,
        "AGAIN",
        "CALL ANN LEE NOW",
    ]
    target = etree.fromstring(result).find(".//{*}target")
    assert target.get("state") == "needs-review-translation"
    written = etree.tostring(target, encoding="unicode", with_tail=False)
    assert written.endswith('>THE <g id="1">RED CAR</g> HAS<x id="2"/> %S DOORS.</target>')


def test_everything_but_targets_stays_as_it_was() -> None:
    result = etree.fromstring(translated("a.xlf", V1, same))
    for target in result.iter("{*}target"):
        target.getparent().remove(target)
    before = etree.fromstring(V1.encode())
    for target in before.iter("{*}target"):
        target.getparent().remove(target)
    result[0].attrib.pop("target-language")

    assert etree.tostring(result, method="c14n").split() == etree.tostring(before, method="c14n").split()


def test_a_new_target_stands_on_a_line_of_its_own() -> None:
    lines = translated("a.xlf", V1).decode().splitlines()

    assert [line for line in lines if line.startswith("    <target")]
    assert len(lines) == len(V1.splitlines()) + 1


def test_protected_text_is_a_kept_span() -> None:
    extract = read_document("a.xlf", V1.encode()).extracts[-1]

    assert [extract.text[span.start : span.end] for span in extract.keep] == ["Ann Lee"]


def test_version_2_segments_are_translated() -> None:
    assert texts("a.xliff", V2) == ["A bold word."]
    result = translated("a.xliff", V2)

    units = xliff2.Xliff2File.parsestring(result).units
    assert [str(unit.target) for unit in units] == ["A BOLD WORD.", "Fini"]
    root = etree.fromstring(result)
    assert root.get("trgLang") == "fr"
    segment = root.find(".//{*}segment")
    assert segment.get("state") == "translated"
    written = etree.tostring(segment.find("{*}target"), encoding="unicode", with_tail=False)
    assert written.endswith('>A <pc id="1">BOLD</pc> WORD<ph id="2"/>.</target>')


@pytest.mark.parametrize(
    "source",
    [
        'Hello <x id="1"/>, welcome!',
        'Hello <x id="1"/> <x id="2"/>, welcome!',
        'You have <x id="1"/> new <x id="2"/> messages<x id="3"/>.',
        'See<x id="1"/> this and <x id="2"/>that',
        'Click <g id="1">here</g> to <g id="2">log in</g>.',
        '<g id="1">A</g> <g id="2">b c</g>  d',
        '<bpt id="1"/>Warning<ept id="1"/>: do <bpt id="2"/>not<ept id="2"/> open.',
        'Line one<x id="LINE_BREAK" ctype="lb"/>Line two',
        "  Two  spaces  ",
        'Thanks <g id="1">@<g id="2">ann</g></g>, and all.',
        'Thanks <g id="1"><g id="2">@</g><g id="3">Ann Lee</g></g> for it.',
        'In <g id="1"><g id="2">#</g>dogs</g> or <g id="3">https://<g id="4">a.example</g>/b</g>.',
    ],
)
@pytest.mark.parametrize("version", [1, 2])
def test_white_space_beside_elements_stays(source: str, version: int) -> None:
    if version == 1:
        data = V1.replace('The <g id="1">red car</g> has<x id="2"/> %s doors.', source)
        data = data.replace("<source>", '<source xml:space="preserve">')
    else:
        for old, new in (
            ("<x ", "<ph "),
            ("<g ", "<pc "),
            ("</g>", "</pc>"),
            ("<bpt ", "<sc "),
            ("<ept ", "<ec "),
        ):
            source = source.replace(old, new)
        source = source.replace('ctype="lb"', 'subType="xlf:lb"')
        data = V2.replace('A <pc id="1">bold</pc> word<ph id="2"/>.', source)
        data = data.replace("<source>", '<source xml:space="preserve">')

    assert f">{source}</target>" in translated("a.xlf", data, same).decode()
    shouted = translated("a.xlf", data).decode()
    assert f">{source.lower()}</target>" in shouted.lower()
    assert f">{source}</target>" not in shouted


def test_a_mention_is_one_kept_span() -> None:
    data = V1.replace('<g id="1">red car</g>', '<g id="1">@<g id="2">ann</g></g>')
    extract = read_document("a.xlf", data.encode()).extracts[0]

    assert [extract.text[span.start : span.end] for span in extract.keep] == ["@ann"]


def test_all_but_targets_and_languages_stays_byte_for_byte() -> None:
    source = "\ufeff" + V1.replace("\n", "\r\n").replace('encoding="UTF-8"', "encoding='UTF-8'")
    result = translated("a.xlf", source, same).decode()

    target = (
        '<target state="needs-review-translation" state-qualifier="mt-suggestion">The <g id="1">red car</g> '
        'has<x id="2"/> %s doors.</target>'
    )
    assert target in result
    without = result.replace(f"\r\n    {target}", "").replace(' target-language="fr"', "")
    for text in ("Again", 'Call <mrk mtype="protected">Ann Lee</mrk> now'):
        new = f'<target state="needs-review-translation" state-qualifier="mt-suggestion">{text}</target>'
        old = '<target state="needs-translation">Again</target>' if text == "Again" else "<target/>"
        assert new in without
        without = without.replace(new, old)
    assert without == source


@pytest.mark.parametrize(
    ("target", "n_texts"),
    [
        ("<target>Red car</target>", 1),
        ('<target state="new">Red car</target>', 1),
        ('<target state="translated">Red car</target>', 0),
        ("<target>Voiture</target>", 0),
        ("<target/>", 1),
        ("", 1),
    ],
)
def test_a_target_that_repeats_its_source_counts_as_none(target: str, n_texts: int) -> None:
    document = read_document("a.xlf", _unit(f"<source>Red car</source>{target}"))

    assert len(document.extracts) == n_texts
    said = "nothing was translated: all 1 texts of the document have a translation already"
    assert document.notices == (() if n_texts else (said,))


def _unit(content: str, *, version: str = "1.2", language: str = "en") -> bytes:
    return (
        f'<xliff version="{version}" xmlns="urn:oasis:names:tc:xliff:document:{version}"><file original="a" '
        f'source-language="{language}"><body><trans-unit id="1">{content}</trans-unit></body></file></xliff>'
    ).encode()


def test_a_document_of_another_language_says_so() -> None:
    document = read_document("a.xlf", _unit("<source>Rouge</source>", language="fr-FR"), source="en")

    assert document.notices == ("the document says that its source is in 'fr-FR'; it was translated as 'en'",)


@pytest.mark.parametrize(
    ("version", "named"), [("1.3", "XLIFF 1.3"), ("1.0", "XLIFF 1.0"), ("", "does not name")]
)
def test_a_version_that_is_not_read_is_named_with_those_that_are(version: str, named: str) -> None:
    with pytest.raises(InputError, match=f"{named}.*1.1, 1.2, 2.0 and 2.1") as caught:
        read_document("a.xlf", _unit("<source>Red</source>", version=version))

    assert "convert it" in str(caught.value)


def test_xliff_1_1_is_read_as_1_2_and_stays_1_1() -> None:
    source = V1.replace("1.2", "1.1")
    assert source != V1

    assert texts("a.xlf", source) == texts("a.xlf", V1)
    assert translated("a.xlf", source) == translated("a.xlf", V1).replace(b"1.2", b"1.1")


def _target_of(source: str, target: str, links: list[tuple[int, int]]) -> str:
    """Content of the target of a segment, as written, whose text is translated as ``target``."""
    document = read_document("a.xlf", _unit(f"<source>{source}</source>"))
    [extract] = document.extracts
    written = document.restore([aligned(extract.text, target, links)]).decode()
    return re.sub(r"<target[^>]*>(.*)</target>", r"\1", re.search(r"<target.*</target>", written).group())


def test_a_pair_goes_with_its_words_and_two_pairs_are_not_mixed() -> None:
    bold = '<bpt id="1">&lt;b&gt;</bpt>{}<ept id="1">&lt;/b&gt;</ept>'
    link = '<bx id="2"/>{}<ex id="3" rid="2"/>'
    source = f"A {bold.format('red')} {link.format('car')}."
    expected = f"Une {link.format('voiture')} {bold.format('rouge')}."
    assert _target_of(source, "Une voiture rouge.", [(0, 0), (1, 2), (2, 1), (3, 3)]) == expected


def test_a_pair_in_a_pair_and_what_is_in_it_stay_there() -> None:
    source = (
        'See <bpt id="1"/>the <bpt id="2"/>red<ept id="2"/> car<ph id="3"/><ept id="1"/> '
        '<it id="4" pos="open"/>now'
    )
    links = [(0, 1), (1, 2), (2, 4), (3, 3), (4, 0)]
    assert _target_of(source, "Maintenant voir la voiture rouge", links) == (
        '<it id="4" pos="open"/>Maintenant voir <bpt id="1"/>la voiture<ph id="3"/> '
        '<bpt id="2"/>rouge<ept id="2"/><ept id="1"/>'
    )


def test_a_pair_without_text_is_one_thing() -> None:
    source = 'Red <bpt id="1"/><ph id="2"/><ept id="1"/> car'
    assert (
        _target_of(source, "Voiture rouge", [(0, 1), (1, 0)]).count('<bpt id="1"/><ph id="2"/><ept id="1"/>')
        == 1
    )


@pytest.mark.parametrize(
    "mention",
    [
        '<g id="1">@<bpt id="2">&lt;b&gt;</bpt>ann<ept id="2">&lt;/b&gt;</ept></g>',
        '<bpt id="1"/>@<bpt id="2"/>ann<ept id="2"/><ept id="1"/>',
        '@<bpt id="1"/>ann<ept id="1"/>',
        '<bpt id="1"/>@<ept id="1"/><bpt id="2"/>ann<ept id="2"/>',
    ],
)
def test_pairs_in_a_mention_stay_in_order(mention: str) -> None:
    document = read_document("a.xlf", _unit(f"<source>Thanks {mention}, and all.</source>"))
    [extract] = document.extracts
    translation = aligned(extract.text, "Et merci à @ann.", [(0, 1), (4, 0)])
    start, end = extract.text.index("@ann"), translation.text.index("@ann")
    kept = ((Span(start, start + 4), Span(end, end + 4)),)

    written = document.restore([replace(translation, kept=kept)]).decode()
    assert f"Et merci à {mention}." in written


NAMES = ["Ann", "red", "old", "car", "house", "bob", "7"]


def _content(chance: random.Random, depth: int = 0) -> str:
    """Random inline content; each element has an id of its own."""
    parts: list[str] = []
    for _ in range(chance.randint(1, 4)):
        parts.append(chance.choice(NAMES) + chance.choice(["", " ", " "]))
        number = chance.randrange(10**9)
        inner = _content(chance, depth + 1) if depth < 2 else "x"
        parts.append(
            chance.choice(
                [
                    f'<bpt id="{number}"/>{inner}<ept id="{number}"/>',
                    f'<bx id="{number}"/>{inner}<ex id="{number}"/>',
                    f'<g id="{number}">{inner}</g>',
                    f'<ph id="{number}"/>',
                    f'<it id="{number}" pos="open"/>',
                    f'<bpt id="{number}"/><ept id="{number}"/>',
                    f'<bx id="{number}"/>',
                    f'<ex id="{number}"/>',
                ]
            )
        )
        parts.append(chance.choice(["", " ", ", "]))
    return "".join(parts)


@pytest.mark.parametrize("seed", range(150))
def test_no_element_and_no_word_is_lost_whatever_the_order_of_the_translation(seed: int) -> None:
    chance = random.Random(seed)
    source = f"We {_content(chance)} see"
    document = read_document("a.xlf", _unit(f"<source>{source}</source>"))
    [extract] = document.extracts
    words = extract.text.split()
    chance.shuffle(words)
    n_words = min(len(words), 6)
    links = [(chance.randrange(n_words), chance.randrange(n_words)) for _ in range(n_words)]
    translation = aligned(extract.text, " ".join(words), links)
    result = etree.fromstring(document.restore([translation])).find(".//{*}target")

    before, after = (
        [(etree.QName(element).localname, element.get("id")) for element in root.iter()][1:]
        for root in (etree.fromstring(_unit(f"<source>{source}</source>")).find(".//{*}source"), result)
    )
    assert sorted(after) == sorted(before)
    assert "".join("".join(result.itertext()).split()) == "".join(words)
    halves = [id_ for name, id_ in after if name in {"bpt", "bx", "ept", "ex"}]
    opened: list[str] = []
    for name, id_ in after:
        if halves.count(id_) == 2 and name in {"bpt", "bx"}:
            opened.append(id_)
        elif halves.count(id_) == 2 and name in {"ept", "ex"}:
            assert opened.pop() == id_
