"""``nmt serve``: load the model, then answer until told to stop.

On SIGTERM or SIGINT the server takes no new connection, finishes what it has accepted, and exits with 0.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import sys

import structlog
import uvicorn
from fastapi import FastAPI

from service.app import create_app
from service.logs import configure
from service.protocol import with_deadline
from service.settings import Settings, load_settings


def serve(host: str = "127.0.0.1", port: int = 8000, model: str | None = None) -> None:
    """Serve a model folder; everything else is set by ``PASSERELLE_*`` variables, see ``service.settings``.

    Args:
        host: address to listen on.
        port: port to listen on; 0 takes a free one.
        model: a folder, the name of a model that ships, or None for the first of those.

    Raises:
        ConfigError: a setting is wrong.
        ModelFolderError: there is no such model, or it is corrupt.
    """
    settings = load_settings()
    configure(settings)
    from nmt.translator import Translator  # noqa: PLC0415 - settings are checked before torch is waited for

    translator = Translator.load(model, device=settings.device)
    log = structlog.get_logger()
    log.info("model_loaded", model=translator.config.name, device=settings.device)
    gc.collect()
    gc.freeze()  # the model never becomes garbage: later collections need not look at it
    server = make_server(create_app(settings, translator), settings, host, port)
    # uvicorn handles signals while it runs and raises them again afterwards; an orderly end is a success.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(1)


def make_server(app: FastAPI, settings: Settings, host: str, port: int) -> uvicorn.Server:
    """Uvicorn with h11 (httptools takes headers of any size), our deadlines, and no access log of its own."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            http=with_deadline(settings.header_timeout_s),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=settings.keep_alive_s,
            timeout_graceful_shutdown=settings.shutdown_timeout_s,
        )
    )
