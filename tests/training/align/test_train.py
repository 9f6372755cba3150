"""Training a link scorer: examples by hand, and one that learns a reversal beside a frozen random model."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from nmt.alignment.scorer import LinkLogProbs, States
from nmt.errors import ConfigError, DataError
from nmt.model_folder.checkpoint import load_model_folder, save_model_folder
from nmt.translator import Translator
from tests.nmt.conftest import save_tiny_model, train_tokenizer
from training.align.data import collate, examples, open_links, parse_line, read_lines
from training.align.rule import GoldSet
from training.align.train import AlignTrainingOptions, align_train, link_loss

LINE = "L'eau\tthe water\t0-0 1-1\t1-1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("align")
    (root / "tokenizer.model").write_bytes(train_tokenizer())
    save_tiny_model(root / "model", root / "tokenizer.model")
    return root / "model"


def test_a_line_holds_two_texts_and_the_links_of_both_directions():
    pair = parse_line(LINE, "line 1")
    assert (pair.source, pair.target) == ("L'eau", "the water")
    assert (pair.forward, pair.backward) == ({(0, 0), (1, 1)}, {(1, 1)})
    with pytest.raises(DataError, match="line 7: 2 columns"):
        parse_line("a\tb", "line 7")


def test_a_reversed_pair_is_one_of_the_other_direction():
    pair = parse_line("L'eau claire\tclear water\t0-1 1-1 2-0\t1-1", "line 1").reversed()
    assert (pair.source, pair.target) == ("clear water", "L'eau claire")
    assert (pair.forward, pair.backward) == ({(1, 1)}, {(1, 0), (1, 1), (0, 2)})
    gold = GoldSet("dev", (("L' eau", "water"),), ({(1, 0)},), ({(0, 0), (1, 0)},)).reversed()
    assert (gold.pairs, gold.sure, gold.possible) == (
        (("water", "L' eau"),),
        ({(0, 1)},),
        ({(0, 0), (0, 1)},),
    )


def test_links_are_read_back_from_plain_and_from_compressed_files(tmp_path):
    for name in ("links.tsv", "links.tsv.xz"):
        with open_links(tmp_path / name, "w") as file:
            file.write(LINE + "\n" + LINE + "\n")
        assert read_lines(tmp_path / name) == [LINE, LINE]
    (tmp_path / "links.xz").write_bytes(b"no")
    with pytest.raises(DataError, match="not a readable file of links"):
        read_lines(tmp_path / "links.xz")


def test_every_piece_of_a_word_has_the_links_of_all_its_counted_tokens(folder, monkeypatch):
    monkeypatch.setattr("training.align.data.WRITTEN_OUT", 0.0)
    loaded = load_model_folder(folder)
    # "du" counts as "de le": its pieces have the links of both halves
    line = "of the dog\tdu chien\t0-0 1-1 2-2\t2-2"
    (example,) = examples([line], (loaded.tokenizer,) * 2, loaded.config, seed=1)
    source = loaded.tokenizer.encode_pieces("of the dog")
    target = loaded.tokenizer.encode_pieces("du chien")
    for t, piece in enumerate(target):
        for s, other in enumerate(source):
            both_first = piece.start < 2 and other.start < 6
            both_last = piece.start >= 2 and other.start >= 6
            assert bool(example.forward_TS[t, s]) == (both_first or both_last), (piece, other)
            assert bool(example.backward_TS[t, s]) == both_last


def test_a_pair_may_be_shown_as_its_counted_tokens(folder, monkeypatch):
    monkeypatch.setattr("training.align.data.WRITTEN_OUT", 1.0)
    loaded = load_model_folder(folder)
    lines = ["The dog\tDu chien\t0-1 1-2\t1-2"] * 20
    shown = {
        loaded.tokenizer.decode(e.target_ids)
        for e in examples(lines, (loaded.tokenizer,) * 2, loaded.config, 1)
    }
    assert shown == {"De le chien", "de le chien"}


def test_a_link_outside_the_pair_is_an_error(folder):
    loaded = load_model_folder(folder)
    with pytest.raises(DataError, match="link 5-0: the pair has 2 and 2 tokens"):
        list(examples(["a b\tc d\t5-0\t0-0"], (loaded.tokenizer,) * 2, loaded.config, seed=1))


def test_the_loss_is_the_mean_cross_entropy_of_both_directions_by_hand():
    # one pair, 2 target and 2 source pieces, the second source piece padding
    forward = torch.tensor([[[0.7, 1e-9, 0.3], [0.2, 1e-9, 0.8]]]).log()
    backward = torch.tensor([[[0.5, 0.5], [0.25, 0.25], [0.25, 0.25]]]).log()
    mask_BS, mask_BT = torch.tensor([[True, False]]), torch.tensor([[True, True]])
    none = torch.zeros(1, 2, 1)
    states = States(*[none] * 7, mask_BS, mask_BT)
    linked = torch.tensor([[[True, False], [False, False]]])
    both = torch.tensor([[[True, False], [True, False]]])
    loss = link_loss(LinkLogProbs(forward, backward), states, linked, both)
    of_forward = -(torch.tensor(0.7).log() + torch.tensor(0.8).log()) / 2  # to its link, and to null
    of_backward = -(torch.tensor(0.5).log() + torch.tensor(0.25).log()) / 2  # uniform over two links
    assert float(loss) == pytest.approx(float(of_forward + of_backward), rel=1e-5)


@dataclass
class Reversal:
    """A task that takes links to solve: the translation is the source backwards."""

    rows: list[tuple[str, str, str]]
    links: Path
    gold: list[GoldSet]

    @classmethod
    def write(cls, root):
        vocabulary = ["dog", "cat", "park", "man", "sea", "table", "train", "girl", "river", "window"]
        shuffled = random.Random(1)

        def pair():
            source = shuffled.sample(vocabulary, shuffled.randint(3, 6))
            last = len(source) - 1
            links = " ".join(f"{index}-{last - index}" for index in range(len(source)))
            return " ".join(source), " ".join(reversed(source)), links

        rows = [pair() for _ in range(1000)]
        with open_links(root / "links.tsv", "w") as file:
            file.writelines(f"{source}\t{target}\t{links}\t{links}\n" for source, target, links in rows[:950])
        for ending, column in (("en", 0), ("fr", 1), ("gold", 2)):
            (root / f"dev.{ending}").write_text("".join(f"{row[column]}\n" for row in rows[950:]))
        return cls(rows, root / "links.tsv", [GoldSet.read(root / "dev")])

    def learn(self, folder, **options):
        """The scorer's config, and its error rate."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("training.align.train.BATCH_TOKENS", 250)
            config = align_train(folder, self.links, gold=self.gold, options=AlignTrainingOptions(**options))
        (measured,) = config.measured.values()
        return config, measured["default"]["aer"]


