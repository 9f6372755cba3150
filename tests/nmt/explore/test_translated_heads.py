"""The attention of every head comes with a translation when it is asked for, alone or in a running batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.batching.continuous import ContinuousTranslator
from nmt.batching.events import Finished
from nmt.config import GenerationConfig
from nmt.options import TranslationOptions
from nmt.translator import Translator
from tests.nmt.conftest import save_tiny_model

PLAIN = GenerationConfig(beam_size=2, repair_loops=False, max_length_offset=5)
TEXT = "The man who lives next door. Where is the train station?\n\nHe opened the window."


@pytest.fixture
def translator(tmp_path: Path, tokenizer_file: Path) -> Translator:
    save_tiny_model(tmp_path / "tiny", tokenizer_file)
    return Translator.load(tmp_path / "tiny", device="cpu")


def test_each_sentence_has_the_maps_of_what_was_read_and_written(translator: Translator) -> None:
    (found,) = translator.translate([TEXT], TranslationOptions(alignment="heads", generation=PLAIN))
    assert found.sentences
    for sentence in found.sentences:
        assert sentence.attention is not None, "all that soft gives is there too"
        assert sentence.heads is not None
        assert [len(layer) for layer in sentence.heads.cross] == [2, 2]
        assert len(sentence.heads.cross[0][0]) == len(sentence.heads.written)
        assert len(sentence.heads.cross[0][0][0]) == len(sentence.heads.source)
        read = "".join(sentence.heads.source[:-1]).replace("\u2581", " ").strip()
        assert read == TEXT[sentence.source.start : sentence.source.end]


def test_soft_alignment_has_no_maps_of_heads(translator: Translator) -> None:
    (found,) = translator.translate([TEXT], TranslationOptions(alignment="soft"))
    assert all(sentence.heads is None for sentence in found.sentences)


def test_a_copied_sentence_has_none(translator: Translator) -> None:
    (found,) = translator.translate(["12 : 34 !"], TranslationOptions(alignment="heads", generation=PLAIN))
    assert [sentence.heads for sentence in found.sentences] == [None]


def test_a_running_batch_gives_the_same_maps(translator: Translator) -> None:
    expected = translator.translate([TEXT], TranslationOptions(alignment="heads", generation=PLAIN))
    running = ContinuousTranslator(translator)
    running.add(1, [TEXT], TranslationOptions(alignment="heads", generation=PLAIN))
    finished: list[Finished] = []
    while running.is_busy:
        finished += [event for event in running.step() if isinstance(event, Finished)]
    (event,) = finished
    ours = [sentence.heads for sentence in event.translations[0].sentences]
    assert ours == [sentence.heads for sentence in expected[0].sentences]
