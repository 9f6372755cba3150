"""``GET /translations/{id}/alignment``: formats, how they are chosen, and how long an alignment is kept."""

from __future__ import annotations

import io
import struct
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from PIL import Image

from service.routes.alignment import negotiate
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, running
from tests.service.http.test_problems import assert_problem

SVG = "{http://www.w3.org/2000/svg}"
TEXT = "one two three\n\nfour <five> & $six$"


def aligned(live: LiveServer, text: str = TEXT, alignment: str = "soft") -> dict[str, Any]:
    (translation,) = live.post({"text": text, "alignment": alignment}).json()["translations"]
    return translation


def fetch(live: LiveServer, id_: str, accept: str = "*/*", **query: object) -> httpx.Response:
    with live.client() as client:
        return client.get(f"/translations/{id_}/alignment", params=query, headers={"accept": accept})


@pytest.mark.parametrize("alignment", ["links", "soft"])
def test_json_is_the_alignment_of_the_answer(live: LiveServer, alignment: str) -> None:
    translation = aligned(live, alignment=alignment)

    response = fetch(live, translation["id"])

    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    names = ("id", "sentences", "source_tokens", "target_tokens", "links")
    assert response.json() == {name: translation[name] for name in names}


def test_pharaoh_has_a_line_for_each_sentence(live: LiveServer) -> None:
    translation = aligned(live)

    response = fetch(live, translation["id"], format="pharaoh")

    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.text == "0-2 1-1 2-0\n0-3 1-2 2-1 3-0\n"
    assert fetch(live, translation["id"], format="pharaoh", sentence=1).text == "0-3 1-2 2-1 3-0\n"


@pytest.mark.parametrize("alignment", ["links", "soft"])
def test_the_svg_is_well_formed_and_holds_every_cell(live: LiveServer, alignment: str) -> None:
    translation = aligned(live, alignment=alignment)

    response = fetch(live, translation["id"], format="svg")

    assert response.headers["content-type"] == "image/svg+xml"
    root = ElementTree.fromstring(response.content)
    tooltips = [title.text for title in root.iterfind(f".//{SVG}rect/{SVG}title")]
    assert len(tooltips) == 3 * 3 + 4 * 4
    assert "three \u2192 eerht: 0.80" in tooltips
    assert "<five> \u2192 >evif<: 0.80" in tooltips
    labels = [text.text for text in root.iterfind(f".//{SVG}text")]
    first = ["one", "two", "three", "eerht", "owt", "eno"]
    second = ["four", "<five>", "&", "$six$", "$xis$", "&", ">evif<", "ruof"]
    assert labels == first + second
    assert "style" not in response.text, "a strict content security policy forbids inline styles"


def test_a_stronger_link_is_a_darker_cell(live: LiveServer) -> None:
    response = fetch(live, aligned(live, "one two")["id"], format="svg")

    darkness = {
        cell[0].text: sum(bytes.fromhex(cell.attrib["fill"][1:]))
        for cell in ElementTree.fromstring(response.content).iterfind(f".//{SVG}rect[@rx]")
    }
    assert darkness["one \u2192 eno: 0.80"] < darkness["one \u2192 owt: 0.20"]


def test_characters_that_xml_cannot_hold_do_not_break_the_svg(live: LiveServer) -> None:
    translation = aligned(live, "a\x00b \x08 \ufffe \U0001f600")

    root = ElementTree.fromstring(fetch(live, translation["id"], format="svg").content)

    assert "a\ufffdb" in [text.text for text in root.iterfind(f".//{SVG}text")]


def test_the_png_is_a_picture_of_both_sentences(live: LiveServer) -> None:
    translation = aligned(live, TEXT + " \u65e5\u672c")  # characters that the font may lack

    whole = fetch(live, translation["id"], format="png")
    second = fetch(live, translation["id"], format="png", sentence=1)

    assert whole.headers["content-type"] == "image/png"
    assert whole.content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", whole.content[16:24])
    with Image.open(io.BytesIO(whole.content)) as image:
        image.load()
        assert image.size == (width, height)
        assert len(image.convert("RGB").getcolors(1 << 24)) > 10
    assert height > struct.unpack(">II", second.content[16:24])[1] > 100


def test_a_text_without_words_has_an_empty_alignment(live: LiveServer) -> None:
    translation = aligned(live, "  \n")

    assert fetch(live, translation["id"]).json()["links"] == []
    assert fetch(live, translation["id"], format="pharaoh").text == ""
    ElementTree.fromstring(fetch(live, translation["id"], format="svg").content)
    assert fetch(live, translation["id"], format="png").content.startswith(b"\x89PNG")


def test_a_heat_map_of_too_many_words_says_what_to_do(live: LiveServer) -> None:
    translation = aligned(live, "\n".join(["a b c d e"] * 60))

    for picture in ("svg", "png"):
        problem = assert_problem(fetch(live, translation["id"], format=picture), 422, "heat-map-too-large")
        assert "300 target words" in problem["detail"]
        assert "sentence=0" in problem["detail"]
        assert fetch(live, translation["id"], format=picture, sentence=59).status_code == 200


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("*/*", "json"),
        ("", None),
        ("application/json", "json"),
        ("image/png", "png"),
        ("IMAGE/SVG+XML", "svg"),
        ("image/*", "svg"),
        ("text/plain", "pharaoh"),
        ("text/html, image/png;q=0.3, text/plain;q=0.5", "pharaoh"),
        ("image/png;q=0, image/*;q=0.1", "svg"),
        ("*/*;q=0.1, image/png", "png"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "json"),
        ("application/xml", None),
        ("image/png;q=nonsense", None),
    ],
)
def test_the_accept_header_chooses(live: LiveServer, accept: str, chosen: str | None) -> None:
    if chosen is None:
        response = fetch(live, aligned(live)["id"], accept or "x/y")
        assert "image/svg+xml" in assert_problem(response, 406, "not-acceptable")["detail"]
    else:
        assert negotiate(accept) == chosen


def test_the_accept_header_is_read_and_format_goes_before_it(live: LiveServer) -> None:
    translation = aligned(live)

    assert fetch(live, translation["id"], "image/svg+xml").headers["content-type"] == "image/svg+xml"
    response = fetch(live, translation["id"], "image/svg+xml", format="pharaoh")
    assert response.headers["content-type"].startswith("text/plain")
    assert response.headers["vary"] == "Accept"


def test_unknown_ids_and_sentences_are_404_and_unknown_formats_422(live: LiveServer) -> None:
    assert_problem(fetch(live, "0" * 32), 404, "no-such-alignment")
    problem = assert_problem(fetch(live, aligned(live, alignment="none")["id"]), 404, "no-such-alignment")
    assert "alignment none" in problem["detail"]
    id_ = aligned(live)["id"]
    assert (
        "2 sentences"
        in assert_problem(fetch(live, id_, format="svg", sentence=2), 404, "no-such-sentence")["detail"]
    )
    assert (
        "format: Input should be"
        in assert_problem(fetch(live, id_, format="xylophonequartz"), 422, "invalid-request")["detail"]
    )
    assert_problem(fetch(live, id_, sentence=-1), 422, "invalid-request")
    assert_problem(fetch(live, "x" * 65), 422, "invalid-request")


def test_a_server_may_keep_no_alignments() -> None:
    with running(StubTranslator(), alignment_max_entries=0) as live:
        assert_problem(fetch(live, aligned(live)["id"]), 404, "no-such-alignment")
