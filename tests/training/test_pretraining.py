"""Pre-training: what is masked, what is learnt, and a translator that begins with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from nmt.batch import Batch
from nmt.config import DecoderOnlyConfig, SpecialIds, TransformerConfig
from nmt.errors import ConfigError
from nmt.models.build import build_model
from nmt.models.decoder_only import DecoderOnly
from nmt.models.transformer import Transformer
from training.objective import Objective
from training.pretraining import Pretraining, without_source
from training.recipe import load_recipe
from training.train import train

SPECIAL, VOCAB = SpecialIds(), 60
MASKED_WORDS = Pretraining("masked_words", VOCAB, SPECIAL)
SHORT = (
    "training.batch_tokens=200",
    "training.precision=fp32",
    "training.save_every=4",
    "training.validate_every=4",
    "training.max_updates=8",
    "training.average_last=1",
)


def random_batch(n: int, length: int) -> Batch:
    source = torch.randint(4, VOCAB, (n, length)).tolist()
    return Batch.from_ids([*source, [5]], [[6]] * (n + 1), special=SPECIAL)


def test_fifteen_percent_are_masked_most_by_unk_and_all_else_stays():
    torch.manual_seed(1)
    batch = random_batch(400, 30)
    changed = MASKED_WORDS(batch, seed=3)
    chosen_BS, read_BS, true_BS = changed.target_mask_BT, changed.source_BS, batch.source_BS
    assert chosen_BS is not None
    words_BS = batch.source_mask_BS & (true_BS != SPECIAL.eos)
    assert not chosen_BS[~words_BS].any()
    assert chosen_BS.any(dim=1).all(), "a sentence of one word too"
    assert torch.equal(read_BS[~chosen_BS], true_BS[~chosen_BS])
    assert torch.equal(changed.target_out_BT, true_BS)
    n = int(chosen_BS.sum())
    assert n / int(words_BS.sum()) == pytest.approx(0.15, abs=0.01)
    assert int((read_BS[chosen_BS] == SPECIAL.unk).sum()) / n == pytest.approx(0.8, abs=0.04)
    assert int((read_BS[chosen_BS] == true_BS[chosen_BS]).sum()) / n == pytest.approx(0.1, abs=0.03)
    assert torch.equal(MASKED_WORDS(batch, seed=3).source_BS, read_BS)
    assert not torch.equal(MASKED_WORDS(batch, seed=4).source_BS, read_BS)


def test_an_encoder_learns_to_fill_in_what_its_neighbours_tell():
    """Sentences count upwards: each word is one more than the one before it."""
    torch.manual_seed(1)
    config = TransformerConfig(
        vocab_size=VOCAB, d_model=32, d_ff=64, n_heads=2, n_encoder_layers=1, n_decoder_layers=1, dropout=0.0
    )
    model = build_model(config).train()
    assert isinstance(model, Transformer)
    optimizer = torch.optim.Adam(model.parameters(), 0.005)

    def counting(seed: int) -> Batch:
        first = torch.randint(4, VOCAB - 8, (64, 1))
        source = (first + torch.arange(8)).tolist()
        return MASKED_WORDS(Batch.from_ids(source, source, special=SPECIAL), seed)

    for update in range(200):
        loss = Objective(masked_words=True)(model, counting(update))
        (loss.smoothed / loss.n_tokens).backward()
        optimizer.step()
        optimizer.zero_grad()
    batch = counting(1000)
    with torch.no_grad():
        guessed_BS = model.eval().output(model.encode(batch)).argmax(-1)
    assert batch.target_mask_BT is not None
    right = (guessed_BS == batch.target_out_BT)[batch.target_mask_BT].float().mean()
    assert right > 0.8
    assert all(p.grad is None for p in model.decoder_layers.parameters())


def test_a_language_model_reads_the_target_alone_and_step_by_step_the_same():
    torch.manual_seed(1)
    model = build_model(
        DecoderOnlyConfig(vocab_size=VOCAB, d_model=16, d_ff=32, n_heads=2, n_layers=2)
    ).eval()
    assert isinstance(model, DecoderOnly)
    batch = Batch.from_ids([[5, 6], [7]], [[8, 9, 10], [11]], special=SPECIAL)
    alone = without_source(batch)
    log_probs_BTV = model(alone).log_softmax(-1)
    assert batch.target_in_BT is not None
    state = model.start(alone, 1)
    for t, tokens_B in enumerate(batch.target_in_BT.unbind(1)):
        step, state = model.step(state, tokens_B)
        torch.testing.assert_close(step.log_probs_NV, log_probs_BTV[:, t], rtol=1e-4, atol=1e-5)
    assert (log_probs_BTV - model(batch).log_softmax(-1)).abs().max() > 1e-3


def test_a_pre_trained_encoder_begins_a_translator(recipe_file: Path, tmp_path: Path):
    pretraining = [*SHORT, "training.objective=masked_words"]
    folder = train(str(recipe_file), tmp_path / "first", overrides=pretraining)
    assert "It does not translate yet" in (folder / "card.md").read_text(encoding="utf-8")
    events = [json.loads(line) for line in (tmp_path / "first" / "log.jsonl").read_text().splitlines()]
    scores = [event["score"] for event in events if event["event"] == "validation"]
    assert len(scores) == 2
    assert scores[0] < scores[-1] < 100
    untouched = load_file(folder / "model.safetensors")
    torch.manual_seed(1)
    weights = build_model(load_recipe(str(recipe_file)).model_config_for(320)).state_dict()
    same = {name for name in untouched if torch.equal(untouched[name], weights[name])}
    assert same == {name for name in untouched if name.startswith(("decoder_layers", "decoder_norm"))}

    began = [*SHORT, "training.max_updates=1", "training.learning_rate=1e-9"]
    second = train(str(recipe_file), tmp_path / "second", overrides=began, init_from=str(folder))
    found = load_file(second / "model.safetensors")
    torch.testing.assert_close(found["encoder_norm.weight"], untouched["encoder_norm.weight"])
    assert (found["encoder_norm.weight"] - weights["encoder_norm.weight"]).abs().max() > 1e-3


def test_a_language_model_begins_a_translator(recipe_file: Path, tmp_path: Path):
    alone = tmp_path / "alone.toml"
    model = '[model]\narchitecture = "decoder_only"\nd_model = 16\nd_ff = 32\nn_heads = 2\nn_layers = 1\n'
    alone.write_text(f'extends = "tiny"\n{model}', encoding="utf-8")
    (tmp_path / "tiny.toml").write_text(recipe_file.read_text(encoding="utf-8"), encoding="utf-8")
    where = f"data.dir={recipe_file.parent}"
    pretraining = [*SHORT, where, "training.objective=language_model"]
    folder = train(str(alone), tmp_path / "first", overrides=pretraining)
    second = train(str(alone), tmp_path / "second", overrides=[*SHORT, where], init_from=str(folder))
    assert "BLEU" in (second / "card.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["training.objective=language_model"], "is of model.architecture decoder_only"),
        (["training.objective=masked_words", "model.pointer=source"], "is of a transformer's encoder"),
        (["training.objective=masked_words", "training.r_drop=5"], "pre-training has no training.r_drop"),
    ],
)
def test_what_pre_training_cannot_be_is_told(recipe_file: Path, overrides: list[str], message: str):
    with pytest.raises(ConfigError, match=message):
        load_recipe(str(recipe_file), overrides)
