"""CTranslate2 as a searcher finds what the reference finds, and leaves to it what it cannot do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.config import GenerationConfig, SamplingConfig
from nmt.errors import ConfigError, NumericalError
from nmt.export.ctranslate2 import export_ctranslate2
from nmt.model_folder.checkpoint import LoadedModel, load_model_folder, resolve_model
from nmt.pipeline.requests import Followers, NextPieces, Search
from nmt.search import Hypothesis
from nmt.searchers.cache import SUMS, cached_export
from nmt.searchers.ctranslate2 import CTranslate2Searcher, load_ctranslate2
from nmt.searchers.step import StepSearcher
from nmt.text.placeholders import PLACEHOLDERS
from nmt.text.word_pieces import WordPieces
from nmt.translator import Translator

CPU = torch.device("cpu")
TEXTS = (
    "The little girl is eating an apple.",
    "We are waiting for the train to Paris, which is late again.",
    "Thank you very much.",
    "The European Parliament has adopted a resolution on the protection of the environment.",
    "My brother did not come because he was ill.",
)


class Watched:
    """A searcher that knows what it was asked."""

    def __init__(self, searcher: StepSearcher) -> None:
        self.searcher = searcher
        self.asked: list[Search] = []

    def search(self, asked: Sequence[Search], *, max_batch_tokens: int) -> list[list[Hypothesis]]:
        self.asked += asked
        return self.searcher.search(asked, max_batch_tokens=max_batch_tokens)

    def next_pieces(self, asked: NextPieces) -> list[Followers]:
        return self.searcher.next_pieces(asked)


@pytest.fixture(scope="module")
def loaded() -> LoadedModel:
    return load_model_folder(resolve_model("general"), CPU)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def searchers(
    loaded: LoadedModel, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[CTranslate2Searcher, Watched]:
    monkeypatch.setenv("PASSERELLE_CACHE", str(cache))
    ids = tuple(loaded.tokenizer.pieces.index(piece) for piece in PLACEHOLDERS)
    steps = Watched(StepSearcher(loaded.model, loaded.config.special_ids, ids, CPU))
    translator = load_ctranslate2(loaded, CPU, "float32", 2)
    return CTranslate2Searcher(translator, loaded, steps, 2), steps


def asked(loaded: LoadedModel, texts: Sequence[str] = TEXTS, **options: Any) -> list[Search]:
    generation = loaded.generation.model_copy(update=options)
    return [Search(tuple(loaded.tokenizer.encode(text)), generation) for text in texts]


@pytest.mark.parametrize("options", [{"beam_size": 1}, {"beam_size": 5}, {"beam_size": 4, "n_best": 3}])
def test_hypotheses_are_those_of_the_reference(
    options: dict[str, int], loaded: LoadedModel, searchers: tuple[CTranslate2Searcher, Watched]
):
    searcher, steps = searchers
    searches = asked(loaded, **options)
    found = searcher.search(searches, max_batch_tokens=4096)
    assert steps.asked == []
    for ours, theirs in zip(found, steps.searcher.search(searches, max_batch_tokens=4096), strict=True):
        assert [one.tokens for one in ours] == [one.tokens for one in theirs]
        for one, other in zip(ours, theirs, strict=True):
            assert one.log_prob == pytest.approx(other.log_prob, abs=1e-3)
            assert one.score == pytest.approx(other.score, abs=1e-3)
            assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-3)
            assert one.finished


@pytest.mark.parametrize("options", [{"beam_size": 1}, {"beam_size": 5}, {"beam_size": 4, "n_best": 3}])
def test_without_scores_of_tokens_the_hypotheses_are_the_same(
    options: dict[str, int],
    loaded: LoadedModel,
    searchers: tuple[CTranslate2Searcher, Watched],
    monkeypatch: pytest.MonkeyPatch,
):
    searcher, _ = searchers
    searches = asked(loaded, **options)
    expected = searcher.search(searches, max_batch_tokens=4096)
    scored: list[object] = []
    score = searcher._score
    monkeypatch.setattr(searcher, "_score", lambda kept: scored.extend(kept) or score(kept))
    mixed = [replace(one, n_scored=None if number == 2 else 0) for number, one in enumerate(searches)]
    found = searcher.search(mixed, max_batch_tokens=4096)
    assert len(scored) == options.get("n_best", 1), "of one sentence alone"
    for number, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        assert [one.tokens for one in ours] == [one.tokens for one in theirs]
        for one, other in zip(ours, theirs, strict=True):  # forbidden pieces count in a forced pass
            assert one.log_prob == pytest.approx(other.log_prob, abs=1e-2)
            assert one.score == pytest.approx(other.score, abs=1e-2)
            assert bool(one.token_log_probs) == (number == 2)


@pytest.mark.parametrize(
    "options",
    [
        {"sampling": SamplingConfig()},
        {"coverage_penalty": 0.2},
        {"max_length_ratio": 0.1, "max_length_offset": 1},
    ],
    ids=["sampling", "coverage", "a limit that ends it"],
)
def test_what_it_cannot_do_is_searched_by_the_reference(
    options: dict[str, Any], loaded: LoadedModel, searchers: tuple[CTranslate2Searcher, Watched]
):
    searcher, steps = searchers
    plain, other = asked(loaded, TEXTS[:1])[0], asked(loaded, TEXTS[1:2], **options)[0]
    found = searcher.search([plain, other], max_batch_tokens=4096)
    assert steps.asked == [other]
    assert found[1] == steps.searcher.search([other], max_batch_tokens=4096)[0]


def test_given_beginnings_are_continued_as_by_the_reference(
    loaded: LoadedModel, searchers: tuple[CTranslate2Searcher, Watched]
):
    searcher, steps = searchers
    prefixes = ["La jeune fille mange", "En attendant", "Merci", "Le Parlement", "Mon frère n'est pas venu"]
    searches = [
        replace(one, prefix=tuple(loaded.tokenizer.subwords(prefix)))
        for n_best in (1, 3)
        for one, prefix in zip(asked(loaded, n_best=n_best), prefixes, strict=True)
    ]
    found = searcher.search(searches, max_batch_tokens=4096)
    assert steps.asked == []
    theirs = steps.searcher.search(searches, max_batch_tokens=4096)
    for one, ours, reference in zip(searches, found, theirs, strict=True):
        assert ours[0].tokens == reference[0].tokens
        assert ours[0].tokens[: len(one.prefix)] == one.prefix
        assert ours[0].token_log_probs == pytest.approx(reference[0].token_log_probs, abs=1e-3)
        assert len(ours) <= one.options.n_best
        assert [one.score for one in ours] == sorted((one.score for one in ours), reverse=True)


def test_a_long_beginning_leaves_room_for_the_rest(
    loaded: LoadedModel, searchers: tuple[CTranslate2Searcher, Watched]
):
    searcher, steps = searchers
    [search] = asked(loaded, TEXTS[:1])
    [[free]] = searcher.search([search], max_batch_tokens=4096)
    tight = {"max_length_ratio": 1e-6, "max_length_offset": len(free.tokens) - 1}
    options = search.options.model_copy(update=tight)
    begun = replace(search, prefix=free.tokens[:-2], options=options)
    [[found]] = searcher.search([begun], max_batch_tokens=4096)
    assert steps.asked == [], "the limit counts the beginning once"
    assert found.tokens == free.tokens


def test_what_goes_on_with_the_last_word_of_a_beginning_is_never_found(
    loaded: LoadedModel,
    searchers: tuple[CTranslate2Searcher, Watched],
    monkeypatch: pytest.MonkeyPatch,
):
    searcher, _ = searchers
    for n_best in (1, 3):
        [search] = asked(loaded, TEXTS[:1], n_best=n_best)
        [[free, *_]] = searcher.search([search], max_batch_tokens=4096)
        with monkeypatch.context() as patch:
            never = free.tokens[2:3]
            patch.setattr(WordPieces, "never_after", lambda _self, prefix, n=never: n if prefix else ())
            begun = replace(search, prefix=free.tokens[:2])
            [found] = searcher.search([begun], max_batch_tokens=4096)
        assert {one.tokens[:2] for one in found} == {free.tokens[:2]}
        assert all(one.tokens[2] != free.tokens[2] for one in found)


def test_next_pieces_are_those_of_the_reference(
    loaded: LoadedModel, searchers: tuple[CTranslate2Searcher, Watched]
):
    searcher, steps = searchers
    source = tuple(loaded.tokenizer.encode(TEXTS[0]))
    ends = tuple(loaded.tokenizer.subwords("La petite fille mange une pomme."))
    for prefixes in (((),), (ends, ends[:-1] + ends[:1])):
        question = NextPieces(source, prefixes, 5)
        for ours, theirs in zip(
            searcher.next_pieces(question), steps.searcher.next_pieces(question), strict=True
        ):
            assert [id_ for id_, _ in ours[:5]] == [id_ for id_, _ in theirs]
            assert [share for _, share in ours[:5]] == pytest.approx([share for _, share in theirs], abs=2e-3)
    [after, _] = searcher.next_pieces(question)
    assert after[0][0] == loaded.config.special_ids.eos


def test_required_placeholders_are_each_written_once_and_no_others(
    loaded: LoadedModel, searchers: tuple[CTranslate2Searcher, Watched]
):
    searcher, _ = searchers
    pieces = loaded.tokenizer.pieces
    first, second = (pieces.index(piece) for piece in PLACEHOLDERS[:2])
    (one, both) = asked(loaded, ["Send it to ⟦0⟧ today.", "From ⟦0⟧ to ⟦1⟧ by train."])
    searches = [replace(one, required=(first,)), replace(both, required=(first, second)), *asked(loaded)]
    reserved = {pieces.index(piece) for piece in PLACEHOLDERS}
    for search, (best, *_) in zip(searches, searcher.search(searches, max_batch_tokens=4096), strict=True):
        assert sorted(reserved.intersection(best.tokens)) == sorted(search.required)
        assert all(best.tokens.count(id_) == 1 for id_ in search.required)


def test_a_missing_placeholder_is_written_into_the_translation(
    loaded: LoadedModel, searchers: tuple[CTranslate2Searcher, Watched]
):
    searcher, steps = searchers
    pieces = loaded.tokenizer.pieces
    unasked = tuple(pieces.index(piece) for piece in PLACEHOLDERS[6:8])
    search = replace(asked(loaded)[0], required=unasked)
    ((best, *_),) = searcher.search([search], max_batch_tokens=4096)
    assert steps.asked == []
    assert [best.tokens.count(id_) for id_ in unasked] == [1, 1]
    (plain,) = searcher.search(asked(loaded)[:1], max_batch_tokens=4096)
    rest = [token for token in best.tokens if token not in unasked]
    # How much of the plain translation stays hangs on the processor's arithmetic: a quarter shows it is one.
    assert len(set(rest) & set(plain[0].tokens)) >= 0.25 * len(set(plain[0].tokens))


def test_a_placeholder_that_stays_missing_is_searched_for_by_the_reference(
    loaded: LoadedModel, searchers: tuple[CTranslate2Searcher, Watched], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("nmt.searchers.ctranslate2.PREFIXES", 0)
    searcher, steps = searchers
    unasked = loaded.tokenizer.pieces.index(PLACEHOLDERS[7])
    search = replace(asked(loaded)[0], required=(unasked,))
    ((best, *_),) = searcher.search([search], max_batch_tokens=4096)
    assert steps.asked == [search]
    assert best.tokens.count(unasked) == 1


def test_a_placeholder_stands_where_it_costs_least_and_what_is_wrong_before_it_goes(
    loaded: LoadedModel, searchers: tuple[CTranslate2Searcher, Watched]
):
    searcher, _ = searchers
    pieces = loaded.tokenizer.pieces
    first, second = PLACEHOLDERS[:2]
    search = replace(
        asked(loaded, [f"The {first} is in {second}."])[0],
        required=(pieces.index(first), pieces.index(second)),
    )
    twice = [first, *(pieces[id_] for id_ in loaded.tokenizer.encode(" est là")), first, "</s>"]
    (prefix,) = searcher._prefixes([search], {0: twice}, {}).values()
    scored = searcher._translator.score_batch(
        [[pieces[id_] for id_ in search.source_ids]] * (len(twice) - 1),
        [[*twice[:place], second] for place in range(len(twice) - 1)],
    )
    written = searcher._translator.score_batch([[pieces[id_] for id_ in search.source_ids]], [twice[:-2]])
    costs = [written[0].log_probs[place] - one.log_probs[place] for place, one in enumerate(scored)]
    assert prefix == [*twice[: costs.index(min(costs))], second]
    (fixed,) = searcher._prefixes([search], {0: twice}, {0: twice[:2]}).values()
    assert fixed[:2] == twice[:2]
    assert fixed[-1] == second
    (whole,) = searcher._prefixes([search], {0: [first, second, first, "</s>"]}, {}).values()
    assert whole == [first, second]


def test_nan_in_the_weights_is_an_error(loaded: LoadedModel, cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PASSERELLE_CACHE", str(cache))
    broken = load_model_folder(resolve_model("general"), CPU)
    broken.model.state_dict()["decoder_norm.weight"].fill_(torch.nan)
    with pytest.raises(NumericalError, match="model general: a weight is NaN"):
        load_ctranslate2(broken, CPU, "float32", 1)


def test_nan_in_what_is_computed_is_an_error(
    loaded: LoadedModel, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PASSERELLE_CACHE", str(cache))
    huge = load_model_folder(resolve_model("general"), CPU)
    huge.model.state_dict()["encoder_norm.weight"].fill_(3e38)
    steps = StepSearcher(huge.model, huge.config.special_ids)
    searcher = CTranslate2Searcher(load_ctranslate2(huge, CPU, "float32", 1), huge, steps, 1)
    with pytest.raises(NumericalError, match="NaN"):
        searcher.search(asked(loaded)[:1], max_batch_tokens=4096)


def test_exporting_leaves_the_model_as_it_is(loaded: LoadedModel, tmp_path: Path):
    before = {name: weight.clone() for name, weight in loaded.model.state_dict().items()}
    for compute_type in ("int8", "float16"):
        (tmp_path / compute_type).mkdir()
        export_ctranslate2(loaded, tmp_path / compute_type, compute_type)
    assert all(torch.equal(weight, before[name]) for name, weight in loaded.model.state_dict().items())


@pytest.mark.parametrize(("engine", "least"), [("float32", 1.0), ("int8", 0.8)])
def test_a_translator_with_this_engine_translates_as_the_model_does(
    engine: str, least: float, loaded: LoadedModel, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    """Word for word, or nearly: which words int8 changes hangs on the processor's arithmetic."""
    monkeypatch.setenv("PASSERELLE_CACHE", str(cache))
    by_steps, by_ctranslate2 = (Translator(loaded, engine=one) for one in ("eager", engine))
    text = ["See https://example.org at 10:30. <b>Thank you!</b>", *TEXTS]
    ours = [one.text for one in by_steps.translate(text)]
    theirs = [one.text for one in by_ctranslate2.translate(text)]
    assert "https://example.org" in theirs[0]
    alike = [
        SequenceMatcher(None, one.split(), other.split()).ratio()
        for one, other in zip(ours, theirs, strict=True)
    ]
    assert sum(alike) / len(alike) >= least, list(zip(ours, theirs, strict=True))


