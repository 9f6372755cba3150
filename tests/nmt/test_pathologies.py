"""B7: whatever the text, the translation is bounded, whole, and says what went wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nmt.config import GenerationConfig
from nmt.model_folder.checkpoint import PRETRAINED, LoadedModel
from nmt.pipeline.flags import Flag
from nmt.pipeline.result import SentenceTranslation, Translation
from nmt.spans import Span
from nmt.translator import Translator
from testbed.pathologies import broken_promises, pathologies
from tests.nmt.conftest import tiny_config, tiny_model

SHORT = 200
"""Characters of the longest texts for the tiny model, or five times as many."""


@pytest.fixture(scope="module")
def tiny(tokenizer, tmp_path_factory):
    config = tiny_config(tokenizer)
    generation = GenerationConfig(beam_size=1)
    return Translator(LoadedModel(config, tiny_model(config), tokenizer, generation, tmp_path_factory))


def test_there_are_three_hundred_different_pathologies():
    cases = dict(pathologies(size=SHORT))
    assert len(cases) == len(list(pathologies(size=SHORT))) >= 300
    assert max(map(len, dict(pathologies()).values())) >= 100_000


def test_an_untrained_model_breaks_no_promise_on_any_pathology(tiny):
    """Its output is noise that loops and never ends: the worst there is."""
    names, texts = zip(*pathologies(size=SHORT), strict=True)
    translations = tiny.translate(texts)
    broken = {
        name: found
        for name, text, translation in zip(names, texts, translations, strict=True)
        if (found := broken_promises(text, translation))
    }
    assert broken == {}
    kinds = {flag.kind for translation in translations for flag in translation.flags}
    assert {"loop", "repaired_loop", "untranslated"} & kinds


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_model_that_ships_breaks_no_promise_on_any_pathology():
    translator = Translator.load(sorted(PRETRAINED.iterdir())[0], device="cpu")
    for name, text in pathologies():
        assert broken_promises(text, translator.translate([text])[0]) == [], name


def translation_of(text, *parts, flags=()):
    """``parts``: (source, target) of each sentence; what is between them is kept."""
    read, written, out, sentences = 0, 0, "", []
    for source, target in parts:
        start = text.index(source, read)
        out += text[read:start]
        written = len(out)
        out += target
        sentences.append(
            SentenceTranslation(
                source=Span(start, start + len(source)),
                target=Span(written, len(out)),
                score=-1.0,
                truncated=False,
                source_tokens=Span(0, 0),
                target_tokens=Span(0, 0),
                attention=None,
            )
        )
        read = start + len(source)
    return Translation(
        text=out + text[read:],
        score=-1.0,
        sentences=tuple(sentences),
        source_tokens=None,
        target_tokens=None,
        links=None,
        alternatives=(),
        truncated=False,
        repaired=False,
        n_source_tokens=0,
        n_target_tokens=0,
        flags=tuple(Flag(kind, index) for kind, index in flags),
    )


TEXT = "One dog.\n\nTwo cats."
SOUND = (("One dog.", "Un chien."), ("Two cats.", "Deux chats."))


def test_a_sound_translation_breaks_no_promise():
    assert broken_promises(TEXT, translation_of(TEXT, *SOUND)) == []


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (SOUND[:1], "was not translated"),
        ((("One dog.", ""), SOUND[1]), "empty"),
        ((("One dog.", "Un\nchien."), SOUND[1]), "lines were added"),
        ((("One dog.", "chien " * 20), SOUND[1]), "loops and has no flag"),
        ((("One dog.", " ".join(map(str, range(100)))), SOUND[1]), "characters for 8"),
    ],
)
def test_a_broken_promise_is_seen(parts, reason):
    assert any(reason in found for found in broken_promises(TEXT, translation_of(TEXT, *parts)))


def test_what_is_flagged_is_no_broken_promise():
    parts = (("One dog.", "chien " * 20), SOUND[1])
    assert broken_promises(TEXT, translation_of(TEXT, *parts, flags=[("loop", 0)])) == []
    truncated = translation_of(TEXT, *SOUND)
    truncated = replace(truncated, sentences=(replace(truncated.sentences[0], truncated=True),))
    assert "sentence 0 is truncated and has no flag" in broken_promises(TEXT, truncated)
