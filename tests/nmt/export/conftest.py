"""A tiny model folder for each kind of Transformer, its weights tripled so that history matters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config import GenerationConfig
from nmt.model_folder.checkpoint import LoadedModel, load_model_folder
from nmt.tokenizer import Tokenizer
from tests.nmt.conftest import save_tiny_model, tiny_config, tiny_model

VARIANTS: dict[str, dict[str, object]] = {
    "pre-norm": {},
    "post-norm": {"norm": "post", "n_heads": 4},
    "gelu, untied, learned": {"activation": "gelu", "tie_embeddings": "none", "positions": "learned"},
    "pruned heads": {"kept_heads": {"encoder": (1, 2), "decoder": (2, 1), "cross": (1, 1)}},
    "deep encoder": {"n_encoder_layers": 3, "n_decoder_layers": 1, "tie_embeddings": "decoder"},
}
SENTENCES = [
    "Where is the train station, please?",
    "A little girl.",
    "He opened the window and looked at the sea.",
    "Yes.",
]
LIMIT = 24
"""In tokens, the same for all sentences, as other runtimes have it. The tiny models never end before it."""
BEAM = GenerationConfig(
    beam_size=3,
    length_normalization="mean",
    max_length_ratio=1e-6,
    max_length_offset=LIMIT - 1,
    repair_loops=False,
)
GREEDY = BEAM.model_copy(update={"beam_size": 1})


@pytest.fixture(scope="session")
def make_loaded(
    tmp_path_factory: pytest.TempPathFactory, tokenizer_file: Path
) -> Callable[[str], LoadedModel]:
    """A loaded model of a variant, or "one encoder layer", which traces faster."""

    def make(variant: str) -> LoadedModel:
        folder = tmp_path_factory.mktemp("models") / "tiny"
        changes = VARIANTS.get(variant, {"n_encoder_layers": 1})
        config = tiny_config(Tokenizer.load(tokenizer_file), max_positions=64, **changes)
        save_tiny_model(folder, tokenizer_file, config=config, model=tiny_model(config))
        return load_model_folder(folder)

    return make
