"""The link scorer in a model folder: it aligns, it is verified, and without one attention does as before."""

from __future__ import annotations

import pytest
import torch

from nmt.alignment.aligner import Aligner
from nmt.alignment.scorer import LinkScorer, TrainedAligner
from nmt.alignment.scorer_config import AlignerConfig, LinkRule, ScorerConfig
from nmt.config import AlignmentConfig, GenerationConfig
from nmt.errors import ModelFolderError, TextTooLongError
from nmt.model_folder.checkpoint import (
    ALIGNER,
    ALIGNER_WEIGHTS,
    WEIGHTS,
    load_model_folder,
    save_aligner,
    verify_manifest,
    write_manifest,
)
from nmt.model_folder.files import sha256
from nmt.options import TranslationOptions
from nmt.translator import Translator
from tests.nmt.conftest import SENTENCES, save_tiny_model, tiny_config, tiny_model

PAIRS = [(SENTENCES[0], SENTENCES[1]), ("", SENTENCES[3]), (SENTENCES[4], SENTENCES[5])]


def tiny_aligner(weights_sha256):
    sizes = ScorerConfig(
        d_model=16, vocab_size=380, d_link=16, d_ff=32, n_heads=2, n_scores=4, d_neighbours=4
    )
    torch.manual_seed(5)
    config = AlignerConfig(
        weights_sha256=weights_sha256,
        scorer=sizes,
        rule=LinkRule(threshold=0.01),
        trained_on={"pairs": 1},
        measured={},
    )
    return TrainedAligner(config, LinkScorer(sizes).eval())


@pytest.fixture
def folder(tmp_path, tokenizer_file):
    save_tiny_model(tmp_path / "model", tokenizer_file)
    save_aligner(tmp_path / "model", tiny_aligner(sha256(tmp_path / "model" / WEIGHTS)))
    return tmp_path / "model"


def test_a_folder_gives_back_the_scorer_in_half_precision(folder):
    loaded = load_model_folder(folder).aligner
    saved = tiny_aligner(sha256(folder / WEIGHTS))
    assert loaded.config == saved.config
    assert not loaded.scorer.training
    for one, other in zip(loaded.scorer.parameters(), saved.scorer.parameters(), strict=True):
        assert torch.equal(one, other.half().float())


def test_links_come_from_the_scorer_and_from_attention_when_a_layer_is_named(folder):
    translator = Translator.load(folder, device="cpu")
    scored = translator.align(PAIRS)
    attended = translator.align(PAIRS, attention=AlignmentConfig(layer=0))
    (folder / ALIGNER).unlink()
    (folder / ALIGNER_WEIGHTS).unlink()
    write_manifest(folder)
    without = Translator.load(folder, device="cpu")
    assert without.align(PAIRS, attention=AlignmentConfig(layer=0)) == attended
    assert without.align(PAIRS)[0].matrix != scored[0].matrix
    assert scored[0].links
    assert all(0 <= link.score <= 1 for link in scored[0].links)


def test_a_blank_side_has_no_links_and_does_not_disturb_its_neighbours(folder):
    translator = Translator.load(folder, device="cpu")
    alone = [translator.align([pair])[0] for pair in PAIRS]
    together = translator.align(PAIRS)
    assert together[1].links == ()
    assert [[(link.source, link.target) for link in one.links] for one in together] == [
        [(link.source, link.target) for link in one.links] for one in alone
    ]


def test_every_row_of_the_matrix_sums_to_one_or_zero(folder):
    for alignment in Translator.load(folder, device="cpu").align(PAIRS):
        assert len(alignment.matrix) == len(alignment.target_tokens)
        for row in alignment.matrix:
            assert sum(row) == pytest.approx(1, abs=1e-5) or sum(row) == 0


def test_the_scorer_never_changes_a_translation(folder):
    translator = Translator.load(folder, device="cpu")
    texts = SENTENCES[:4:2]
    options = GenerationConfig(beam_size=1, max_length_offset=1, max_length_ratio=1)
    with_links = translator.translate(texts, TranslationOptions(alignment="soft", generation=options))
    assert [found.text for found in with_links] == [
        found.text for found in translator.translate(texts, TranslationOptions(generation=options))
    ]


def test_as_many_pieces_as_the_model_has_positions_are_aligned_and_one_more_is_refused(tokenizer):
    model = tiny_model(tiny_config(tokenizer, max_positions=11))
    aligner = Aligner(
        model,
        tokenizer,
        AlignmentConfig(),
        tokenizer.special,
        max_tokens=11,
        trained=tiny_aligner("0" * 64),
    )
    ((forward_TS, _),) = aligner.shares([[5] * 10], [[6] * 3])
    assert forward_TS.shape == (3, 10)
    with pytest.raises(TextTooLongError, match="11 tokens on one side"):
        aligner.shares([[5] * 11], [[6] * 3])


@pytest.mark.parametrize("name", [ALIGNER, ALIGNER_WEIGHTS])
def test_a_changed_byte_is_an_error_that_names_the_file(folder, name):
    data = bytearray((folder / name).read_bytes())
    data[-1] ^= 1
    (folder / name).write_bytes(bytes(data))
    with pytest.raises(ModelFolderError, match=f"{name}: corrupt"):
        verify_manifest(folder)


def test_a_scorer_of_other_weights_is_refused(folder):
    save_aligner(folder, tiny_aligner("0" * 64))
    with pytest.raises(ModelFolderError, match=r"SHA-256 begins 000000000000.*nmt align-train"):
        load_model_folder(folder)


def test_a_scorer_of_another_shape_is_refused(folder):
    config = (folder / ALIGNER).read_text().replace('"d_neighbours": 4', '"d_neighbours": 8')
    (folder / ALIGNER).write_text(config)
    write_manifest(folder)
    with pytest.raises(ModelFolderError, match=r"aligner.json asks for"):
        load_model_folder(folder)


def test_a_model_saved_anew_has_no_scorer_of_its_former_weights(folder, tokenizer_file):
    save_tiny_model(folder, tokenizer_file)
    assert not (folder / ALIGNER).exists()
    assert not (folder / ALIGNER_WEIGHTS).exists()
    assert load_model_folder(folder).aligner is None
