"""Both clients against ``serve`` as a process with the model that ships."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deepl
import docx
import httpx
import openai
import pytest
from libretranslatepy import LibreTranslateAPI

from nmt.model_folder.checkpoint import PRETRAINED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not any(path.is_dir() for path in PRETRAINED.glob("*")), reason="no model ships"),
]

START = "from service.main import serve; serve(port=0)"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment["PASSERELLE_DATA_DIR"] = str(tmp_path_factory.mktemp("data"))
    environment["PASSERELLE_DATABASE_URL"] = ""
    command = [sys.executable, "-c", START]
    started = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert started.stderr is not None
    for line in started.stderr:
        if found := re.search(r"running on (http://[0-9.:]+)", line):
            break
    else:
        pytest.fail("the server did not start")
    yield found[1]
    started.terminate()
    started.communicate(timeout=30)


def test_the_official_client_translates_text_lists_html_terms_and_a_document(
    url: str, tmp_path: Path
) -> None:
    client = deepl.DeepLClient("any", server_url=url)
    one = client.translate_text("A man is standing in front of a car.", target_lang="FR")
    several = client.translate_text(["A dog.", "Two cats."], source_lang="EN", target_lang="FR")
    html = client.translate_text("A <b>red</b> car.", target_lang="FR", tag_handling="html")
    glossary = client.create_glossary("g", "EN", "FR", {"football": "ballon rond"})
    with_terms = client.translate_text_with_glossary("They are playing football.", glossary)

    assert "voiture" in str(one)
    assert isinstance(several, list)
    assert ["chien" in str(several[0]), "chats" in str(several[1])] == [True, True]
    assert re.search(r"<b>\w*rouge\w*</b>", str(html))
    assert "ballon rond" in str(with_terms)

    written = docx.Document()
    paragraph = written.add_paragraph("Two ")
    paragraph.add_run("young men").bold = True
    paragraph.add_run(" are playing football.")
    written.save(str(tmp_path / "letter.docx"))
    status = client.translate_document_from_filepath(
        tmp_path / "letter.docx",
        tmp_path / "lettre.docx",
        source_lang="EN",
        target_lang="FR",
        glossary=glossary,
    )
    assert status.billed_characters == len("Two young men are playing football.")
    (translated,) = docx.Document(io.BytesIO((tmp_path / "lettre.docx").read_bytes())).paragraphs
    assert "ballon rond" in translated.text
    assert [run.text for run in translated.runs if run.bold] == ["jeunes hommes"]
    assert client.get_usage().character.count
    client.close()


def test_libretranslates_client_translates(url: str) -> None:
    client = LibreTranslateAPI(f"{url}/libretranslate")

    assert "chien" in client.translate("A dog is running.", "en", "fr")


@pytest.mark.skipif(not (PRETRAINED / "general_fr_en").is_dir(), reason="no model to English ships")
def test_both_clients_translate_to_english(url: str) -> None:
    client = deepl.DeepLClient("any", server_url=url)
    one = client.translate_text("Le chien court dans la neige.", target_lang="EN-GB")
    html = client.translate_text("Une <b>voiture rouge</b>.", target_lang="EN-US", tag_handling="html")
    libre = LibreTranslateAPI(f"{url}/libretranslate")

    assert "dog" in str(one)
    assert re.search(r"<b>\w*\s?car</b>", str(html))
    assert "dog" in libre.translate("Le chien court.", "auto", "en")
    assert [(language["code"], language["targets"]) for language in libre.languages()] == [
        ("en", ["fr"]),
        ("fr", ["en"]),
    ]
    client.close()


@pytest.mark.skipif(not (PRETRAINED / "general_fr_en").is_dir(), reason="no model to English ships")
def test_openais_client_translates_lines_whole_and_streamed(url: str) -> None:
    text = "1. A dog runs on the beach. The train is late.\n\n2. Good morning."
    with openai.OpenAI(
        base_url=f"{url}/v1", api_key="any", http_client=httpx.Client(trust_env=False)
    ) as client:
        for content in (f"Translate from English to French, without comments:\n\n{text}", text):
            messages: list[Any] = [{"role": "user", "content": content}]
            whole = client.chat.completions.create(model="passerelle", messages=messages)
            chunks = client.chat.completions.create(model="passerelle", messages=messages, stream=True)
            written = whole.choices[0].message.content or ""
            first, blank, last = written.split("\n")
            assert first.startswith("1. ")
            assert ("chien" in first, "train" in first, blank) == (True, True, "")
            assert last == "2. Bonjour."
            assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == written
            assert whole.usage
            assert whole.usage.prompt_tokens > 10


def test_googles_and_microsofts_shapes_are_answered(url: str) -> None:
    asked = {"q": "A <b>red car</b>.", "source": "en", "target": "fr"}
    with httpx.Client(trust_env=False, timeout=60) as http:
        google = http.post(f"{url}/language/translate/v2", json=asked).json()
        linked = {"api-version": "3.0", "from": "en", "to": "fr", "includeAlignment": "true"}
        microsoft = http.post(f"{url}/translate", params=linked, json=[{"Text": "A red car."}]).json()

    assert google["data"]["translations"] == [{"translatedText": "Une <b>voiture rouge</b>."}]
    [translation] = microsoft[0]["translations"]
    assert translation["text"] == "Une voiture rouge."
    assert {"2:4-12:16", "6:8-4:10"} <= set(translation["alignment"]["proj"].split())
