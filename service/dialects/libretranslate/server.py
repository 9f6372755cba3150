"""``/languages``, ``/frontend/settings``, ``/health``, and ``/suggest``, which takes nothing."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from nmt.documents import SUFFIXES
from service.dialects.libretranslate.languages import targets_of
from service.http.problems import ProblemError
from service.routes.languages import name_of
from service.state import ServiceDependency
from service.work.source_language import AUTO

router = APIRouter(prefix="/libretranslate")


@router.get("/languages")
async def languages(service: ServiceDependency) -> list[dict[str, Any]]:
    """Languages, and those that each is translated to."""
    directions = service.directions
    return [
        {"code": code, "name": name_of(code), "targets": targets_of(directions, code)}
        for code in directions.languages
    ]


@router.get("/frontend/settings")
async def settings(service: ServiceDependency) -> dict[str, Any]:
    """Settings for a page."""
    target = service.directions.default.target
    return {
        "apiKeys": service.keys_required,
        "charLimit": service.settings.max_text_characters,
        "filesTranslation": True,
        "frontendTimeout": 500,
        "keyRequired": service.keys_required,
        "language": {
            "source": {"code": AUTO, "name": "Auto Detect"},
            "target": {"code": target, "name": name_of(target)},
        },
        "suggestions": False,
        "supportedFilesFormat": [f".{suffix}" for suffix in SUFFIXES],
    }


@router.get("/health")
async def health() -> dict[str, str]:
    """Ok as long as the server answers at all."""
    return {"status": "ok"}


@router.post("/suggest")
async def suggest(request: Request) -> None:
    """Refused: nothing that is sent here is kept to learn from."""
    await request.body()
    raise ProblemError(403, "suggestions-off", "Suggestions are disabled on this server.")
