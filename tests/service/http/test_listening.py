"""A port that is taken is refused at once; a person at a terminal is told the address."""

from __future__ import annotations

import io
import os
import pty
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.errors import ConfigError
from service import main
from service.http.listening import refuse_taken, tell
from tests.nmt.conftest import save_tiny_model, train_tokenizer

START = "import sys; from service.main import serve; serve(port=0, model=sys.argv[1:])"


def test_a_port_in_use_is_one_line_said_before_models_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "start_engines", lambda *_: pytest.fail("models were loaded"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"^port {port} of 127.0.0.1 is in use; .*--port {port + 1}$"):
            main.serve(port=port)


def test_a_free_port_and_any_port_are_not_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    refuse_taken("127.0.0.1", port)
    refuse_taken("127.0.0.1", 0)


def test_an_address_of_another_machine_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"cannot listen on 192\.0\.2\.1, port 8000: .*--host"):
        refuse_taken("192.0.2.1", 8000)


@pytest.mark.parametrize(
    ("host", "shown"),
    [("127.0.0.1", "http://127.0.0.1:80 "), ("0.0.0.0", "http://127.0.0.1:80 "), ("::1", "http://[::1]:80 ")],
)
def test_the_address_can_be_opened_as_it_is_printed(host: str, shown: str) -> None:
    out = io.StringIO()
    tell(host, 80, out)
    assert shown in out.getvalue()
    assert out.getvalue().count("\n") == 1


def test_on_a_terminal_the_address_is_one_line_for_a_person(tmp_path: Path) -> None:
    tokenizer = tmp_path / "tokenizer.model"
    tokenizer.write_bytes(train_tokenizer())
    save_tiny_model(tmp_path / "tiny", tokenizer)
    ours, theirs = pty.openpty()
    server = subprocess.Popen([sys.executable, "-c", START, str(tmp_path / "tiny")], stderr=theirs)
    os.close(theirs)
    try:
        with os.fdopen(ours, encoding="utf-8") as terminal:
            said = next(line for line in terminal if line.startswith("Passerelle is at"))
    finally:
        server.kill()
        server.wait()
    assert "http://127.0.0.1:" in said
    assert ":0 " not in said
