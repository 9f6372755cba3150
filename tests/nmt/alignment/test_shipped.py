"""The classic figure, by the model that ships: words in reversed order are linked across."""

from __future__ import annotations

import pytest

from nmt.model_folder.checkpoint import ALIGNER, resolve_model
from nmt.translator import Translator

SOURCE = "The agreement on the European Economic Area was signed in August 1992."
TARGET = "L'accord sur la zone économique européenne a été signé en août 1992."


@pytest.mark.skipif(not (resolve_model() / ALIGNER).exists(), reason="the model that ships has no aligner")
def test_european_economic_area_is_linked_in_reversed_order():
    alignment = Translator.load(device="cpu").align([(SOURCE, TARGET)], whitespace=False)[0]
    source = [token.text for token in alignment.source_tokens]
    target = [token.text for token in alignment.target_tokens]
    links = {(source[link.source], target[link.target]) for link in alignment.links}
    right = {("European", "européenne"), ("Economic", "économique"), ("Area", "zone")}
    assert right <= links
    crossed = {(one, other) for one, other in links if one in {"European", "Economic", "Area"}} - right
    assert not crossed
    for one, other in right:
        row = alignment.matrix[target.index(other)]
        assert max(range(len(row)), key=row.__getitem__) == source.index(one), "the heat map's darkest cell"
