"""Real servers on the loopback interface, each in a thread, around the stub."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import structlog
import uvicorn
from fastapi import FastAPI

from nmt.searchers.cache import CACHE
from service.app import create_app
from service.main import make_server
from service.settings import Settings
from service.state import Service
from service.work.interface import TextTranslator
from service.work.scheduler import Scheduler
from testbed.stub import StubTranslator

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from selenium import webdriver


@dataclass
class LiveServer:
    """A server that answers at ``url``, and its insides."""

    url: str
    server: uvicorn.Server
    service: Service
    translator: Any
    thread: threading.Thread

    @property
    def port(self) -> int:
        return httpx.URL(self.url).port or 0

    @property
    def scheduler(self) -> Scheduler:
        """Of the default direction."""
        return self.service.directions.default.scheduler

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=20, trust_env=False, verify=False, **options)

    def post(self, body: Any, **options: Any) -> httpx.Response:
        with self.client() as client:
            return client.post("/translate", json=body, **options)


@contextlib.contextmanager
def running(
    translator: TextTranslator, *, tracing: TracerProvider | None = None, **settings: Any
) -> Iterator[LiveServer]:
    """Serve ``translator`` until the block ends, then shut down gracefully."""
    chosen = Settings(**settings)
    with serving(create_app(chosen, translator, tracing=tracing), chosen, translator) as live:
        yield live


@contextlib.contextmanager
def serving(
    app: FastAPI, chosen: Settings, translator: TextTranslator, port: int = 0
) -> Iterator[LiveServer]:
    """Serve an app until the block ends, then shut down gracefully; port 0 is any that is free."""
    server = make_server(app, chosen, "127.0.0.1", port)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield LiveServer(f"http://127.0.0.1:{port}", server, app.state.service, translator, thread)
    finally:
        if isinstance(translator, StubTranslator):
            translator.gate.set()  # a test that failed may have left it shut
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "the server did not stop"


def eventually(condition: Callable[[], bool], within_s: float = 5) -> None:
    """Wait until ``condition`` holds."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def live() -> Iterator[LiveServer]:
    """A server with default limits, shared by the tests of a file that change nothing of it."""
    with running(StubTranslator()) as server:
        yield server


@pytest.fixture
def logging_restored() -> Iterator[None]:
    """Undo ``service.http.logs.configure``."""
    names = ("uvicorn", "uvicorn.error", "asyncio", "fastapi", "matplotlib")
    before = {name: (logging.getLogger(name).handlers[:], logging.getLogger(name).level) for name in names}
    yield
    structlog.reset_defaults()
    for name, (handlers, level) in before.items():
        logging.getLogger(name).handlers = handlers
        logging.getLogger(name).setLevel(level)
        logging.getLogger(name).propagate = True


@pytest.fixture(scope="session", autouse=True)
def _own_settings() -> Iterator[None]:
    """No variable of the machine that runs the tests reaches the settings; nothing is written to its home."""
    with pytest.MonkeyPatch.context() as patch:
        settings = [name for name in os.environ if name.startswith("PASSERELLE_") and name != CACHE]
        for name in settings:
            patch.delenv(name)
        patch.setenv("PASSERELLE_DATABASE_URL", "sqlite://")  # in memory: each server has its own
        patch.setenv("PASSERELLE_KEYS", "off")
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[webdriver.Chrome]:
    """One browser for all tests of pages."""
    from tests.service.page import start_browser

    driver = start_browser()
    yield driver
    driver.quit()
