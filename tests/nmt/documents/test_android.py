"""strings.xml of Android; opened again with translate-toolkit, which reads its escapes too."""

from __future__ import annotations

import random
import re
from xml.sax.saxutils import escape

import pytest
from translate.storage.aresource import AndroidResourceFile

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import same, texts, translated
from tests.nmt.documents.generated import message, phrase, sentence

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!-- The app -->\n'
XLIFF = 'xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2"'


def written(text: str) -> str:
    """As a careful author writes it."""
    return escape(text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("'", "\\'"))


def string(chance: random.Random) -> str:
    text = written(sentence(chance))
    words = text.split()
    return chance.choice(
        [
            text,
            f"It\\'s {text}",
            f"{text}\\n\\n{text}",
            f'"  {text}  it\'s  "',
            f"\n        {text}\n        {phrase(chance)}\n    ",
            f"<b>{phrase(chance)}</b> {text} <a href=\"https://x.y/?a=1&amp;b='2'\">{phrase(chance)}</a>",
            f'{words[0]} <xliff:g id="n" example="12">%1$D</xliff:g> {" ".join(words[1:])}',
            f"&lt;b>{phrase(chance)}&lt;/b> &amp; {text}",
            f"<![CDATA[<b>{phrase(chance)}</b> it\\'s {phrase(chance)}]]>",
            f"\\u0020{text}\\u0020\\u00A0{phrase(chance)}",
            f"\\@{phrase(chance)}",
            f'\\"{phrase(chance)}\\" &quot;{phrase(chance)}&quot;',
            written(message(chance)).replace("  ", " "),
        ]
    )


def resources(seed: int) -> str:
    chance = random.Random(seed)
    entries = [f'<string name="s{number}">{string(chance)}</string>' for number in range(10)]
    entries += [
        f'<string name="no" translatable="false">{phrase(chance)}</string>',
        '<string name="ref">@string/s1</string>',
        "<string-array name='a'>\n        <item>"
        + string(chance)
        + "</item>\n        <item>@string/s2</item>"
        "\n    </string-array>",
        f'<plurals name="p">\n        <item quantity="one">%d {phrase(chance)}</item>\n        '
        f'<item quantity="other">%d {phrase(chance)}</item>\n    </plurals>',
        '<color name="c">#fff</color>',
        f"<!-- {phrase(chance)} -->",
        '<string name="empty"/>',
    ]
    chance.shuffle(entries)
    return f"{HEAD}<resources {XLIFF}>\n" + "".join(f"    {entry}\n" for entry in entries) + "</resources>\n"


def shown(data: bytes) -> dict[str, str]:
    """What the app shows."""
    return {
        unit.getid(): " ".join(map(str, getattr(unit.target, "strings", [unit.target])))
        for unit in AndroidResourceFile.parsestring(data).units
        if unit.getid()
    }


@pytest.mark.parametrize("seed", range(20))
def test_strings_xml_comes_back_as_it_was(seed: int) -> None:
    source = resources(seed)
    result = translated("strings.xml", source)

    assert translated("strings.xml", source, same).decode() == source
    before, after = shown(source.encode()), shown(result)
    assert list(before) == list(after)
    differing = {
        name
        for name in before
        if " ".join(before[name].casefold().split()) != " ".join(after[name].casefold().split())
    }
    assert differing == set()
    assert before["no"] == after["no"]
    assert sum(before[name] != after[name] for name in before) >= 10


ESCAPED = r"""<resources>
  <string name="a">Don\'t open\n%s</string>
  <string name="b">"  wide  "</string>
  <string name="c">\u0020edge</string>
  <string name="d">Click <b>here</b> now</string>
  <string name="e"><![CDATA[<i>Hi</i> you]]></string>
  <string name="f">&lt;i>Hi&lt;/i> &amp; you</string>
  <string name="g"> red
     car </string>
</resources>"""


def test_each_way_to_write_a_string_is_kept() -> None:
    assert texts("strings.xml", ESCAPED) == [
        "Don't open\n%s",
        *("  wide  ", " edge", "Click here now", "Hi you", "Hi & you", "red car"),
    ]
    result = translated("strings.xml", ESCAPED, lambda text: f"{text} l'\"").decode()

    assert re.findall(r'"\w">(.*?)</string>', result, re.DOTALL) == [
        r"Don\'t open\n%s l\'\"",
        r'''"  wide   l\'\""''',
        r"\u0020edge l\'\"",
        r"Click <b>here</b> now l\'\"",
        r"<![CDATA[<i>Hi</i> you l\'\"]]>",
        r"&lt;i&gt;Hi&lt;/i&gt; &amp; you l\'\"",
        r" red car l\'\" ",
    ]


def test_references_and_what_is_not_translatable_stay() -> None:
    source = (
        f'<resources {XLIFF}><string name="a" translatable="false">Words</string><string name="b">'
        '@android:string/ok</string><string name="c">?attr/title</string><array name="d"><item>Words</item>'
        '</array><string-array name="e" translatable="false"><item>Words</item></string-array>'
        '<string name="f">See <xliff:g id="x">Maps</xliff:g> here</string></resources>'
    )

    assert texts("strings.xml", source) == ["See Maps here"]
    [extract] = read_document("strings.xml", source.encode()).extracts
    assert [extract.text[span.start : span.end] for span in extract.keep] == ["Maps"]


def test_other_xml_is_refused_by_its_root_and_entities_are() -> None:
    with pytest.raises(InputError, match=r"root element is project.*--markup xml"):
        read_document("pom.xml", b"<project/>")
    with pytest.raises(InputError, match="declares XML entities"):
        read_document("a.xml", b'<!DOCTYPE resources [<!ENTITY a "b">]><resources/>')
    assert read_document("a.xml", b"<resources/>").notices[0].startswith("nothing was translated")
