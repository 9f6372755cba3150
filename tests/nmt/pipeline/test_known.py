"""The lexicon speaks where the model is unsure, and says so; else the model's translation stands."""

from __future__ import annotations

import pytest

from nmt.options import TranslationOptions
from nmt.pipeline.known import UNSURE, known_translation
from nmt.pipeline.prepare import PreparedSentence, Preparer
from nmt.pipeline.quality import copy_of
from nmt.pipeline.result import Candidate
from nmt.text.glossary import Glossary, Term
from nmt.translator import Translator


@pytest.fixture(scope="module")
def english() -> Translator:
    return Translator.load("general", device="cpu")


def sentence(
    translator: Translator, text: str, options: TranslationOptions | None = None
) -> PreparedSentence:
    preparer = Preparer(translator.tokenizer)
    return preparer.prepare(text, preparer.literals(text), (), options or TranslationOptions())


def said(text: str) -> Candidate:
    return Candidate(text, (), -1.0, -1.0, finished=True)


def test_an_unsure_model_gives_way(english: Translator) -> None:
    known = known_translation(sentence(english, "Dog"), said("Travaille"), 0.3, english.tokenizer)

    assert known is not None
    assert known.text == "Chien"
    assert [piece.id for piece in known.pieces] == english.tokenizer.encode("Chien")
    assert not known.copied


@pytest.mark.parametrize(
    ("text", "best", "confidence"),
    [
        ("Dog", "Travaille", UNSURE),
        ("Dog", "Travaille", None),
        ("Dog", "chien", 0.1),
        ("A text of many more words than that", "Un texte", 0.1),
        ("I love you.", "Je vous adore.", 0.86),
    ],
)
def test_the_model_stands(english: Translator, text: str, best: str, confidence: float | None) -> None:
    assert known_translation(sentence(english, text), said(best), confidence, english.tokenizer) is None


def test_a_copy_gives_way(english: Translator) -> None:
    known = known_translation(sentence(english, "octopus"), copy_of("octopus"), 0.0, english.tokenizer)
    assert known is not None
    assert known.text == "pieuvre"


def test_terms_and_forms_of_address_are_the_models(english: Translator) -> None:
    glossary = Glossary.of([Term("dog", "toutou")])
    with_term = sentence(english, "Dog", TranslationOptions(glossary=glossary))
    assert known_translation(with_term, said("Travaille"), 0.1, english.tokenizer) is None
    informal = sentence(english, "Sit down.", TranslationOptions(formality="informal"))
    assert known_translation(informal, said("Pose"), 0.1, english.tokenizer) is None


def test_it_is_told_in_the_translation(english: Translator) -> None:
    found = english.translate(["Storks", "octopus", "The dog sleeps."], TranslationOptions(alignment="links"))

    assert [one.text for one in found[:2]] == ["Cigognes", "pieuvre"]
    for translation in found[:2]:
        assert [flag.kind for flag in translation.flags] == ["lexicon"]
        assert translation.confidence == 1.0
        assert translation.links is not None
        assert [(link.source, link.target) for link in translation.links] == [(0, 0)]
    assert found[2].flags == ()


def test_a_common_word_is_read_small_and_a_name_is_not(english: Translator) -> None:
    found = english.translate(["Candles", "Streets", "Naples", "Jack"])
    assert [one.text.split()[-1] for one in found] == ["Bougies", "Rues", "Naples", "Jack"]


def test_labels_of_common_words_are_read_small_and_names_are_not(english: Translator) -> None:
    found = english.translate(["Red Car", "Small Brown Dog", "Mark Twain", "Oxford Street"])
    texts = ["Voiture rouge", "Petit chien marron", "Mark Twain", "Oxford Street"]
    assert [one.text.replace("brun", "marron") for one in found] == texts


@pytest.mark.parametrize(
    ("text", "caption"),
    [
        ("[THUNDER RUMBLES]", "[LE TONNERRE GRONDE]"),
        ("(sighs)", "(soupir)"),
        ("[ Phone rings ]", "[ Le téléphone sonne ]"),
        ("(PHONE RINGS", None),
        ("thunder rumbles", None),
        ("[A MAN READS A LETTER]", None),
    ],
)
def test_captions_of_subtitles_are_known(english: Translator, text: str, caption: str | None) -> None:
    known = known_translation(sentence(english, text), said("[FAUX]"), 0.3, english.tokenizer)
    assert (None if known is None else known.text) == caption


def test_a_timetable_is_written_by_rule(english: Translator) -> None:
    texts = ["Mon–Thu 8 am – 6:15 pm", "9:30 am"]
    translations = english.translate(texts)
    assert [one.text for one in translations] == ["Lun–jeu 8 h – 18 h 15", "9 h 30"]
    assert not any(one.flags for one in translations)


def test_without_confidence_texts_and_flags_are_the_same(english: Translator) -> None:
    texts = ["Storks", "octopus", "The dog sleeps.", "Call 555-0100 at 5 pm.", "[DOOR OPENS]", "Search", ""]
    found = english.translate(texts, TranslationOptions(confidence=False))
    expected = english.translate(texts)

    assert [(one.text, one.flags) for one in found] == [(one.text, one.flags) for one in expected]
    assert found[0].confidence == 1.0, "the lexicon had to know how sure the model was"
    assert [one.confidence for one in (found[2], found[3])] == [None, None]
    asked = english.translate(texts, TranslationOptions(confidence=False, min_confidence=0.1))
    assert asked[2].confidence == pytest.approx(expected[2].confidence, abs=1e-3)
