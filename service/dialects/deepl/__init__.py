"""DeepL's API v2, and the glossaries and translation memories of its v3, as the ``deepl`` package uses them.

Its description: https://developers.deepl.com/docs. Keys come as ``Authorization: DeepL-Auth-Key KEY``.
"""

from __future__ import annotations

from fastapi import APIRouter

from service.dialects.deepl import absent, account, documents, glossaries, memories, multilingual, translate
from service.dialects.deepl.errors import shape

__all__ = ["PREFIXES", "UPLOADS", "public", "router", "shape"]

PREFIXES = ("/v2/", "/v3/")
UPLOADS = ("/v2/document",)

public = memories.public
router = APIRouter(include_in_schema=False)  # DeepL describes it
for part in (translate, documents, glossaries, multilingual, memories, account, absent):
    router.include_router(part.router)
