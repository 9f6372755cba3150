"""LibreTranslate's API under ``/libretranslate``, as ``libretranslatepy`` uses it.

Its description: https://docs.libretranslate.com. Keys come as ``api_key`` in the body, the form or the query.
"""

from __future__ import annotations

from fastapi import APIRouter

from service.dialects.libretranslate import files, server, translate
from service.dialects.libretranslate.errors import shape

__all__ = ["PREFIX", "UPLOADS", "router", "shape"]

PREFIX = "/libretranslate"
UPLOADS = (f"{PREFIX}/translate_file",)

router = APIRouter(include_in_schema=False)  # LibreTranslate describes it
for part in (translate, files, server):
    router.include_router(part.router)
