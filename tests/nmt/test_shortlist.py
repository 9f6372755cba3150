"""A shortlist holds what a sentence can need, whatever else is in the batch, and its file is checked."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nmt.checkpoint import load_model_folder, save_shortlist
from nmt.errors import ModelFolderError
from nmt.shortlist import NONE, Shortlist, read_shortlist, write_shortlist
from nmt.tokenizer import Tokenizer
from tests.nmt.conftest import save_tiny_model


@pytest.fixture
def shortlist() -> Shortlist:
    """Of ten pieces: 1 and 3 always; source piece 5 goes with 8, source piece 6 with 7 and 9."""
    candidates_VC = torch.full((10, 2), NONE, dtype=torch.int32)
    candidates_VC[5, 0] = 8
    candidates_VC[6] = torch.tensor([7, 9])
    return Shortlist(torch.tensor([1, 3], dtype=torch.int32), candidates_VC)


def test_a_list_has_frequent_pieces_candidates_and_the_pieces_of_the_source(shortlist: Shortlist) -> None:
    assert shortlist.for_sources([[5]]).tolist() == [1, 3, 5, 8]
    assert shortlist.for_sources([[]]).tolist() == [1, 3]
    assert shortlist.for_sources([[6], [5, 5]]).tolist() == [1, 3, 5, 6, 7, 8, 9]


def test_what_else_is_required_is_in_it_once(shortlist: Shortlist) -> None:
    assert shortlist.for_sources([[5]], also=[2, 8]).tolist() == [1, 2, 3, 5, 8]


def test_a_sentence_may_write_its_own_pieces_alone_in_any_company(shortlist: Shortlist) -> None:
    sources = [[6], [5]]
    ids_U = shortlist.for_sources(sources)

    allowed_BU = ~shortlist.forbidden(sources, ids_U)

    for source, allowed_U in zip(sources, allowed_BU, strict=True):
        assert ids_U[allowed_U].tolist() == shortlist.for_sources([source]).tolist()


def test_it_is_the_same_after_writing_and_reading(shortlist: Shortlist, tmp_path: Path) -> None:
    write_shortlist(tmp_path / "s", shortlist)

    again = read_shortlist(tmp_path / "s", 10)

    assert torch.equal(again.always_A, shortlist.always_A)
    assert torch.equal(again.candidates_VC, shortlist.candidates_VC)


def test_one_of_another_vocabulary_is_refused(shortlist: Shortlist, tmp_path: Path) -> None:
    write_shortlist(tmp_path / "s", shortlist)

    with pytest.raises(ModelFolderError, match="for a vocabulary of 10 pieces, the model has 11"):
        read_shortlist(tmp_path / "s", 11)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b"nothing")

    with pytest.raises(ModelFolderError, match="not a readable shortlist"):
        read_shortlist(tmp_path / "s", 10)


def test_a_model_folder_keeps_one_and_its_manifest_guards_it(
    tmp_path: Path, tokenizer_file: Path, tokenizer: Tokenizer
) -> None:
    folder = tmp_path / "tiny"
    save_tiny_model(folder, tokenizer_file)
    assert load_model_folder(folder).shortlist is None
    candidates_VC = torch.full((tokenizer.vocab_size, 1), NONE, dtype=torch.int32)

    save_shortlist(folder, Shortlist(torch.tensor([3], dtype=torch.int32), candidates_VC))

    loaded = load_model_folder(folder).shortlist
    assert loaded is not None
    assert loaded.for_sources([[5]]).tolist() == [3, 5]
    path = folder / "shortlist.safetensors"
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(bytes(damaged))
    with pytest.raises(ModelFolderError, match=r"shortlist\.safetensors: corrupt"):
        load_model_folder(folder)
