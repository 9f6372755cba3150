"""``nmt import``, from a folder and from a server that is shaped like the hub."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nmt.model_folder.registry import config_of
from tests.nmt.importers.checkpoints import make_marian, make_multilingual

REPOSITORY = "Helsinki-NLP/opus-mt-en-fr"
REVISION = "0123456789abcdef0123456789abcdef01234567"


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[3]
    return subprocess.run(
        [sys.executable, "-m", "nmt", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(root), "PASSERELLE_CACHE": str(cwd / "cache")} | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "opus-mt-en-fr"
    make_marian(folder)
    (folder / "README.md").write_text("---\nlanguage:\n- en\nlicense: cc-by-4.0\n---\n# A card\n")
    return folder


@pytest.fixture(scope="module")
def hub(marian: Path) -> Iterator[str]:
    """The routes of the hub that a download needs."""

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            names = sorted(file.name for file in marian.iterdir())
            if self.path.startswith(f"/api/models/{REPOSITORY}/tree/"):
                files = [
                    {"type": "file", "path": name, "size": (marian / name).stat().st_size, "oid": name}
                    for name in names
                ]
                self.answer(json.dumps(files).encode(), {"Content-Type": "application/json"})
                return
            if self.path.startswith(f"/api/models/{REPOSITORY}"):
                siblings = [{"rfilename": name} for name in names]
                body = json.dumps({"id": REPOSITORY, "sha": REVISION, "siblings": siblings}).encode()
                self.answer(body, {"Content-Type": "application/json"})
                return
            name = self.path.rpartition("/")[2]
            if self.path == f"/{REPOSITORY}/resolve/{REVISION}/{name}" and name in names:
                self.answer((marian / name).read_bytes(), {"ETag": f'"{name}"', "X-Repo-Commit": REVISION})
                return
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def answer(self, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(200)
            for key, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(key, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_a_model_of_the_hub_translates(hub: str, tmp_path: Path):
    hidden = {"HF_ENDPOINT": hub, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_DISABLE_TELEMETRY": "1"}
    made = run("import", REPOSITORY, cwd=tmp_path, **hidden)
    assert made.returncode == 0, made.stderr
    folder = tmp_path / "models" / "opus-mt-en-fr"
    assert made.stdout.splitlines()[0] == "models/opus-mt-en-fr"
    card = (folder / "card.md").read_text()
    assert f"Imported from {REPOSITORY}, revision {REVISION}." in card
    assert "| licence | cc-by-4.0 |" in card
    for engine in ("eager", "float32"):
        found = run("translate", "--model", str(folder), "--engine", engine, "--json", "A dog.", cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        assert json.loads(found.stdout)["source"] == "A dog."


def test_a_repository_that_is_not_there_is_one_line(hub: str, tmp_path: Path):
    found = run("import", "nobody/nothing", cwd=tmp_path, HF_ENDPOINT=hub, HF_HOME=str(tmp_path / "hub"))
    assert found.returncode == 1
    assert found.stderr.startswith("nmt: nobody/nothing: cannot be fetched from the hub: ")
    assert found.stderr.count("\n") == 1
    assert not (tmp_path / "models").exists()


@pytest.mark.exhaustive
def test_a_hub_that_does_not_answer_is_one_line(tmp_path: Path):
    away = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path / "hub")}
    found = run("import", REPOSITORY, cwd=tmp_path, **away)
    assert found.returncode == 1
    assert found.stderr.startswith(f"nmt: {REPOSITORY}: cannot be fetched from the hub: ")
    assert found.stderr.count("\n") == 1
    assert not (tmp_path / "models").exists()


def test_what_is_there_stays(marian: Path, tmp_path: Path):
    (tmp_path / "models" / "opus-mt-en-fr").mkdir(parents=True)
    found = run("import", str(marian), cwd=tmp_path)
    assert (found.returncode, found.stderr) == (
        2,
        "nmt: models/opus-mt-en-fr: exists; choose another place with --out, or remove it\n",
    )


@pytest.mark.exhaustive
def test_the_pair_is_chosen_when_a_model_of_many_is_used(tmp_path: Path):
    make_multilingual(tmp_path / "m2m", nllb=True)
    assert run("import", "m2m", "--out", "ours", "--dtype", "float16", cwd=tmp_path).returncode == 0
    assert config_of(tmp_path / "ours").name == "m2m"
    found = run("translate", "--model", "ours", "--from", "de-AT", "--to", "por", "Hallo", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    found = run("translate", "--model", "ours", "--from", "de", "--to", "sw", "Hallo", cwd=tmp_path)
    assert found.returncode == 1
    assert "there is ours (de, en, fr, pt to de, en, fr, pt)" in found.stderr
