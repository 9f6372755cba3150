"""``nmt serve``: start the processes that translate, then answer until told to stop.

On SIGTERM or SIGINT the server takes no new connection, finishes what it has accepted, and exits with 0.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter

import structlog
import uvicorn
from fastapi import FastAPI

from nmt.errors import ConfigError, PasserelleError
from nmt.model_folder.registry import languages_of, resolve_model, shipped_models, split_pair
from service.app import create_app
from service.calls.auth import needs_keys
from service.database.database import Database
from service.http.listening import Server, refuse_taken
from service.http.logs import configure
from service.http.protocol import with_deadlines
from service.settings import Settings, load_settings
from service.work.directions import refuse_equal
from service.work.engine.messages import Pair, Start
from service.work.engine.process import ProcessEngine
from service.work.engine.shared import PairEngine, engines_of


def serve(host: str = "127.0.0.1", port: int = 8000, model: str | Sequence[str] | None = None) -> None:
    """Serve model folders; everything else is set by ``PASSERELLE_*`` variables, see ``service.settings``.

    Args:
        host: address to listen on.
        port: port to listen on; 0 takes a free one.
        model: a folder or the name of a model that ships, or several, of different directions; the first is
            the default. None: what ``PASSERELLE_MODELS`` says, else all that ship.

    Raises:
        ConfigError: a setting is wrong, the port is taken, requests need a key and there is none, or two
            models translate between the same languages.
        DatabaseError: the database cannot be opened, or is not at this version.
        ModelFolderError: there is no such model, or it is corrupt.
    """
    settings = load_settings()
    configure(settings)
    refuse_taken(host, port)
    database = Database(settings)
    database.prepare()
    keys_required = check_keys(settings, host, database)
    named = [model] if isinstance(model, str) else list(model or settings.models or shipped_models())
    engines = start_engines(named or [None], settings)
    app = create_app(settings, engines, database=database, keys_required=keys_required, host=host)
    server = make_server(app, settings, host, port)
    # uvicorn handles signals while it runs and raises them again afterwards; an orderly end is a success. One
    # that comes before it runs is not forgotten.
    signal.signal(signal.SIGTERM, lambda *_: setattr(server, "should_exit", True))
    sys.setswitchinterval(0.001)
    gc.collect()
    gc.freeze()  # what is there now never becomes garbage, and a look at all of it holds every request up
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(1)


def start_engines(models: Sequence[str | None], settings: Settings) -> list[ProcessEngine | PairEngine]:
    """A process for each model folder, all loading at once; None: that which ships, which is then missing.

    Of a model of several languages a name such as ``nllb@de:pt-BR`` chooses the pair; the pairs of one folder
    share its process, and so its memory.

    Returns:
        An engine for each of ``models``, in their order.

    Raises:
        ConfigError: two models translate between the same languages, or there is no such device.
        ModelFolderError: there is no such model, or it is corrupt. No process is left then.
    """
    groups = _of_one_folder(models)
    with ThreadPoolExecutor(len(groups)) as threads:
        starting = [threads.submit(_start, places, models, settings) for places in groups]
    started = [future.result() for future in starting if future.exception() is None]
    engines = [engine for one in started for engine in engines_of(one)]
    try:
        for future in starting:
            future.result()
        places = [place for group in groups for place in group]
        engines = [engine for _, engine in sorted(zip(places, engines, strict=True), key=itemgetter(0))]
        refuse_equal([engine.config for engine in engines])
    except BaseException:
        for engine in engines:
            engine.stop(0)
        raise
    log = structlog.get_logger()
    for engine in engines:
        log.info("model_loaded", model=engine.config.name, device=settings.device, engine_pid=engine.pid)
    return engines


def reverse_of(named: str | None, models: Sequence[str | None]) -> str | None:
    """That of the models which translates the other way."""
    try:
        pairs = {one: _pair_of(one) for one in {named, *models} if one is not None}
    except PasserelleError:
        return None  # whoever loads it says what is wrong
    if named is None:
        return None
    source, target = pairs[named]
    return next((split_pair(one)[0] for one, pair in pairs.items() if pair == (target, source)), None)


def _start(places: Sequence[int], models: Sequence[str | None], settings: Settings) -> ProcessEngine:
    """The process of one model folder, with those of ``models`` at ``places``."""
    named, *others = [models[place] for place in places]
    model, source, target = (None, None, None) if named is None else split_pair(named)
    return ProcessEngine(
        Start(
            model=model,
            source=source,
            target=target,
            reverse=reverse_of(named, models),
            others=tuple(_other(other, models) for other in others if other is not None),
            device=settings.device,
            engine=settings.engine,
            batch_max_tokens=settings.batch_max_tokens,
            log_level=settings.log_level,
            log_format=settings.log_format,
        ),
        silent_s=settings.engine_silent_s,
        step_s=settings.engine_step_s,
        threads=settings.engine_threads,
    )


def _other(named: str, models: Sequence[str | None]) -> Pair:
    """A further pair of a folder; one that is not named is the folder's own."""
    model, source, target = split_pair(named)
    if source is None:
        source, target = languages_of(resolve_model(model))
    return Pair(source=source, target=target, reverse=reverse_of(named, models))


def _of_one_folder(models: Sequence[str | None]) -> list[list[int]]:
    """Places of the models that are one folder, together."""
    groups: dict[object, list[int]] = {}
    for place, named in enumerate(models):
        folder: object = place  # whoever loads it says what is wrong with a name that leads nowhere
        with contextlib.suppress(PasserelleError):
            folder = place if named is None else resolve_model(split_pair(named)[0]).resolve()
        groups.setdefault(folder, []).append(place)
    return list(groups.values())


def _pair_of(named: str) -> tuple[str, str]:
    model, source, target = split_pair(named)
    return languages_of(resolve_model(model), source, target)


def check_keys(settings: Settings, host: str, database: Database) -> bool:
    """Whether requests need a key.

    Raises:
        ConfigError: they do because of where the server would listen, and there is no key that anybody could
        use.
    """
    if not needs_keys(settings.keys, host):
        return False
    if not database.keys.any_active():
        if settings.keys == "auto":
            raise ConfigError(
                f"{host} can be reached from elsewhere, so requests need a key, and there is none yet: "
                f"run nmt keys create NAME first, or set PASSERELLE_KEYS=off to serve whoever can connect"
            )
        structlog.get_logger().warning("no_keys", next_step="nmt keys create NAME")
    return True


def make_server(app: FastAPI, settings: Settings, host: str, port: int) -> Server:
    """Uvicorn with h11 (httptools takes headers of any size), our deadlines, and no access log of its own."""
    return Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            http=with_deadlines(settings.header_timeout_s, settings.write_timeout_s),
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
