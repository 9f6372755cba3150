"""Supervised attention: the loss by hand, links found by text, and a head that learns what it is taught."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nmt.batch import Batch
from nmt.config import RnnConfig, SpecialIds, TransformerConfig
from nmt.errors import ConfigError, DataError
from nmt.models.build import build_model
from nmt.tokenizer import Tokenizer
from testbed.corpora import PAIRS, RECIPE, write_text
from training.batching import BatchStream
from training.data.prepare import prepare_corpus
from training.data.shards import PreparedCorpus
from training.objective import Objective
from training.recipe import load_recipe
from training.supervision import LinkTable, Supervision, attention_loss
from training.train import train

REVERSED = torch.eye(4, dtype=torch.bool).flip(1)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    folder = tmp_path_factory.mktemp("corpus")
    write_text(folder, "train", PAIRS[:64])
    write_text(folder, "dev", PAIRS[64:72])
    write_text(folder, "test", PAIRS[72:])
    (folder / "tiny.toml").write_text(RECIPE, encoding="utf-8")
    recipe = load_recipe(str(folder / "tiny.toml"))
    return PreparedCorpus.open(prepare_corpus(recipe, folder / "data"), recipe)


@pytest.fixture
def links_file(corpus: PreparedCorpus, tmp_path: Path) -> Path:
    """The first word of each pair is linked to the first, in both directions."""
    pairs = corpus.split("train")
    texts = [(pairs.source_text(index), pairs.target_text(index)) for index in range(len(pairs))]
    lines = [f"{' '.join(s.split())}\t{' '.join(t.split())}\t0-0\t0-0\n" for s, t in texts]
    (tmp_path / "links.tsv").write_text("".join(lines), encoding="utf-8")
    return tmp_path / "links.tsv"


def test_the_loss_is_the_cross_entropy_of_linked_pieces_alone():
    attention_BTS = torch.tensor([[[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]]])
    links_BTS = torch.tensor([[[True, False, False], [False, True, True], [False, False, False]]])
    expected = -(torch.tensor(0.7).log() + 0.5 * torch.tensor(0.6).log() + 0.5 * torch.tensor(0.3).log())
    torch.testing.assert_close(attention_loss(attention_BTS, links_BTS), expected)


def test_every_batch_carries_the_links_of_its_pairs(corpus: PreparedCorpus, links_file: Path):
    pairs, tokenizer = corpus.split("train"), Tokenizer.load(corpus.tokenizer_file)
    table = LinkTable(links_file, pairs, tokenizer, ("en", "fr"))
    stream = BatchStream(pairs, tokenizer, batch_tokens=200, seed=1, subword_sampling=0.0, links=table)
    batch = stream.next()
    assert batch.links_BTS is not None
    assert batch.links_BTS.shape == (batch.size, batch.target_in_BT.size(1), batch.source_BS.size(1))
    assert batch.links_BTS[:, 0, 0].all()
    assert not batch.links_BTS[:, -1].any()
    assert not batch.links_BTS[~batch.target_mask_BT].any()
    half = batch.rows(slice(0, 1))
    torch.testing.assert_close(half.links_BTS, batch.links_BTS[:1])


def test_links_of_another_corpus_are_refused(corpus: PreparedCorpus, tmp_path: Path):
    (tmp_path / "links.tsv").write_text("a dog\tun chien\t0-0\t0-0\n", encoding="utf-8")
    with pytest.raises(DataError, match="has no pair of this corpus"):
        LinkTable(
            tmp_path / "links.tsv",
            corpus.split("train"),
            Tokenizer.load(corpus.tokenizer_file),
            ("en", "fr"),
        )


@pytest.mark.parametrize(
    ("config", "supervision"),
    [
        (RnnConfig(vocab_size=20, d_embedding=8, d_hidden=16, dropout=0.0), Supervision(1.0, None, None)),
        (
            TransformerConfig(
                vocab_size=20,
                d_model=16,
                d_ff=32,
                n_heads=2,
                n_encoder_layers=1,
                n_decoder_layers=2,
                dropout=0,
            ),
            Supervision(1.0, 0, (1,)),
        ),
    ],
    ids=["rnn", "transformer"],
)
def test_the_attention_that_is_taught_learns_its_links_and_no_other(config, supervision):
    """Words are random, so that nothing but the links can teach it."""
    torch.manual_seed(1)
    model = build_model(config).train()
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(80):
        words = torch.randint(4, 20, (32, 2, 4)).tolist()
        batch = Batch.from_ids([w[0] for w in words], [w[1] for w in words], special=SpecialIds())
        links_BTS = torch.nn.functional.pad(REVERSED, (0, 1, 0, 1)).expand(32, 5, 5)
        batch = Batch(*[getattr(batch, name) for name in list(vars(batch))[:5]], links_BTS=links_BTS)
        loss = Objective(supervision=supervision)(model, batch)
        (loss.smoothed / loss.n_tokens).backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        _, taught_BTS = model.decode_with_attention(batch, supervision.layer, supervision.heads)
        assert taught_BTS[:, :4, :4].masked_select(REVERSED).mean() > 0.9
        if isinstance(config, TransformerConfig):
            _, other_BTS = model.decode_with_attention(batch, 0, (0,))
            assert other_BTS[:, :4, :4].masked_select(REVERSED).mean() < 0.6


def test_a_recipe_teaches_one_head_that_alignment_reads(
    corpus: PreparedCorpus, links_file: Path, tmp_path: Path
):
    recipe = corpus.folder.parent / "tiny.toml"
    taught = (f"training.attention_links={links_file}", "training.attention_weight=5")
    with pytest.raises(ConfigError, match="teaches one head"):
        load_recipe(str(recipe), taught)
    with pytest.raises(ConfigError, match="set subword_sampling and r_drop to 0"):
        load_recipe(str(recipe), [*taught, "training.r_drop=5"])
    with pytest.raises(ConfigError, match="needs soft attention and pointer none"):
        load_recipe(str(recipe), [*taught, "alignment.heads=[0]", "model.pointer=source"])
    short = (
        "training.max_updates=2",
        "alignment.layer=0",
        "alignment.heads=[0]",
        "training.batch_tokens=200",
    )
    folder = train(str(recipe), tmp_path / "run", overrides=[*taught, *short], data=corpus.folder)
    assert (folder / "model.safetensors").exists()
