"""``serve`` as a process with a real, tiny model: it translates, aligns, and ends well on SIGTERM."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.nmt.conftest import save_tiny_model, train_tokenizer
from tests.service.test_problems import assert_problem

START = "import sys; from service.main import serve; serve(port=0, model=sys.argv[1])"


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    parent = tmp_path_factory.mktemp("models")
    tokenizer = parent / "tokenizer.model"
    tokenizer.write_bytes(train_tokenizer())
    save_tiny_model(parent / "tiny", tokenizer)
    return parent / "tiny"


def start(model: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START, str(model)],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def process(model_folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    started = start(model_folder)
    assert started.stderr is not None
    for line in started.stderr:
        if found := re.search(r"running on (http://[0-9.:]+)", line):
            break
    else:
        pytest.fail("the server did not start")
    yield started, found[1]
    started.kill()
    started.wait()
    started.stderr.close()


def test_a_real_model_translates_and_aligns(process: tuple[subprocess.Popen[str], str]) -> None:
    with httpx.Client(base_url=process[1], timeout=60, trust_env=False) as client:
        text = "Two young men are playing football in the park.\n\nWhere is the train station?"
        response = client.post(
            "/translate", json={"text": text, "alignment": "soft", "n_best": 2, "beam_size": 2}
        )
        assert response.status_code == 200, response.text
        (translation,) = response.json()["translations"]
        picture = client.get(f"/translations/{translation['id']}/alignment", headers={"accept": "image/png"})
        long = client.post("/translate", json={"text": "a b c " * 300, "beam_size": 1})
        assert_problem(
            client.post("/translate", json={"text": "a", "source": "fr"}), 422, "unsupported-language"
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


def test_sigterm_ends_the_process_with_success(process: tuple[subprocess.Popen[str], str]) -> None:
    started, _ = process
    started.send_signal(signal.SIGTERM)

    assert started.wait(20) == 0


@pytest.mark.usefixtures("logging_restored")
def test_a_corrupt_model_folder_is_refused_by_name(model_folder: Path, tmp_path: Path) -> None:
    from nmt.errors import ModelFolderError
    from service.main import serve

    broken = tmp_path / "broken"
    broken.mkdir()
    for path in model_folder.iterdir():
        content = bytearray(path.read_bytes())
        if path.name == "model.safetensors":
            content[-1] ^= 1
        (broken / path.name).write_bytes(content)
    with pytest.raises(ModelFolderError, match=r"model\.safetensors"):
        serve(model=str(broken))
