"""Several translations beside each other: what is said in two ways is named, and what may be is not."""

from __future__ import annotations

import pytest

from nmt.pipeline.consistency import inconsistent_terms
from nmt.text.glossary import Glossary, Term
from nmt.translator import Translator


def named(pairs: list[tuple[str, str]], glossary: Glossary | None = None) -> list[list[str]]:
    return [[problem.detail for problem in problems] for problems in inconsistent_terms(pairs, glossary)]


def test_a_label_that_comes_three_times_is_translated_as_most_of_them_are() -> None:
    pairs = [("Save", "Enregistrer"), ("Open", "Ouvrir"), ("save", "Sauver"), ("SAVE", "ENREGISTRER")]

    assert named(pairs) == [[], [], ["save: Sauver, elsewhere Enregistrer"], []]


@pytest.mark.parametrize(
    "translations",
    [
        ["Enregistrer", "Sauver"],
        ["Enregistrer", "enregistrer", "Enregistrer !", "  Enregistrer"],
        ["Enregistré", "Enregistrée", "Enregistrés"],
        ["Enregistrer", "", "Enregistrer"],
    ],
)
def test_what_comes_twice_other_marks_and_forms_of_a_word_are_fine(translations: list[str]) -> None:
    assert not any(named([("Save", translation) for translation in translations]))


@pytest.mark.parametrize("sentence", ["I do not know yet", "No idea.", "Who knows?"])
def test_a_sentence_may_be_said_in_two_ways(sentence: str) -> None:
    pairs = [(sentence, one) for one in ("Je ne sais pas encore.", "Aucune idée.", "Va savoir.")]

    assert not any(named(pairs))


def test_a_term_that_some_translations_have_is_missed_by_the_others() -> None:
    glossary = Glossary.of([Term("cat", "chat")])
    pairs = [
        ("A cat sleeps in the sun.", "Un chat dort au soleil."),
        ("The cat eats fish every day.", "Le matou mange du poisson tous les jours."),
        ("He loves the cat very much.", "Il aime beaucoup le chat."),
    ]

    assert named(pairs, glossary) == [[], ["cat: chat in 2 of 3, not here"], []]
    assert not any(named(pairs))
    assert not any(named(pairs[:2], glossary))
    assert not any(named([(source, "Un matou.") for source, _ in pairs], glossary))


def test_a_sentence_that_comes_again_is_translated_alike_wherever_it_stands() -> None:
    translator = Translator.load("general", device="cpu")
    again = "Please save the file before you close the window."
    texts = [f"{again} It is large.", f"The dog is asleep. {again}", again, f"{again} {again}"]
    [alone] = translator.translate([again])

    written = [
        translation.text[sentence.target.start : sentence.target.end]
        for text, translation in zip(texts, translator.translate(texts), strict=True)
        for sentence in translation.sentences
        if text[sentence.source.start : sentence.source.end].strip() == again
    ]

    assert written == [alone.text] * 5
