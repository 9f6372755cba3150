"""OpenAI's chat completions under ``/v1``, for tools that translate through them and know nothing else.

Its description: https://platform.openai.com/docs/api-reference/chat. This is a compatibility route: the last
message is translated, and nothing else is answered. Keys come as ``Authorization: Bearer KEY``.

    prompt    what is asked for: from which language to which, and which text
    texts     the text taken apart: lines, JSON, Weblate's strings
    models    names of models, which may say the direction
    chat      the route, whole and streamed
"""

from __future__ import annotations

from fastapi import APIRouter

from service.dialects.openai import chat, models
from service.dialects.openai.errors import shape

__all__ = ["PREFIX", "TRANSLATING", "router", "shape"]

PREFIX = "/v1/"
TRANSLATING = "/v1/chat/completions"

router = APIRouter(include_in_schema=False)  # OpenAI describes it
for part in (chat, models):
    router.include_router(part.router)
