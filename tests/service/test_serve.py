"""``serve`` as a process with a real, tiny model: it translates, aligns, and ends well on SIGTERM."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import httpx
import pytest

from nmt.errors import ModelFolderError, PasserelleError
from nmt.model_folder.checkpoint import CONFIG, write_manifest
from service.main import reverse_of, serve, start_engines
from service.settings import Settings
from service.work.engine.messages import Ready, Start
from testbed.stub import StubTranslator
from tests.nmt.conftest import save_tiny_model, train_tokenizer
from tests.nmt.shipping import ships
from tests.service.conftest import eventually
from tests.service.http.test_problems import assert_problem

START = "import sys; from service.main import serve; serve(port=0, model=sys.argv[1:])"


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    parent = tmp_path_factory.mktemp("models")
    tokenizer = parent / "tokenizer.model"
    tokenizer.write_bytes(train_tokenizer())
    save_tiny_model(parent / "tiny", tokenizer)
    return parent / "tiny"


@pytest.fixture(scope="module")
def other_way(model_folder: Path) -> Path:
    """The same with its languages swapped."""
    folder = shutil.copytree(model_folder, model_folder.with_name("tiny_fr_en"))
    config = json.loads((folder / CONFIG).read_text())
    swapped = {"name": "tiny_fr_en", "source_language": "fr", "target_language": "en"}
    (folder / CONFIG).write_text(json.dumps(config | swapped))
    write_manifest(folder)
    return folder


def start(*models: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START, *map(str, models)],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


@dataclass(frozen=True)
class Served:
    """A server, and its engines by the name of their models."""

    server: subprocess.Popen[str]
    url: str
    engines: dict[str, int]


@pytest.fixture(scope="module")
def process(model_folder: Path, other_way: Path) -> Iterator[Served]:
    started = start(model_folder, other_way)
    assert started.stderr is not None
    engines = {}
    for line in started.stderr:
        if '"model_loaded"' in line:
            loaded = json.loads(line)
            engines[loaded["model"]] = loaded["engine_pid"]
        if found := re.search(r"running on (http://[0-9.:]+)", line):
            break
    else:
        pytest.fail("the server did not start")
    yield Served(started, found[1], engines)
    started.kill()
    started.wait()
    started.stderr.close()


def test_a_real_model_translates_and_aligns(process: Served) -> None:
    with httpx.Client(base_url=process.url, timeout=60, trust_env=False) as client:
        text = "Two young men are playing football in the park.\n\nWhere is the train station?"
        response = client.post(
            "/translate", json={"text": text, "alignment": "soft", "n_best": 2, "beam_size": 2}
        )
        assert response.status_code == 200, response.text
        (translation,) = response.json()["translations"]
        picture = client.get(f"/translations/{translation['id']}/alignment", headers={"accept": "image/png"})
        long = client.post("/translate", json={"text": "a b c " * 300, "beam_size": 1})
        assert_problem(
            client.post("/translate", json={"text": "a", "source": "de"}), 422, "unsupported-language"
        )

    assert len(translation["sentences"]) == 2
    assert "\n\n" in translation["text"]
    assert 1 <= len(translation["alternatives"]) <= 2
    assert [text[t["start"] : t["end"]] for t in translation["source_tokens"]] == [
        t["text"] for t in translation["source_tokens"]
    ]
    for sentence in translation["sentences"]:
        for row in sentence["attention"]:
            assert sum(row) == pytest.approx(1, abs=2e-3)
    assert picture.content.startswith(b"\x89PNG")
    assert long.json()["translations"][0]["repaired"] is True


def test_each_direction_has_a_process_and_one_that_is_killed_takes_no_other_along(process: Served) -> None:
    asked = {"text": "Où est la gare ?", "alignment": "links", "beam_size": 1}
    with httpx.Client(base_url=process.url, timeout=60, trust_env=False) as client:
        answer = client.post("/translate", json=asked).json()
        assert (answer["source"], answer["target"], answer["model"]) == ("fr", "en", "tiny_fr_en")
        assert answer["translations"][0]["links"] is not None
        pairs = [pair["model"] for pair in client.get("/languages").json()["pairs"]]
        assert pairs == list(process.engines) == ["tiny", "tiny_fr_en"]
        os.kill(process.engines["tiny_fr_en"], signal.SIGKILL)

        eventually(lambda: client.get("/health/ready").status_code == 503)
        english = client.post("/translate", json={"text": "Where is it?", "beam_size": 1})
    assert (english.status_code, english.json()["model"]) == (200, "tiny")


def test_sigterm_ends_the_process_with_success(process: Served) -> None:
    process.server.send_signal(signal.SIGTERM)

    assert process.server.wait(20) == 0


class FakeEngine:
    """Loads nothing; a model called "none" is not there."""

    made: ClassVar[list[FakeEngine]] = []

    def __init__(self, start: Start, **_: object) -> None:
        if start.model == "none":
            raise ModelFolderError("none: no such model folder")
        self.config = StubTranslator().config.model_copy(update={"name": start.model})
        self.pid, self.is_stopped = 1, False
        self.others: list[Ready] = []
        self.made.append(self)

    def stop(self, _timeout_s: float) -> None:
        self.is_stopped = True


@pytest.mark.parametrize(
    ("models", "error"),
    [(["a", "none"], "no such model folder"), (["a", "b"], "the models a and b both translate en to fr")],
)
def test_where_one_model_cannot_be_served_no_process_is_left(
    monkeypatch: pytest.MonkeyPatch, models: list[str], error: str
) -> None:
    monkeypatch.setattr("service.main.ProcessEngine", FakeEngine)
    monkeypatch.setattr(FakeEngine, "made", [])

    with pytest.raises(PasserelleError, match=error):
        start_engines(models, Settings())
    assert FakeEngine.made
    assert all(engine.is_stopped for engine in FakeEngine.made)


@pytest.mark.usefixtures("logging_restored")
@pytest.mark.parametrize(
    ("argument", "setting", "started"),
    [
        (None, "", ["general", "general_fr_en"]),
        (None, "mine,yours", ["mine", "yours"]),
        (["other"], "mine,yours", ["other"]),
        ("other", "", ["other"]),
    ],
)
def test_models_are_those_named_or_set_or_else_all_that_ship(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    argument: str | list[str] | None,
    setting: str,
    started: list[str],
) -> None:
    ships(monkeypatch, tmp_path, general_fr_en=("fr", "en"), general=("en", "fr"))
    monkeypatch.setenv("PASSERELLE_MODELS", setting)
    asked: list[list[str]] = []

    def start_none(models: list[str], _settings: Settings) -> list[object]:
        asked.append(models)
        raise ModelFolderError("not here")

    monkeypatch.setattr("service.main.start_engines", start_none)
    with pytest.raises(ModelFolderError, match="not here"):
        serve(model=argument)
    assert asked == [started]


@pytest.mark.usefixtures("logging_restored")
def test_a_corrupt_model_folder_is_refused_by_name(model_folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in model_folder.iterdir():
        content = bytearray(path.read_bytes())
        if path.name == "model.safetensors":
            content[-1] ^= 1
        (broken / path.name).write_bytes(content)
    with pytest.raises(ModelFolderError, match=r"model\.safetensors"):
        serve(model=str(broken))


def test_the_model_that_reads_back_is_the_one_of_the_other_direction() -> None:
    both = ["general", "general_fr_en"]

    assert [reverse_of(named, both) for named in both] == both[::-1]
    assert reverse_of("general", ["general"]) is None
    assert reverse_of("nowhere", ["nowhere", "general"]) is None, "whoever loads it says so"
    assert reverse_of(None, [None]) is None
