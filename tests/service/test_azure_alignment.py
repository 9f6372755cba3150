"""``alignment_format: azure``: links as the string that Azure Translator's includeAlignment gave."""

from __future__ import annotations

from tests.service.conftest import LiveServer
from tests.service.http.test_problems import assert_problem


def test_words_are_named_by_first_and_last_character_in_the_order_of_the_source(live: LiveServer) -> None:
    body = {"text": ["one two three", "ab\ncd ef"], "alignment_format": "azure"}
    first, second = live.post(body).json()["translations"]

    assert first["text"] == "eerht owt eno"
    assert first["proj"] == "0:2-10:12 4:6-6:8 8:12-0:4"
    assert second["text"] == "ba\nfe dc"
    assert second["proj"] == "0:1-0:1 3:4-6:7 6:7-3:4", "characters of the whole text, over all sentences"


def test_the_string_says_what_the_links_say(live: LiveServer) -> None:
    body = {"text": "Two \N{GRINNING FACE} men play.", "alignment_format": "azure", "alignment": "soft"}
    (found,) = live.post(body).json()["translations"]

    pairs = []
    for link in sorted(found["links"], key=lambda link: (link["source"], link["target"])):
        source, target = found["source_tokens"][link["source"]], found["target_tokens"][link["target"]]
        pairs.append(f"{source['start']}:{source['end'] - 1}-{target['start']}:{target['end'] - 1}")
    assert found["proj"] == " ".join(pairs)
    assert len(pairs) == 4
    assert found["sentences"][0]["attention"] is not None


def test_without_it_there_is_no_string(live: LiveServer) -> None:
    assert live.post({"text": "one", "alignment": "links"}).json()["translations"][0]["proj"] is None
    assert live.post({"text": "", "alignment_format": "azure"}).json()["translations"][0]["proj"] == ""


def test_another_format_is_refused(live: LiveServer) -> None:
    problem = assert_problem(
        live.post({"text": "xylophonequartz", "alignment_format": "google"}), 422, "invalid-request"
    )

    assert problem["errors"][0]["field"] == "body.alignment_format"
