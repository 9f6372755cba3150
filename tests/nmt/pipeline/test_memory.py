"""What becomes of a translation memory's units on the way through the shipped model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nmt.batching.continuous import ContinuousTranslator
from nmt.batching.events import Finished, PartFinished
from nmt.memory.unit import MemoryMatch
from nmt.options import TranslationOptions
from nmt.spans import Span
from nmt.text.glossary import Glossary, Term
from nmt.translator import Translation, Translator

DOOR = MemoryMatch("Open the door.", "Open the door.", "Ouvrez donc la porte.", 1.0, 7)
LIKE = MemoryMatch("He closes the window.", "He closes the windows.", "Il ferme les fenêtres.", 0.8, 8)
TEXT = "Open the door. He closes the window.\nOpen the door."


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("general", device="cpu")


def translate(
    translator: Translator,
    text: str,
    *matches: MemoryMatch,
    keep: list[Span] | None = None,
    **options: object,
) -> Translation:
    chosen = TranslationOptions.model_validate({"memory": matches, **options})
    [found] = translator.translate([text], chosen, keep=None if keep is None else [keep])
    return found


def test_an_exact_match_is_the_translation_and_a_fuzzy_one_is_told(translator: Translator) -> None:
    plain = translate(translator, "He closes the window.")

    found = translate(translator, TEXT, DOOR, LIKE)

    assert found.text == f"Ouvrez donc la porte. {plain.text}\nOuvrez donc la porte."
    assert [(one.sentence, one.unit, one.score, one.use) for one in found.memory] == [
        (0, 7, 1.0, "translation"),
        (1, 8, 0.8, "suggestion"),
        (2, 7, 1.0, "translation"),
    ]
    assert found.memory[1].target == "Il ferme les fenêtres."
    assert found.sentences[1].score == plain.sentences[0].score
    assert found.score == pytest.approx(plain.score), "what nobody searched for has no score"
    assert found.sentences[0].confidence == 1


def test_the_words_of_a_recalled_sentence_are_linked_too(translator: Translator) -> None:
    found = translate(translator, TEXT, DOOR, alignment="links")

    assert found.source_tokens is not None
    assert found.target_tokens is not None
    assert found.links is not None
    linked = {
        (found.source_tokens[link.source].text, found.target_tokens[link.target].text) for link in found.links
    }
    assert ("door", "porte") in linked
    assert len(found.word_confidence or ()) == len(found.target_tokens)


def test_a_whole_text_or_line_that_the_memory_has_is_not_cut(translator: Translator) -> None:
    whole = MemoryMatch("One. Two.", "One. Two.", "Un, deux.", 1.0, 1)

    assert translate(translator, "  One. Two.\n", whole).text == "  Un, deux.\n"
    line = translate(translator, "One. Two.\nOpen the door.", whole, DOOR)
    assert line.text == "Un, deux.\nOuvrez donc la porte."
    assert [one.sentence for one in line.memory] == [0, 1]
    menu = MemoryMatch("File | Open now", "File | Open now", "Fichier : ouvrir", 1.0, 2)
    assert translate(translator, "File | Open now", menu).text == "Fichier : ouvrir"
    both = translate(translator, "One. Two. Open the door.", whole, DOOR)
    assert both.text.endswith("Ouvrez donc la porte."), "a part of a line is no unit, but its sentences are"


def test_what_is_to_be_kept_must_be_in_the_unit(translator: Translator) -> None:
    unit = MemoryMatch("Run make now.", "Run make now.", "Lancez make de suite.", 1.0, 1)
    without = replace(unit, target="Lancez-le de suite.")
    keep = [Span(4, 8)]

    held = translate(translator, "Run make now.", unit, keep=keep)
    lost = translate(translator, "Run make now.", without, keep=keep)

    assert held.text == unit.target
    assert [held.text[target.start : target.end] for _, target in held.kept] == ["make"]
    assert lost.memory[0].use == "suggestion"
    assert "make" in lost.text
    assert "Lancez-le" not in lost.text


def test_a_unit_without_a_term_or_with_another_number_is_flagged(translator: Translator) -> None:
    unit = MemoryMatch("Open 3 bridges.", "Open 3 bridges.", "Ouvrez 4 ponts.", 1.0, 1)

    found = translate(translator, unit.text, unit, glossary=Glossary.of([Term("bridges", "passerelles")]))

    assert found.text == unit.target
    assert {flag.kind for flag in found.flags} == {"term_missed", "number_mismatch"}
    assert translate(translator, DOOR.text, DOOR, min_confidence=1.0).text == DOOR.target


def test_the_running_batch_of_a_server_does_the_same(translator: Translator) -> None:
    options = TranslationOptions(memory=(DOOR, LIKE))
    running = ContinuousTranslator(translator)
    running.add("r", [TEXT], options, parts=True)
    events = []
    while not any(isinstance(event, Finished) for event in events):
        events += running.step()

    [finished] = [event for event in events if isinstance(event, Finished)]
    assert finished.translations == translator.translate([TEXT], options)
    parts = [event.translation for event in events if isinstance(event, PartFinished)]
    assert [part.memory[0].use for part in parts] == ["translation", "suggestion", "translation"]
