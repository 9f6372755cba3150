"""A server of four languages: two pairs of one imported model beside a model that ships, by real clients."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import deepl
import httpx
import pytest
from libretranslatepy import LibreTranslateAPI

from nmt.importers.read import import_checkpoint
from service.app import create_app
from service.main import start_engines
from service.settings import Settings
from service.work.engine.base import EngineDownError
from service.work.engine.messages import Start
from service.work.engine.process import ProcessEngine
from service.work.engine.shared import PairEngine
from tests.nmt.importers.checkpoints import make_multilingual
from tests.service.conftest import LiveServer, eventually, serving


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("models")
    make_multilingual(folder / "theirs", nllb=True)
    many = import_checkpoint(str(folder / "theirs"), folder / "many")
    settings = Settings(device="cpu", request_timeout_s=120)
    engines = start_engines([f"{many}@de:pt", "general", f"{many}@en:de"], settings)
    app = create_app(settings, engines)
    with serving(app, settings, engines[0]) as server:  # type: ignore[arg-type]
        yield server


def test_the_pairs_of_one_folder_share_a_process(live: LiveServer):
    german, french, english = (one.engine for one in live.service.directions)
    assert isinstance(german, PairEngine)
    assert isinstance(english, PairEngine)
    assert isinstance(french, ProcessEngine)
    assert german.pid == english.pid != french.pid


def test_pairs_that_share_a_process_answer_together_and_survive_its_end(live: LiveServer):
    asked = [
        {"text": f"Guten Tag, Nummer {index}.", "source": source, "target": target}
        for index in range(4)
        for source, target in (("de", "pt"), ("en", "de"))
    ]
    german, _, english = (one.engine for one in live.service.directions)
    assert isinstance(german, PairEngine)
    with httpx.Client(base_url=live.url, timeout=120, trust_env=False) as client:

        def answer(one: dict[str, str]) -> str:
            found = client.post("/translate", json=one).json()
            assert (found["source"], found["target"]) == (one["source"], one["target"])
            text: str = found["translations"][0]["text"]
            return text

        alone = [answer(one) for one in asked]
        with ThreadPoolExecutor(len(asked)) as pool:
            assert list(pool.map(answer, asked)) == alone
        former = german.pid
        os.kill(former, signal.SIGKILL)
        eventually(lambda: german.pid != former and german.is_ready(9) and english.is_ready(9), within_s=120)
        assert [answer(one) for one in asked] == alone


def test_languages_have_their_names(live: LiveServer):
    with live.client() as client:
        answer = client.get("/languages").json()
    assert [(pair["source"], pair["target"]) for pair in answer["pairs"]] == [
        ("de", "pt"),
        ("en", "fr"),
        ("en", "de"),
    ]
    assert {one["code"]: one["name"] for one in answer["languages"]} == {
        "de": "German",
        "pt": "Portuguese",
        "en": "English",
        "fr": "French",
    }


@pytest.mark.parametrize(
    ("source", "target", "pair"),
    [
        ("de", "pt", ("de", "pt")),
        ("de-AT", "pt-BR", ("de", "pt")),
        ("auto", "fr", ("en", "fr")),
        ("en-GB", "deu", ("en", "de")),
        ("auto", None, ("de", "pt")),
    ],
)
def test_a_text_goes_to_the_model_of_its_pair(
    live: LiveServer, source: str, target: str | None, pair: tuple[str, str]
):
    text = (
        "Das ist ein sehr schöner Tag für einen langen Spaziergang."
        if pair[0] == "de"
        else "A dog sleeps here."
    )
    answer = live.post({"text": text, "source": source} | ({"target": target} if target else {}))
    assert answer.status_code == 200, answer.text
    assert (answer.json()["source"], answer.json()["target"]) == pair


def test_a_pair_that_is_not_there_is_told(live: LiveServer):
    answer = live.post({"text": "Hallo", "source": "de", "target": "fr"})
    assert answer.status_code == 422
    assert "from de to pt and from en to fr and from en to de only" in answer.json()["detail"]
    assert live.post({"text": "Hola", "source": "gl", "target": "pt"}).status_code == 422


def test_deepls_client(live: LiveServer):
    client = deepl.DeepLClient("any-key:fx", server_url=f"{live.url}/deepl")
    assert {(one.code, one.name) for one in client.get_target_languages()} == {
        ("DE", "German"),
        ("FR", "French"),
        ("PT", "Portuguese"),
    }
    found = client.translate_text("Guten Tag", source_lang="DE", target_lang="PT-BR")
    assert isinstance(found, deepl.TextResult)
    assert found.detected_source_lang == "DE"
    with pytest.raises(deepl.DeepLException, match="this server has DE to PT"):
        client.translate_text("Guten Tag", source_lang="DE", target_lang="FR")
    with pytest.raises(deepl.DeepLException, match="target_lang: JA is not supported"):
        client.translate_text("Guten Tag", target_lang="JA")


def test_libretranslates_client(live: LiveServer):
    client = LibreTranslateAPI(f"{live.url}/libretranslate/")
    known = {one["code"]: one["targets"] for one in client.languages()}
    assert known == {"de": ["pt"], "pt": [], "en": ["fr", "de"], "fr": []}
    assert isinstance(client.translate("Guten Tag", "de", "pt"), str)
    assert client.translate("A dog.", "auto", "fr") == "Un chien."


def test_a_path_with_an_at_sign_is_no_pair(tmp_path: Path):
    from nmt.model_folder.registry import split_pair

    assert split_pair(str(tmp_path / "me@home")) == (str(tmp_path / "me@home"), None, None)


def test_one_process_is_started_for_a_folder_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A pair that is not named is the folder's own."""
    make_multilingual(tmp_path / "theirs", nllb=True)
    many = import_checkpoint(str(tmp_path / "theirs"), tmp_path / "many")
    started: list[Start] = []

    def start(given: Start, **_limits: float) -> None:
        started.append(given)
        raise EngineDownError

    monkeypatch.setattr("service.main.ProcessEngine", start)
    monkeypatch.chdir(tmp_path)
    names = [f"{many}@de:pt", "general", "many", f"{tmp_path}/theirs/../many@pt:de"]
    with pytest.raises(EngineDownError):
        start_engines(names, Settings(device="cpu"))
    shared, alone = sorted(started, key=lambda one: one.model == "general")
    assert (shared.model, shared.source, shared.target) == (str(many), "de", "pt")
    pairs = [(other.source, other.target) for other in shared.others]
    assert pairs == [("en", "fr"), ("pt", "de")]
    assert shared.reverse == f"{tmp_path}/theirs/../many"
    assert shared.others[1].reverse == str(many)
    assert alone.others == ()
