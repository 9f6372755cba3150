"""XLIFF 1.2 and 2.0: open segments get a target with the inline elements of their source."""

from __future__ import annotations

from lxml import etree
from translate.storage import xliff, xliff2

from nmt.documents import read_document
from tests.nmt.documents.doubles import same, texts, translated

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
