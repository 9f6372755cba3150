"""Training on from imported models: Marian's shape, one vocabulary or two, and languages as pieces."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from nmt.errors import ConfigError, UnsupportedLanguageError
from nmt.importers.read import import_checkpoint
from nmt.model_folder.checkpoint import LoadedModel, load_model_folder
from nmt.options import TranslationOptions
from nmt.pipeline.requests import Search
from nmt.translator import Translator
from testbed.corpora import PAIRS
from tests.nmt.importers.checkpoints import make_marian, make_multilingual
from tests.nmt.importers.test_marian import write_marian
from training.align.train import AlignTrainingOptions, align_train
from training.average import average_run
from training.data.shards import PreparedCorpus
from training.train import train

KINDS: dict[str, Callable[[Path], object]] = {
    "opus-mt": make_marian,
    "opus-mt separate": lambda folder: make_marian(folder, separate=True),
    "opus-mt several targets": lambda folder: make_marian(folder, targets=["fra", "deu"]),
    "marian": write_marian,
    "nllb": lambda folder: make_multilingual(folder, nllb=True),
}
UPDATES = 30


def write_pairs(folder: Path) -> Path:
    folder.mkdir()
    for name, pairs in (("train", PAIRS[:70]), ("dev", PAIRS[70:])):
        text = "".join(f"{source}\t{target}\n" for source, target in pairs)
        (folder / f"{name}.tsv").write_text(text, encoding="utf-8")
    return folder


def imported(kind: str, folder: Path) -> Path:
    KINDS[kind](folder / "theirs")
    return import_checkpoint(str(folder / "theirs"), folder / "ours", read="en", write="fr")


def adapt(model: Path, folder: Path, *more: str) -> Path:
    settings = {
        "data.dir": folder / "pairs",
        "training.max_updates": UPDATES,
        "training.learning_rate": 0.003,
        "training.batch_tokens": 256,
        "training.log_every": 1,
        "generation.beam_size": 1,
    }
    overrides = [*(f"{key}={value}" for key, value in settings.items()), *more]
    return train("adapt", folder / "run", overrides=overrides, init_from=str(model))


def losses(run: Path, event: str) -> list[float]:
    lines = map(json.loads, (run / "log.jsonl").read_text().splitlines())
    return [line["loss"] for line in lines if line["event"] == event]


def found_by(folder: Path, engine: str) -> list[tuple[tuple[int, ...], float]]:
    """What greedy search writes, and its score."""
    translator = Translator.load(folder, engine=engine, device="cpu", source="en", target="fr")
    greedy = translator.generation.model_copy(update={"beam_size": 1, "repair_loops": False})
    asked = [Search(tuple(translator.source_tokenizer.encode(source)), greedy) for source, _ in PAIRS[:20]]
    found = translator.answerer.searcher.search(asked, max_batch_tokens=1024)
    return [(tuple(best.tokens), best.score) for best, *_ in found]


@pytest.mark.parametrize(
    "kind",
    [kind if kind == "opus-mt" else pytest.param(kind, marks=pytest.mark.exhaustive) for kind in KINDS],
)
def test_an_imported_model_is_adapted_and_translates_by_both_engines(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PASSERELLE_CACHE", str(tmp_path / "cache"))
    write_pairs(tmp_path / "pairs")
    before = load_model_folder(imported(kind, tmp_path))
    published = adapt(before.folder, tmp_path)
    on_dev, on_train = (losses(tmp_path / "run", event) for event in ("validation", "train"))
    assert on_dev[-1] < 0.85 * on_dev[0]
    assert on_train[-1] < on_train[0]
    assert on_train[0] < 2 * math.log(before.config.model.vocab_size), "pieces never generated have no loss"
    average_run(tmp_path / "run", 1, tmp_path / "after")
    after = load_model_folder(tmp_path / "after")
    for folder in (published, after.folder):
        _has_the_sub_words_of(load_model_folder(folder), before)
    begun, ended = before.model.state_dict(), after.model.state_dict()
    assert all(not torch.equal(weight, ended[name]) for name, weight in begun.items())
    pairs = zip(found_by(after.folder, "float32"), found_by(after.folder, "eager"), strict=True)
    equal = [
        tokens == others and score == pytest.approx(other, abs=1e-3)
        for (tokens, score), (others, other) in pairs
    ]
    assert sum(equal) >= 19, "two scores may be equal but for rounding"


def _has_the_sub_words_of(loaded: LoadedModel, other: LoadedModel) -> None:
    assert loaded.config.special_ids == other.config.special_ids
    assert loaded.config.language_pieces == other.config.language_pieces
    text = "Her brother finds a red car."
    assert loaded.source_tokenizer.encode(text) == other.source_tokenizer.encode(text)
    assert loaded.tokenizer.encode(text) == other.tokenizer.encode(text)


def test_a_corpus_has_the_ids_of_both_sides(tmp_path: Path):
    """Each side by its own vocabulary, the piece of the language before the source."""
    write_pairs(tmp_path / "pairs")
    loaded = load_model_folder(imported("nllb", tmp_path))
    adapt(loaded.folder, tmp_path, "training.max_updates=1")
    corpus = PreparedCorpus.open(tmp_path / "run" / "data", verify=True)
    dev = corpus.split("dev")
    for index, (source, target) in enumerate(PAIRS[70:]):
        assert dev.source(index).tolist() == loaded.source_tokenizer.encode(source)
        assert dev.target(index).tolist() == loaded.tokenizer.encode(target)
    assert loaded.source_tokenizer.pieces[int(dev.source(0)[0])] == "eng_Latn"


def test_what_needs_pieces_of_ours_is_refused_and_a_pair_that_is_not_there(tmp_path: Path):
    write_pairs(tmp_path / "pairs")
    folder = imported("nllb", tmp_path)
    with pytest.raises(
        ConfigError, match=r"training\.attention_links = links\.tsv is not there for an imported"
    ):
        adapt(folder, tmp_path, "training.attention_links=links.tsv", "alignment.heads=[0]")
    with pytest.raises(UnsupportedLanguageError, match="not 'en' to 'ja'"):
        adapt(folder, tmp_path, "data.target_language=ja")
    assert not (tmp_path / "run").exists()


def test_a_link_scorer_is_learnt_beside_an_imported_model(tmp_path: Path):
    folder = imported("opus-mt", tmp_path)
    rows = [f"{source}\t{target}\t0-0 1-1 2-2\t0-0 1-1 2-2\n" for source, target in PAIRS]
    (tmp_path / "links.tsv").write_text("".join(rows * 4), encoding="utf-8")
    config = align_train(folder, tmp_path / "links.tsv", options=AlignTrainingOptions(learning_rate=1e-3))
    assert 0 < float(config.trained_on["loss"]) < 10
    translator = Translator.load(folder, engine="eager", device="cpu")
    (found,) = translator.translate(
        ["My dog eats an apple."], TranslationOptions(alignment="links", quality="fast")
    )
    assert translator.aligner.trained is not None
    assert found.links is not None


def test_a_link_scorer_of_two_vocabularies_is_refused_by_name(tmp_path: Path):
    folder = imported("opus-mt separate", tmp_path)
    (tmp_path / "links.tsv").write_text("a\tb\t0-0\t0-0\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="each side has a vocabulary of its own"):
        align_train(folder, tmp_path / "links.tsv")
