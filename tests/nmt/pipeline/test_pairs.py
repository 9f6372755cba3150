"""Words between two literals stay there, told from texts that are given and from the models that ship."""

from __future__ import annotations

import re

import pytest

from nmt.options import TranslationOptions
from nmt.pipeline.pairs import is_around, pairs, without_article
from nmt.pipeline.prepare import Preparer
from nmt.pipeline.restore import _apart, _glued
from nmt.spans import Span
from nmt.text.edits import Edit, Rewriting
from nmt.translator import Translator

TEXT = "Lisez <1>le manuel</1> avant."


@pytest.fixture(scope="module")
def english() -> Translator:
    return Translator.load("general", device="cpu")


@pytest.fixture(scope="module")
def french() -> Translator:
    return Translator.load("general_fr_en", device="cpu")


def test_pairs_touch_the_words_between_them(english: Translator) -> None:
    preparer = Preparer(english.tokenizer)

    def found(text: str) -> list[str]:
        sentence = preparer.prepare(text, preparer.literals(text), (), TranslationOptions())
        return [text[pair.inner.start : pair.inner.end] for pair in pairs(text, sentence.copied)]

    assert found("Click %shere%s now.") == ["here"]
    assert found("Read **the manual** and <1>this</1>.") == ["the manual", "this"]
    assert found("Use %s and %s here.") == []
    assert found('[box id="1"] Read this [/box] now.') == ["Read this"]
    assert found("<b> one </i> and {% if x %} two {% endfor %}") == []


def test_a_pair_is_around_what_it_was_around() -> None:
    first, last = Span(6, 9), Span(18, 22)

    assert is_around(TEXT, first, last, "the manual", "Le manuel")
    assert not is_around(TEXT, first, last, "the manual", "Le guide")
    assert not is_around(TEXT, last, first, "the manual", "Le manuel")
    assert not is_around(TEXT, first, None, "the manual", "Le manuel")
    assert not is_around("<1>le manual</1>", Span(0, 3), Span(12, 16), "the manual", "le manuel")
    assert is_around("<1>ici</1>", Span(0, 3), Span(6, 10), "here", "là"), "one word for one word"
    assert not is_around("<1>ici</1>", Span(0, 3), Span(6, 10), "here", "là", is_known=True)


def test_an_article_is_taken_off_where_the_source_has_none() -> None:
    assert without_article("la politique", "policy", "fr") == "politique"
    assert without_article("la politique", "the policy", "fr") == "la politique"
    assert without_article("l'eau", "water", "fr") == "eau"
    assert without_article("der Hund", "dog", "de") == "der Hund"


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Read <1>the manual</1> first.", r"<1>[^<]*manuel</1>"),
        ("Read **the manual** before you begin.", r"\*\*[^*]*manuel\*\*"),
        (
            "Data <0>no change</0>. Please click <1>Force update</1>.",
            r"<0>[^<]+</0>.*<1>[^<]*(?:mise|mettre) à jour</1>",
        ),
        ('Click <a href="/x">here</a> to read <b>more</b>.', r'<a href="/x">ici</a>.*<b>plus</b>'),
        ("{% if user %}Hello{% endif %}", r"\{% if user %\}Bonjour\{% endif %\}"),
        ('[panel tag="a"] Hello [/panel]', r'^\[panel tag="a"\] Bonjour \[/panel\]$'),
        ("{% if a %} Welcome {% endif %}", r"^\{% if a %\} Bienvenue \{% endif %\}$"),
        ("I accept the %sterms and privacy policy%s.", r"les %s[^% ]+ et (?:la|le) [^%]+%s\.$"),
        ("Click [here](https://a.org/x) to continue.", r"\[ici\]\(https://a\.org/x\)"),
        ("Open the <1>settings</1> and the <2>help page</2>.", r"les <1>paramètres</1> et .*<2>[^<]+</2>"),
    ],
)
def test_english_pairs_survive(english: Translator, text: str, pattern: str) -> None:
    (translation,) = english.translate([text])

    assert re.search(pattern, translation.text), translation.text
    assert not translation.flags


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Cliquez <1>ici</1> pour lire la suite.", "<1>here</1>"),
        ("Lisez **le manuel** avant de commencer.", r"\*\*the manual\*\*"),
    ],
)
def test_french_pairs_survive(french: Translator, text: str, pattern: str) -> None:
    (translation,) = french.translate([text])

    assert re.search(pattern, translation.text), translation.text


def test_pairs_and_links_are_where_they_are_said_to_be(english: Translator) -> None:
    source = "I, Ruby Rivers, accept the %sterms of use%s at 9 am for {name}."
    (translation,) = english.translate([source], TranslationOptions(alignment="links"))

    copies = [
        (source[read.start : read.end], translation.text[written.start : written.end])
        for read, written in translation.kept
    ]
    assert [read for read, _ in copies] == ["Ruby Rivers", "%s", "%s", "9 am", "{name}"]
    assert [written for _, written in copies] == ["Ruby Rivers", "%s", "%s", "9 h", "{name}"]
    assert translation.source_tokens is not None
    assert translation.target_tokens is not None
    assert translation.links
    for tokens, text in ((translation.source_tokens, source), (translation.target_tokens, translation.text)):
        assert all(token.text == text[token.start : token.end] for token in tokens)


def test_what_only_the_lack_of_a_pair_makes_a_literal_is_none(english: Translator) -> None:
    source = "Add 50 %⟦0⟧x² to the soup."
    (translation,) = english.translate([source])

    assert [source[read.start : read.end] for read, _ in translation.kept] == ["⟦0⟧", "²"]
    assert "⟦0⟧x²" in translation.text


def test_of_two_placeholders_one_has_the_space_between() -> None:
    edits = _apart([Edit(Span(6, 10), "%s"), Edit(Span(3, 7), "%s")])

    assert Rewriting.of("to ⟦0⟧ ⟦1⟧ go", edits).new == "to %s%s go"


@pytest.mark.parametrize(
    ("source", "literal", "written", "place", "expected"),
    [
        ("Cliquez <1>ici", Span(8, 11), "Click ⟦0⟧ here", Span(6, 9), Span(6, 10)),
        ("ici</1> pour", Span(3, 7), "here ⟦0⟧ to", Span(5, 8), Span(4, 8)),
        ("Ouvrez {n} ms", Span(7, 10), "Open ⟦0⟧ ms", Span(5, 8), Span(5, 8)),
        ("(ici</1>)", Span(4, 8), "(here ⟦0⟧ )", Span(6, 9), Span(5, 9)),
    ],
)
def test_a_literal_touches_the_word_that_it_touched(
    source: str, literal: Span, written: str, place: Span, expected: Span
) -> None:
    assert _glued(source, literal, written, place) == expected
