"""Which target pieces go with which source pieces is learnt from what occurs together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from nmt.batch import Batch
from nmt.checkpoint import load_model_folder
from nmt.cli import main
from nmt.errors import DataError
from nmt.search import search
from nmt.shortlist import Shortlist
from nmt.tokenizer import Tokenizer
from tests.nmt.conftest import SENTENCES, save_tiny_model, train_tokenizer
from training.shortlist import ShortlistedDecoder, best_candidates, build_shortlist, learn_lexicon

# 10 -> 20, 11 -> 21 and 12 -> 22; 29 is in every target
PAIRS = [([10, 11], [20, 21, 29]), ([11, 12], [21, 22, 29]), ([10, 12], [22, 20, 29]), ([12], [22, 29])]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(train_tokenizer())


def test_the_best_candidate_of_each_piece_is_its_translation() -> None:
    candidates_VC = best_candidates(learn_lexicon(PAIRS, 30), 30, 2)

    assert candidates_VC[[10, 11, 12], 0].tolist() == [20, 21, 22]
    assert candidates_VC[5].tolist() == [-1, -1]


def test_probabilities_of_a_source_piece_sum_to_one() -> None:
    lexicon = learn_lexicon(PAIRS, 30)

    for source in (10, 11, 12):
        assert lexicon.probability_P[lexicon.source_P == source].sum() == pytest.approx(1, abs=1e-5)


def test_what_every_target_has_is_explained_by_the_empty_word() -> None:
    lexicon = learn_lexicon(PAIRS, 30)

    common = lexicon.probability_P[lexicon.target_P == 29]
    own = [
        lexicon.probability_P[(lexicon.source_P == s) & (lexicon.target_P == s + 10)] for s in (10, 11, 12)
    ]
    assert common.max() < min(float(value[0]) for value in own)


def test_a_corpus_of_long_lines_alone_is_refused() -> None:
    with pytest.raises(DataError, match="at most 60 pieces"):
        learn_lexicon([(list(range(61)), [1])], 100)


def test_bytes_eos_and_frequent_pieces_are_in_every_list(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode_batch(SENTENCES)

    shortlist = build_shortlist(tokenizer, list(zip(ids[::2], ids[1::2], strict=True)))

    always = set(shortlist.for_sources([[]]).tolist())
    assert {tokenizer.special.eos, tokenizer.piece_id("<0xE9>"), tokenizer.piece_id(".")} <= always
    assert not {tokenizer.special.pad, tokenizer.special.bos} & always


def test_a_decoder_writes_only_what_is_in_the_list_and_at_the_same_log_probability(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    file = tmp_path / "tokenizer.model"
    file.write_bytes(train_tokenizer())
    save_tiny_model(tmp_path / "model", file)
    loaded = load_model_folder(tmp_path / "model")
    special = loaded.config.special_ids
    source = [[40, 41, 42], [50]]
    whole = Shortlist(
        torch.arange(tokenizer.vocab_size, dtype=torch.int32),
        torch.full((tokenizer.vocab_size, 1), -1, dtype=torch.int32),
    )
    part = Shortlist(torch.arange(3, 90, dtype=torch.int32), whole.candidates_VC)
    options = loaded.generation.model_copy(update={"max_length_offset": 5, "repair_loops": False})

    def translate(decoder: object) -> list[tuple[tuple[int, ...], float]]:
        found = search(decoder, Batch.from_ids(source, special=special), options, special)
        return [(best.tokens, best.log_prob) for best, *_ in found]

    assert translate(ShortlistedDecoder(loaded.model, whole)) == translate(loaded.model)
    for tokens, _ in translate(ShortlistedDecoder(loaded.model, part)):
        assert tokens
        assert max(tokens) < 90


def test_the_command_adds_a_shortlist_and_prints_what_it_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer_file = tmp_path / "tokenizer.model"
    tokenizer_file.write_bytes(train_tokenizer())
    save_tiny_model(tmp_path / "model", tokenizer_file)
    (tmp_path / "a.en").write_text("\n".join(SENTENCES[::2]) + "\n", encoding="utf-8")
    (tmp_path / "a.fr").write_text("\n".join(SENTENCES[1::2]) + "\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("model", "a.en", "a.fr")]

    with pytest.raises(SystemExit) as status:
        main(["shortlist", files[0], *(2 * ["--source", files[1], "--target", files[2]]),
              "--dev-source", files[1], "--dev-reference", files[2], "--frequent", "5"])  # fmt: skip

    report = json.loads(capsys.readouterr().out)
    assert status.value.code == 0
    assert report["n_pairs"] == 20
    assert 0.8 < report["coverage"] <= 1
    assert 5 < report["mean_pieces"] < 380
    assert load_model_folder(tmp_path / "model").shortlist is not None
