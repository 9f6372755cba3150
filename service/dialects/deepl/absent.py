"""Parts of DeepL's API that its client calls and that are not here: each is refused by name."""

from __future__ import annotations

from fastapi import APIRouter

from service.http.problems import ProblemError

router = APIRouter()

WITHOUT = {
    "/v2/write/rephrase": "This server translates, and rephrases nothing (DeepL Write).",
    "/v2/write/correct": "This server translates, and corrects nothing (DeepL Write); nmt check finds slips.",
    "/v3/style_rules": "This server has no style rules; formality and glossaries are what it has.",
}
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def _refuse(path: str, detail: str) -> None:
    async def refused() -> None:
        raise ProblemError(404, "not-here", detail)

    router.add_api_route(path, refused, methods=METHODS)
    router.add_api_route(f"{path}/{{rest:path}}", refused, methods=METHODS)


for _path, _detail in WITHOUT.items():
    _refuse(_path, _detail)
