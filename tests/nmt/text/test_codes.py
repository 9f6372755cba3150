"""Which language is meant by a code, and which write spaces."""

import pytest

from nmt.text.codes import nearest, writes_spaces


@pytest.mark.parametrize(
    ("asked", "known", "meant"),
    [
        ("en", ["fr", "en"], "en"),
        ("en-GB", ["fr", "en"], "en"),
        ("EN_us", ["fr", "en"], "en"),
        ("fra", ["fr"], "fr"),
        ("pt", ["pt-BR"], "pt-BR"),
        ("pt-PT", ["pt-BR", "pt-PT"], "pt-PT"),
        ("cmn", ["zh-Hans"], "zh-Hans"),
        ("zh-CN", ["zh-Hant", "zh-Hans"], "zh-Hans"),
        ("zh-TW", ["zh-Hant", "zh-Hans"], "zh-Hant"),
        ("gl", ["es", "pt"], None),
        ("de", [], None),
        ("", ["en"], None),
        ("e", ["en"], None),
        ("a text, no code", ["en"], None),
        ("auto", ["en"], None),
        ("x" * 1000, ["en"], None),
    ],
)
def test_the_code_that_is_meant(asked: str, known: list[str], meant: str | None):
    assert nearest(asked, known) == meant


def test_spaces():
    assert [writes_spaces(code) for code in ("en", "ko", "zh-Hans", "ja", "th")] == [
        True,
        True,
        False,
        False,
        False,
    ]
