"""Which attention links best is found by words that both sides spell alike."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nmt.alignment.probe import LEAST, anchors, probe
from nmt.alignment_choice import choose_attention
from nmt.errors import ConfigError, DataError
from nmt.model_folder.checkpoint import load_model_folder, resolve_model, write_manifest
from nmt.text.words import words
from nmt.translator import Translator

PAIRS = [
    (f"In {year} {name} met {other} in {place}.", f"En {year}, {name} a rencontré {other} à {place}.")
    for year, name, other, place in zip(
        range(1950, 1980),
        ["Anna", "Boris", "Clara", "David", "Emma", "Félix"] * 5,
        ["Nadia", "Oscar", "Paula", "Quentin", "Rosa"] * 6,
        ["Paris", "Berlin", "Madrid"] * 10,
        strict=True,
    )
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The model that ships without its link scorer."""
    shutil.copytree(resolve_model("general"), tmp_path / "model")
    for file in (tmp_path / "model").glob("aligner.*"):
        file.unlink()
    write_manifest(tmp_path / "model")
    return tmp_path / "model"


def test_words_that_occur_once_on_each_side_are_anchors():
    source, target = (
        words("Ruth, in 1998, met Ruth and Tom."),
        words("En 1998, Ruth a rencontré Ruth et TOM."),
    )
    found = anchors(source, target)
    assert [(target[i].text, source[j].text) for i, j in found] == [("1998", "1998"), ("TOM", "Tom")]
    assert anchors(words("yes, no"), words("oui, non")) == []


def test_a_layer_that_looks_everywhere_comes_last(folder: Path):
    translator = Translator.load(folder)
    blind = translator.aligner.model.decoder_layers[0].cross_attention.query  # type: ignore[attr-defined, index, union-attr]
    blind.weight.zero_(), blind.bias.zero_()  # type: ignore[operator, union-attr]
    encode = translator.tokenizer.encode_pieces
    scores = probe(translator.aligner, [((one, encode(one)), (other, encode(other))) for one, other in PAIRS])
    of = {(one.layer, one.head): one.n_right for one in scores}
    n_layers = len(translator.aligner.model.decoder_layers)  # type: ignore[attr-defined, arg-type]
    assert {layer for layer, _ in of} == set(range(n_layers))
    assert [one.n_right for one in scores] == sorted(of.values(), reverse=True)
    assert of[n_layers - 1, None] >= 0.8 * scores[0].n_anchors
    assert of[0, None] <= 0.4 * scores[0].n_anchors


def test_the_choice_is_written_and_used(folder: Path, tmp_path: Path):
    for name, side in (("source", 0), ("target", 1)):
        (tmp_path / name).write_text("".join(pair[side] + "\n" for pair in PAIRS), encoding="utf-8")
    best = choose_attention(str(folder), tmp_path / "source", tmp_path / "target")[0]
    written = json.loads((folder / "config.json").read_text())["alignment"]
    assert written == {"layer": best.layer, "heads": None if best.head is None else [best.head]}
    assert load_model_folder(folder).config.alignment.layer == best.layer


def test_what_cannot_tell(folder: Path, tmp_path: Path):
    (tmp_path / "few").write_text("Good morning.\n" * 3)
    (tmp_path / "fewer").write_text("Bonjour.\n")
    with pytest.raises(DataError, match=f"at least {LEAST} are needed"):
        choose_attention(str(folder), tmp_path / "few", None)
    with pytest.raises(DataError, match=r"has 3 lines and .*fewer 1; they must be parallel"):
        choose_attention(str(folder), tmp_path / "few", tmp_path / "fewer")
    with pytest.raises(ConfigError, match="has a link scorer"):
        choose_attention("general", tmp_path / "few", None)