@pytest.fixture(scope="module")
def learned(folder, tmp_path_factory):
    """The task, and a model folder whose scorer has learnt it."""
    root = tmp_path_factory.mktemp("reversal")
    shutil.copytree(folder, root / "model")
    reversal = Reversal.write(root)
    config, error_rate = reversal.learn(root / "model", pairs=950, learning_rate=5e-3)
    return reversal, root / "model", config, error_rate


def test_a_scorer_learns_a_reversal_beside_a_frozen_random_model(folder, learned):
    reversal, taught, config, error_rate = learned
    assert error_rate < 10
    assert (config.trained_on["pairs"], config.trained_on["before"]) == (950, None)
    weights = (folder / "model.safetensors").read_bytes()
    assert (taught / "model.safetensors").read_bytes() == weights, "the translation model is frozen"
    source, target, _ = reversal.rows[-1]
    found = Translator.load(taught, device="cpu").align([(source, target)])[0].links
    assert sum(link.source + link.target == len(source.split()) - 1 for link in found) >= len(found) - 1


def test_a_scorer_goes_on_beside_the_weights_that_followed(learned, tmp_path):
    reversal, taught, config, error_rate = learned
    loaded = load_model_folder(taught)
    for weights in loaded.model.parameters():
        weights.data.mul_(1.01)
    following = tmp_path / "following"
    save_model_folder(
        following,
        config=loaded.config,
        model=loaded.model,
        tokenizer_file=taught / "tokenizer.model",
        generation=loaded.generation,
        card="",
        scores={},
    )
    few = {"pairs": 30, "learning_rate": 1e-5}
    _, from_nothing = reversal.learn(following, **few)
    resumed, from_ready = reversal.learn(following, **few, init_from=taught)
    assert from_ready < error_rate + 5 < from_nothing
    assert resumed.trained_on["before"] == config.trained_on
    assert resumed.weights_sha256 != config.weights_sha256
    assert Translator.load(following, device="cpu").align([reversal.rows[-1][:2]])[0].links


def test_a_scorer_to_begin_with_must_be_there_and_fit(folder, learned, tmp_path):
    reversal, taught, _, _ = learned
    with pytest.raises(ConfigError, match="no scorer to begin with; leave --init-from out"):
        reversal.learn(taught, pairs=10, init_from=folder)
    other = tmp_path / "other"
    other.mkdir()
    (other / "tokenizer.model").write_bytes(
        train_tokenizer(split_digits=True, user_defined_symbols=["zebra"])
    )
    save_tiny_model(other / "model", other / "tokenizer.model")
    with pytest.raises(ConfigError, match="other sub-words or other states"):
        reversal.learn(other / "model", pairs=10, init_from=taught)


def test_a_batch_is_padded_with_no_links(folder):
    loaded = load_model_folder(folder)
    lines = ["a dog\tun chien\t0-0 1-1\t0-0", "the cat is on the table\tle chat\t1-1\t1-1"]
    linked = collate(list(examples(lines, (loaded.tokenizer,) * 2, loaded.config, seed=3)), loaded.config)
    width_T, width_S = linked.batch.target_out_BT.size(1), linked.batch.source_BS.size(1)
    assert linked.forward_BTS.shape == (2, width_T - 1, width_S - 1)
    assert not linked.forward_BTS[~linked.batch.target_mask_BT[:, 1:]].any()
