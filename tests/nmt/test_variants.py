"""Every variant of a model goes through folder, translator and service's search as any model does."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig, ModelConfig, TransformerConfig
from nmt.model_folder.checkpoint import load_model_folder
from nmt.tokenizer import Tokenizer
from nmt.translator import TranslationOptions, Translator
from tests.nmt.conftest import save_tiny_model, tiny_config, tiny_model, train_tokenizer
from tests.nmt.models.conftest import CONFIGS

VARIANTS = [
    "transformer-no-positions",
    "transformer-rotary",
    "transformer-alibi",
    "transformer-copying",
    "transformer-pointing",
    "transformer-flat-sources",
    "transformer-hierarchical-sources",
    "transformer-document",
    "rnn-last-attention",
    "rnn-hard",
    "rnn-monotonic",
    "rnn-copying",
    "rnn-pointing",
    "decoder-only",
]
SENTENCES = ["Where is the train station, please?", "A little girl."]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_saved_loaded_and_translates_with_links(
    name: str, tmp_path: Path, tokenizer: Tokenizer, tokenizer_file: Path
):
    architecture: ModelConfig = CONFIGS[name].model_copy(update={"vocab_size": tokenizer.vocab_size})
    config = tiny_config(tokenizer).model_copy(update={"model": architecture})
    model = tiny_model(config)
    generation = GenerationConfig(beam_size=2, max_length_ratio=1.0, max_length_offset=5)
    save_tiny_model(tmp_path / "model", tokenizer_file, config=config, model=model, generation=generation)
    batch = Batch.from_ids([[5, 6, 7], [8]], [[9], [10, 11]], special=tokenizer.special)
    assert torch.equal(load_model_folder(tmp_path / "model").model(batch), model(batch))

    translator = Translator.load(tmp_path / "model")
    assert translator.engine.name == "eager"
    found = translator.translate(SENTENCES, TranslationOptions(alignment="heads"))
    assert [one.text for one in found] == [one.text for one in translator.translate(SENTENCES)]
    assert all(one.text for one in found)


def test_sources_are_parted_where_a_text_has_the_separator(tmp_path: Path):
    (tmp_path / "tokenizer.model").write_bytes(train_tokenizer(user_defined_symbols=["⟦|⟧"]))
    tokenizer = Tokenizer.load(tmp_path / "tokenizer.model")
    assert tokenizer.piece_id("⟦|⟧") == TransformerConfig(vocab_size=380).separator
    config = tiny_config(tokenizer, sources="hierarchical")
    save_tiny_model(tmp_path / "model", tmp_path / "tokenizer.model", config=config, model=tiny_model(config))
    translator = Translator.load(tmp_path / "model")
    read: list[tuple[int, ...]] = []
    search = translator.answerer.searcher.search

    def spied(asked, **options):
        read.extend(one.source_ids for one in asked)
        return search(asked, **options)

    translator.answerer.searcher.search = spied
    translator.translate(["A dog. ⟦|⟧ Where is it?"], TranslationOptions(split_sentences=False))
    assert read[0] == tuple(tokenizer.encode("A dog. ⟦|⟧ Where is it?"))
    assert read[0].count(4) == 1
