"""Documents, usage and languages through DeepL's own package."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import deepl
import docx
import pytest

from tests.service.conftest import LiveServer, eventually, running
from tests.service.dialects.conftest import WillingTranslator

CANARY = "xylophonequartz"
SRT = "1\n00:00:01,000 --> 00:00:02,500\none two\n\n2\n00:00:03,000 --> 00:00:04,000\nthree\n"


@pytest.fixture
def client(live: LiveServer) -> Iterator[deepl.DeepLClient]:
    with_any_key = deepl.DeepLClient("any", server_url=live.url)
    yield with_any_key
    with_any_key.close()


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.txt", "one two\n", "owt eno\n"),
        ("a.html", "<!doctype html><p>one <b>two</b></p>", "<!doctype html><p><b>owt</b> eno</p>"),
        ("a.srt", SRT, SRT.replace("one two", "owt eno").replace("three", "eerht")),
        ("a.md", "# one\n", "# eno\n"),
    ],
)
def test_a_file_is_translated_from_path_to_path(
    client: deepl.DeepLClient, tmp_path: Path, name: str, source: str, expected: str
) -> None:
    (tmp_path / name).write_text(source, encoding="utf-8")
    result = tmp_path / f"result-{name}"

    status = client.translate_document_from_filepath(
        tmp_path / name, result, source_lang="EN", target_lang="FR", formality="more"
    )

    assert result.read_text(encoding="utf-8").rstrip() == expected.rstrip()
    assert status.done
    assert status.billed_characters
    assert status.error_message is None


def test_a_docx_keeps_its_shape(live: LiveServer, client: deepl.DeepLClient) -> None:
    written = io.BytesIO()
    document = docx.Document()
    document.add_heading("one two")
    document.add_paragraph("three four")
    document.save(written)
    written.seek(0)
    out = io.BytesIO()

    client.translate_document(
        written, out, target_lang="FR", filename="letter.docx", extra_body_parameters={"filename": "b.docx"}
    )

    paragraphs = docx.Document(io.BytesIO(out.getvalue())).paragraphs
    assert [paragraph.text for paragraph in paragraphs] == ["owt eno", "ruof eerht"]
    assert paragraphs[0].style.name == "Heading 1"


def test_a_glossary_and_formality_reach_a_document(live: LiveServer, client: deepl.DeepLClient) -> None:
    glossary = client.create_glossary("G", "EN", "FR", {"one": "un"})
    client.translate_document(
        b"one two", io.BytesIO(), filename="a.txt", source_lang="EN", target_lang="FR", formality="less",
        glossary=glossary,
    )  # fmt: skip

    wishes = live.translator.wishes[-1]
    assert wishes["formality"] == "informal"
    assert [term.target for term in wishes["glossary"].terms] == ["un"]


def test_a_document_that_takes_long_is_watched_and_not_given_out_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    translator = WillingTranslator()
    monkeypatch.setattr("service.dialects.deepl.documents.WAIT_S", 0.05)
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        translator.gate.set()

    import time

    monkeypatch.setattr(deepl.translator, "time", SimpleNamespace(sleep=nap, time=time.time))
    with running(translator) as live:
        client = deepl.DeepLClient("any", server_url=live.url)
        translator.gate.clear()
        handle = client.translate_document_upload(b"one two", filename="a.txt", target_lang="FR")
        status = client.translate_document_get_status(handle)
        assert status.ok
        assert not status.done
        assert status.seconds_remaining
        assert status.billed_characters is None
        with pytest.raises(deepl.DocumentNotReadyException):
            client.translate_document_download(handle)
        done = client.translate_document_wait_until_done(handle)
        eventually(lambda: client.translate_document_get_status(handle).done)
        out = io.BytesIO()
        client.translate_document_download(handle, out)
        client.close()

    assert naps
    assert done.ok
    assert out.getvalue() == b"owt eno"


def test_a_document_that_fails_says_so_and_is_not_charged() -> None:
    with running(WillingTranslator(failure=ValueError)) as live:
        client = deepl.DeepLClient("any", server_url=live.url)
        handle = client.translate_document_upload(CANARY, filename="a.txt", target_lang="FR")
        status = client.translate_document_wait_until_done(handle)
        with pytest.raises(deepl.DeepLException, match="Bad request") as error:
            client.translate_document_download(handle)
        count = client.get_usage().character.count
        client.close()

    assert not status.ok
    assert "server failed" in str(status.error_message)
    assert CANARY not in f"{status.error_message} {error.value}"
    assert count == 0


def test_a_document_opens_with_its_key_and_for_its_holder_only(
    guarded: LiveServer, new_key: Callable[..., str]
) -> None:
    ours, theirs = (deepl.DeepLClient(new_key(), server_url=guarded.url) for _ in range(2))
    handle = ours.translate_document_upload(b"one", filename="a.txt", target_lang="FR")
    assert ours.translate_document_wait_until_done(handle).done
    wrong = [
        (theirs, handle),
        (ours, deepl.DocumentHandle(handle.document_id, handle.document_key[::-1])),
        (ours, deepl.DocumentHandle(handle.document_id, CANARY)),
        (ours, deepl.DocumentHandle(CANARY, handle.document_key)),
    ]
    for client, document in wrong:
        for call in (client.translate_document_get_status, client.translate_document_download):
            with pytest.raises(deepl.DeepLException) as error:
                call(document)
            assert error.value.http_status_code == 404
            assert CANARY not in str(error.value)
    ours.close()
    theirs.close()


def test_half_of_a_surrogate_pair_is_no_key(live: LiveServer, client: deepl.DeepLClient) -> None:
    handle = client.translate_document_upload(b"one", filename="a.txt", target_lang="FR")
    with live.client() as http:
        answer = http.post(
            f"/v2/document/{handle.document_id}",
            content=b'{"document_key": "\\ud800"}',
            headers={"content-type": "application/json"},
        )

    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("name", "data", "fields", "status", "said"),
    [
        (f"a.{CANARY}", b"x", {}, 400, "file: its name must end in one of the file extensions: txt"),
        ("a.docx", CANARY.encode(), {}, 400, ""),
        ("a.txt", b"x", {"target_lang": "DE"}, 400, "target_lang: DE"),
        ("a.txt", b"x", {"output_format": "pdf"}, 400, "output_format: a document keeps its format"),
        ("a.txt", b"x", {"style_id": CANARY}, 400, "style_id: "),
        ("a.txt", b"x", {"glossary_id": CANARY, "source_lang": "EN"}, 404, "no glossary under this id"),
        ("a.txt", b"x" * 40_000, {}, 413, "larger than"),
        ("a.txt", b"word " * 4_000, {}, 413, "max_bytes"),
    ],
)
def test_a_bad_upload_is_refused_without_repeating_it(
    small: LiveServer, name: str, data: bytes, fields: dict[str, str], status: int, said: str
) -> None:
    with small.client() as http:
        answer = http.post("/v2/document", files={"file": (name, data)}, data={"target_lang": "FR"} | fields)

    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"message", "detail"}
    assert said.lower() in answer.json()["detail"].lower()
    assert CANARY not in answer.text


@pytest.fixture(scope="module")
def small() -> Iterator[LiveServer]:
    with running(WillingTranslator(), document_max_bytes=15_000) as live:
        yield live


def test_what_is_no_form_with_a_file_is_refused(small: LiveServer) -> None:
    for options in ({"json": {}}, {"data": {"target_lang": "FR"}}, {"content": b"x"}):
        with small.client() as http:
            answer = http.post("/v2/document", **options)  # type: ignore[arg-type]
            assert (answer.status_code, answer.json()["detail"][:5]) == (400, "File:")
    with small.client() as http:
        foreign = http.post(
            "/v2/document", files={"file": ("a.txt", b"x")}, headers={"sec-fetch-site": "cross-site"}
        )
        no_key = http.post("/v2/document/x", json={})
    assert foreign.status_code == 403
    assert (no_key.status_code, "document_key" in no_key.json()["detail"].lower()) == (400, True)


def test_usage_counts_what_was_translated(guarded: LiveServer, new_key: Callable[..., str]) -> None:
    limited = deepl.DeepLClient(new_key(characters_per_month=10), server_url=guarded.url)
    unlimited = deepl.DeepLClient(new_key(), server_url=guarded.url)
    limited.translate_text("one two", target_lang="FR")
    unlimited.translate_text("<b>one</b>", target_lang="FR", tag_handling="html")
    usage, other = limited.get_usage(), unlimited.get_usage()

    assert (usage.character.count, usage.character.limit) == (7, 10)
    assert not usage.any_limit_reached
    assert (other.character.count, other.character.limit) == (3, 1_000_000_000_000)
    limited.close()
    unlimited.close()


def test_languages_are_those_of_the_model(live: LiveServer, client: deepl.DeepLClient) -> None:
    (source,), (target,) = client.get_source_languages(), client.get_target_languages()

    assert (source.code, source.name) == ("EN", "English")
    assert (target.code, target.name) == ("FR", "French")
    assert not target.supports_formality, "the stub cannot choose"
    with live.client() as http:
        assert http.get("/v2/languages", params={"type": "target"}).json()[0]["language"] == "FR"
        bad: Any = http.get("/v2/languages", params={"type": CANARY})
    assert bad.status_code == 400
    assert CANARY not in bad.text
