"""Errors as LibreTranslate has them: {"error"}, and its few statuses."""

from __future__ import annotations

from service.schemas import Problem

_BY_KIND = {"text-too-long": 400}
_BY_STATUS = {401: 403, 415: 400, 422: 400}


def shape(problem: Problem) -> tuple[int, dict[str, str]]:
    """Status and body, see ``service.http.problems.Shape``."""
    kind = problem.type.rpartition(":")[2]
    return _BY_KIND.get(kind) or _BY_STATUS.get(problem.status, problem.status), {"error": problem.detail}
