"""``markup`` of ``POST /translate``, with the translator that writes words backwards."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.conftest import LiveServer, running
from tests.service.dialects.conftest import WillingTranslator
from tests.service.http.test_problems import assert_problem


@pytest.fixture(scope="module")
def live():
    with running(WillingTranslator()) as server:
        yield server


def test_tags_are_kept_and_their_texts_are_translated(live: LiveServer) -> None:
    html = "<p>one <b>two</b></p><p translate=no>three</p>"

    answer = live.post({"text": [html, "<br>"], "markup": "html", "formality": "formal"}).json()

    texts = [translation["text"] for translation in answer["translations"]]
    assert texts == ["<p><b>owt</b> eno</p><p translate=no>three</p>", "<br>"]
    assert answer["translations"][0]["sentences"] == []
    assert live.translator.calls[-1] == ["one two"]
    assert live.translator.wishes[-1]["formality"] == "formal"


def test_xml_has_to_be_well_formed(live: LiveServer) -> None:
    assert live.post({"text": "<a>one <b/>two</a>", "markup": "xml"}).json()["translations"][0]["text"]
    assert_problem(live.post({"text": "<a>one", "markup": "xml"}), 422, "invalid-input")


@pytest.mark.parametrize("more", [{"alignment": "links"}, {"alignment_format": "azure"}, {"n_best": 2}])
def test_what_is_told_by_offsets_is_refused_with_markup(live: LiveServer, more: dict[str, Any]) -> None:
    response = live.post({"text": "<b>one</b>", "markup": "html", **more})

    assert_problem(response, 422, "invalid-input")
    assert "leave out" in response.json()["detail"]
