"""resx of .NET; opened again with translate-toolkit."""

from __future__ import annotations

import random
from xml.sax.saxutils import escape

import pytest
from translate.storage.resx import RESXFile

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import same, texts, translated
from tests.nmt.documents.generated import message, phrase

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<root>
  <!-- The schema -->
  <resheader name="resmimetype"><value>text/microsoft-resx</value></resheader>
"""


def resx(seed: int) -> str:
    chance = random.Random(seed)
    entries = []
    for number in range(10):
        comment = f"\n    <comment>{phrase(chance)}</comment>" if chance.random() < 0.4 else ""
        value = f"<value>{escape(message(chance))}</value>"
        entries.append(f'  <data name="s{number}" xml:space="preserve">\n    {value}{comment}\n  </data>\n')
    entries += [
        '  <data name="size" type="System.Drawing.Size, System.Drawing"><value>Some, words</value></data>\n',
        '  <data name="icon" mimetype="application/x-bin"><value>Words</value></data>\n',
        '  <data name="&gt;&gt;b.Name" xml:space="preserve"><value>button</value></data>\n',
        '  <data name="l" xml:space="preserve"><value>Brand</value><comment>{Locked}</comment></data>\n',
        '  <data name="e" xml:space="preserve"><value /></data>\n',
    ]
    chance.shuffle(entries)
    return ("\ufeff" if seed % 2 else "") + HEAD + "".join(entries) + "</root>"


def shown(data: bytes) -> dict[str, str]:
    return {unit.getid(): unit.target for unit in RESXFile.parsestring(data).units}


@pytest.mark.parametrize("seed", range(20))
def test_resx_comes_back_as_it_was(seed: int) -> None:
    source = resx(seed)

    assert translated("a.resx", source, same).decode() == source
    before, after = shown(source.encode()), shown(translated("a.resx", source))
    assert list(before) == list(after)
    for name, text in before.items():
        if name.startswith("s") and name != "size":
            assert after[name].casefold() == text.casefold()
            assert after[name] != text
        else:
            assert after[name] == text
    assert len(before) >= 14


def test_only_strings_are_texts() -> None:
    assert len(texts("a.resx", HEAD + '<data name="a"><value>Red &amp; blue</value></data></root>')) == 1
    result = translated("a.resw", HEAD + '<data name="a"><value>Red &amp; b &lt; c</value></data></root>')
    assert b"<value>RED &amp; B &lt; C</value>" in result


def test_another_root_is_refused() -> None:
    with pytest.raises(InputError, match="no resx: its root element is TS"):
        read_document("a.resx", b"<TS/>")
