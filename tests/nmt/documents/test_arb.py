"""arb: messages and their ICU branches; opened again with the standard library's json."""

from __future__ import annotations

import json
import random

import pytest

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import same, texts, translated
from tests.nmt.documents.generated import message, phrase


def bundle(seed: int) -> str:
    chance = random.Random(seed)
    data: dict[str, object] = {"@@locale": "en", "@@x-note": phrase(chance)}
    for number in range(8):
        data[f"key{number}"] = message(chance)
        if chance.random() < 0.5:
            data[f"@key{number}"] = {
                "description": phrase(chance),
                "placeholders": {"n": {"example": "a word"}},
            }
    return json.dumps(data, ensure_ascii=chance.random() < 0.5, indent=chance.choice([2, 4, None]))


@pytest.mark.parametrize("seed", range(20))
def test_arb_comes_back_as_it_was(seed: int) -> None:
    source = bundle(seed)
    before = json.loads(source)

    assert translated("a.arb", source, same).decode() == source.replace('"en"', '"fr"')
    after = json.loads(translated("a.arb", source))
    assert list(after) == list(before)
    assert after["@@locale"] == "fr"
    for key, value in before.items():
        if key.startswith("key"):
            assert after[key].casefold() == value.casefold()
            assert after[key] != value
        elif key != "@@locale":
            assert after[key] == value


def test_branches_are_texts_and_metadata_is_none() -> None:
    source = '{"a": "{n, plural, one {a file} other {{n} files}}", "@a": {"description": "Words"}, "b": [1]}'

    assert texts("a.arb", source) == ["a file", "{n} files"]
    assert json.loads(translated("a.arb", source))["a"] == "{n, plural, one {A FILE} other {{N} FILES}}"


def test_what_is_no_bundle_is_refused() -> None:
    with pytest.raises(InputError, match="no arb: it is JSON, but no object"):
        read_document("a.arb", b'["a"]')
    with pytest.raises(InputError, match="not JSON"):
        read_document("a.arb", b'{"a"')