def test_a_damaged_export_is_made_again_and_a_whole_one_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PASSERELLE_CACHE", str(tmp_path))
    made: list[Path] = []

    def export(folder: Path) -> None:
        made.append(folder)
        (folder / "model.bin").write_bytes(b"weights")

    folder = cached_export("kind", "key", export)
    assert folder == cached_export("kind", "key", export) == tmp_path / "kind" / "key"
    assert len(made) == 1
    (folder / "model.bin").write_bytes(b"weightz")
    assert cached_export("kind", "key", export) == folder
    (folder / SUMS).unlink()
    assert cached_export("kind", "key", export) == folder
    assert len(made) == 3
    assert [path.name for path in folder.parent.iterdir()] == ["key"]


def test_a_cache_that_cannot_be_written_is_told_by_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PASSERELLE_CACHE", str(tmp_path / "file"))
    assert cached_export("kind", "key", lambda folder: None) is None


def test_without_a_cache_the_model_is_exported_to_a_temporary_folder(
    loaded: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PASSERELLE_CACHE", str(tmp_path / "file"))
    searcher = CTranslate2Searcher(
        load_ctranslate2(loaded, CPU, "float32", 1),
        loaded,
        StepSearcher(loaded.model, loaded.config.special_ids, (), CPU),
        1,
    )
    (found,) = searcher.search(asked(loaded)[:1], max_batch_tokens=4096)
    assert found[0].finished


def test_a_model_that_ctranslate2_cannot_load_is_an_error_or_with_auto_searched_by_itself(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("no such model")

    monkeypatch.setattr("ctranslate2.Translator", refuse)
    with pytest.raises(ConfigError, match="engine int8: CTranslate2: no such model; choose eager"):
        Translator(loaded, engine="int8")
    translator = Translator(loaded)
    assert (translator.engine.name, "no such model" in translator.engine.why) == ("eager", True)
    assert translator.translate(TEXTS[2:3])[0].text


def test_options_without_any_search_give_nothing(searchers: tuple[CTranslate2Searcher, Watched]):
    assert searchers[0].search([], max_batch_tokens=4096) == []


def test_generation_options_are_those_of_the_request(
    loaded: LoadedModel, searchers: tuple[CTranslate2Searcher, Watched]
):
    searcher, _ = searchers
    greedy, beam = asked(loaded, TEXTS[:1], beam_size=1)[0], asked(loaded, TEXTS[:1], n_best=5)[0]
    assert isinstance(greedy.options, GenerationConfig)
    assert [len(found) for found in searcher.search([greedy, beam], max_batch_tokens=4096)] == [1, 5]
