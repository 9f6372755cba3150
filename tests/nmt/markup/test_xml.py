"""XML: the outline of a document, what is copied, and errors with their place."""

from __future__ import annotations

import pytest

from nmt.errors import InputError
from nmt.markup import extract_xml
from nmt.markup.xml import MAX_DEPTH
from tests.nmt.markup.stub import same, shouted


def texts(xml: str, **options: object) -> list[str]:
    return [extract.text for extract in extract_xml(xml, **options).extracts]


def shout(xml: str, **options: object) -> str:
    extracted = extract_xml(xml, **options)
    return extracted.restore([shouted(extract) for extract in extracted.extracts])


DOCUMENT = """<?xml version="1.0" encoding="latin-1"?>
<!DOCTYPE document [<!ENTITY firm "Foo <b/>">]>
<document>
  <title>One</title>
  <par>Two <i>three</i>
    four. <x id="1"/> five &firm; caf&eacute; &#233;</par>
  <!-- six -->
  <empty/><?seven eight?>
</document>
"""


def test_text_beside_an_element_makes_it_part_of_the_sentence() -> None:
    assert texts(DOCUMENT) == ["One", "Two three four. five &firm; café é"]


def test_a_fragment_needs_no_root() -> None:
    assert texts("Press <i>Continue</i> now") == ["Press Continue now"]
    assert texts("<par>One</par><par>two</par>") == ["One", "two"]


def test_all_but_the_words_stays_as_it_is() -> None:
    extracted = extract_xml(DOCUMENT)

    assert extracted.restore([same(extract) for extract in extracted.extracts]) == DOCUMENT.replace(
        "</i>\n    four", "</i> four"
    ).replace("&#233;", "&eacute;")


def test_entities_of_the_document_are_copied_not_expanded() -> None:
    (_, extract) = extract_xml(DOCUMENT).extracts

    assert [extract.text[span.start : span.end] for span in extract.keep] == ["&firm;"]


def test_an_external_entity_is_not_read() -> None:
    xml = '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><a>one &e;</a>'

    assert shout(xml) == xml.replace("one", "ONE")


def test_entities_that_multiply_are_not_expanded() -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    xml = f'<!DOCTYPE a [<!ENTITY e0 "x">{levels}]><a>one &e8;</a>'

    assert shout(xml) == xml.replace("one", "ONE")


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ('<a>one <b translate="no">two</b></a>', '<a>ONE <b translate="no">two</b></a>'),
        ('<a>one <b its:translate="no">two</b></a>', '<a>ONE <b its:translate="no">two</b></a>'),
        (
            '<r><s translatable="false">one</s><s>two</s></r>',
            '<r><s translatable="false">one</s><s>TWO</s></r>',
        ),
        ("<a><![CDATA[one & two]]></a>", "<a><![CDATA[ONE & TWO]]></a>"),
        ("<a><![CDATA[<p>one <b>two</b></p>]]></a>", "<a><![CDATA[<p>ONE <b>TWO</b></p>]]></a>"),
        ("<a><![CDATA[]]></a>", "<a><![CDATA[]]></a>"),
        ('<a xml:space="preserve"> one\n  two </a>', '<a xml:space="preserve"> ONE\n  TWO </a>'),
        ("<a>one &lt; two ]]&gt; three</a>", "<a>ONE &lt; TWO ]]&gt; THREE</a>"),
    ],
)
def test_what_is_translated(xml: str, expected: str) -> None:
    assert shout(xml) == expected


def test_options_of_tags() -> None:
    xml = "<d><par>The firm said it had</par><par> begun <b>to <i>act</i></b>.</par></d>"

    assert texts(xml) == ["The firm said it had", "begun to act."]
    assert texts(xml, non_splitting_tags=("par",)) == ["The firm said it had begun to act."]
    assert texts(xml, splitting_tags=("i",)) == ["The firm said it had", "begun to", "act"]
    assert texts(xml, outline_detection=False) == ["The firm said it had begun to act."]
    assert texts(xml, outline_detection=False, splitting_tags=("par",)) == texts(xml)
    assert texts(xml, ignore_tags=("par",)) == []


def test_attributes_are_translated_when_they_are_named() -> None:
    xml = '<a label="one &lt; two">three</a>'

    assert texts(xml) == ["three"]
    assert shout(xml, attributes=("label",)) == '<a label="ONE &lt; TWO">THREE</a>'


def test_nesting_has_a_limit() -> None:
    assert len(texts("<b>one " * MAX_DEPTH + "</b>" * MAX_DEPTH)) == 1
    with pytest.raises(InputError, match="nested deeper than 200, at character 1401; split it"):
        texts("<b>one " * (MAX_DEPTH + 1) + "</b>" * (MAX_DEPTH + 1))


@pytest.mark.parametrize(
    ("xml", "place"),
    [
        ("one <b>", "line 1, column 5: the element that begins there has no end tag"),
        ("<a>\n<b>é😀one</a>", "line 2, column 11: mismatched tag"),
        ("one </b>", "line 1, column 7: mismatched tag"),
        ("one & two", "line 1, column 6: not well-formed"),
        ('<?xml version="1.0"?>\n<a>', "line 2, column 1: the element"),
        ("<a b=1/>", "line 1, column 6: not well-formed"),
        ("one\0", "line 1, column 4: not well-formed"),
        ("</r><r>", "line 1, column 5"),
    ],
)
def test_an_error_names_line_and_column(xml: str, place: str) -> None:
    with pytest.raises(InputError, match=place) as caught:
        extract_xml(xml)

    assert "one" not in str(caught.value)


MESSAGES = [
    ('{n, plural, =0 {just now} other {<x id="1"/> minutes ago}}', ["just now", "minutes ago"]),
    ("{n, plural, one {<b>#</b> file} other {<b>#</b> files}}", ["# file", "# files"]),
    ("<p>{g, select, male {He <i>runs</i>} other {They run}}</p>", ["He runs", "They run"]),
    ("You have {n, plural, one {a <x/>dog} other {dogs}} here", ["You have", "a dog", "dogs", "here"]),
    ("{g, select, male {{n, plural, one {a <x/>} other {<y/> b}}} other {c}}", ["a", "b", "c"]),
    ("<r><a>{n, plural, other {dogs &amp; cats}}</a><b>end</b></r>", ["dogs & cats", "end"]),
]


@pytest.mark.parametrize(("xml", "wanted"), MESSAGES)
def test_elements_stay_in_the_branches_of_an_icu_message(xml: str, wanted: list[str]) -> None:
    assert texts(xml) == wanted
    shown = shout(xml)
    assert shown != xml
    assert shown.lower() == xml.lower()
    for syntax in ("{n, plural, ", "{g, select, male {", "other {"):
        assert shown.count(syntax) == xml.count(syntax)


@pytest.mark.parametrize(
    "xml",
    [
        "Hello <x id='1'/>, welcome!",
        "Hello <x id='1'/> <y/>, welcome!",
        "You have <x/> new <y/> messages<z/>.",
        "<u><a/>Bold text<z/> and</u> <i>more</i>",
        "See<x/> this and <y/>that <z/>",
        "<a>One</a> <b>two</b> <c/> three",
    ],
)
def test_white_space_beside_empty_elements_stays(xml: str) -> None:
    assert shout(xml) != xml
    assert shout(xml).lower() == xml.lower()
