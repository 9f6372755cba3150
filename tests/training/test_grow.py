"""Growing: a larger model that computes the same, and learns."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.errors import ConfigError
from nmt.model_folder.checkpoint import load_model_folder
from nmt.models.build import Model
from nmt.models.transformer import Transformer
from nmt.tokenizer import Tokenizer
from nmt.translator import Translator
from tests.nmt.conftest import save_tiny_model, tiny_config, tiny_model, train_tokenizer
from training.grow import grow, origins


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    path.write_bytes(train_tokenizer())
    return path


@pytest.fixture
def folder(tmp_path: Path, tokenizer_file: Path) -> Path:
    """A model whose biases are not zero, as training leaves them."""
    config = tiny_config(Tokenizer.load(tokenizer_file), n_encoder_layers=3)
    model = tiny_model(config)
    generator = torch.Generator().manual_seed(5)
    for parameter in model.parameters():
        parameter.add_(torch.randn(parameter.shape, generator=generator) / 4)
    save_tiny_model(tmp_path / "model", tokenizer_file, config=config, model=model)
    return tmp_path / "model"


def logits(model: Model) -> torch.Tensor:
    batch = Batch.from_ids([[5, 9, 13], [8]], [[11, 7, 4], [6]], special=SpecialIds())
    assert isinstance(model, Transformer)
    return model(batch)


@pytest.mark.parametrize(
    "sizes",
    [
        *({"encoder_layers": number} for number in (4, 5, 6, 11)),
        {"decoder_layers": 3},
        {"d_ff": 50},
        {"encoder_layers": 3, "decoder_layers": 5, "d_ff": 33},
    ],
)
def test_a_grown_model_computes_what_it_did(folder: Path, tmp_path: Path, sizes: dict[str, int]) -> None:
    out = grow(folder, tmp_path / "out", **sizes)
    before, after = load_model_folder(folder), load_model_folder(out)
    assert isinstance(after.model, Transformer)
    assert len(after.model.encoder_layers) == sizes.get("encoder_layers", 3)
    assert len(after.model.decoder_layers) == sizes.get("decoder_layers", 2)
    assert after.model.encoder_layers[0].feed_forward.up.out_features == sizes.get("d_ff", 32)
    exact = 0 if "d_ff" not in sizes else 1e-5  # sums of another length are rounded otherwise
    torch.testing.assert_close(logits(after.model), logits(before.model), rtol=exact, atol=exact)
    assert after.generation == before.generation
    assert len(Translator.load(out).translate(["a word"])) == 1


def test_a_new_layer_learns_at_once(folder: Path, tmp_path: Path) -> None:
    """Both of its sub-layers have a gradient, through the zeros that they end in."""
    model = load_model_folder(grow(folder, tmp_path / "out", encoder_layers=6)).model.requires_grad_(True)
    logits(model).log_softmax(dim=-1)[..., 4].sum().backward()
    for layer in model.encoder_layers:
        for last in (layer.self_attention.output, layer.feed_forward.down):
            assert last.weight.grad.abs().max() > 0


@pytest.mark.parametrize(
    ("n_old", "n_new", "new"),
    [(6, 12, [1, 3, 5, 7, 9, 11]), (6, 8, [2, 6]), (6, 7, [4]), (1, 3, [1, 2])],
)
def test_new_layers_stand_evenly(n_old: int, n_new: int, new: list[int]) -> None:
    order = origins(n_old, n_new)
    assert [layer for layer, _ in order] == sorted(layer for layer, _ in order)
    assert len(order) == n_new
    kept = [layer for index, (layer, _) in enumerate(order) if index not in new]
    assert kept == list(range(n_old))
    assert [index for index, (_, is_new) in enumerate(order) if is_new] == new


def test_new_units_have_no_say_yet_and_learn(folder: Path, tmp_path: Path) -> None:
    model = load_model_folder(grow(folder, tmp_path / "out", d_ff=40)).model.requires_grad_(True)
    logits(model).log_softmax(dim=-1)[..., 4].sum().backward()
    down = model.decoder_layers[0].feed_forward.down.weight
    assert (down[:, 32:] == 0).all()
    assert down.grad[:, 32:].abs().max() > 0


def test_words_are_linked_by_the_layer_that_did(folder: Path, tmp_path: Path) -> None:
    before = Translator.load(folder).config
    after = load_model_folder(grow(folder, tmp_path / "out", decoder_layers=4)).config
    assert before.model.alignment_layer == -1
    assert after.model.alignment_layer == 2, "the one above it is new"


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"encoder_layers": 2}, "--encoder-layers 2: the model has 3 already"),
        ({"decoder_layers": 1}, "--decoder-layers 1: the model has 2 already"),
        ({"d_ff": 31}, "--d-ff 31: the model has 32 already"),
        ({"d_ff": 32}, "nothing would grow"),
        ({}, "nothing would grow: give --encoder-layers, --decoder-layers, --d-ff"),
    ],
)
def test_no_smaller_one(folder: Path, tmp_path: Path, sizes: dict[str, int], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        grow(folder, tmp_path / "out", **sizes)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("changes", [{"norm": "post"}, {"pointer": "source"}])
def test_a_model_that_would_change_is_refused(
    tmp_path: Path, tokenizer_file: Path, changes: dict[str, object]
) -> None:
    config = tiny_config(Tokenizer.load(tokenizer_file), **changes)
    save_tiny_model(tmp_path / "other", tokenizer_file, config=config, model=tiny_model(config))
    with pytest.raises(ConfigError, match="nmt grow is for"):
        grow(tmp_path / "other", tmp_path / "out", encoder_layers=4)
