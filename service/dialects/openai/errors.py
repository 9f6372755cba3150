"""Errors as OpenAI has them: {"error": {"message", "type", "param", "code"}}, and its few statuses."""

from __future__ import annotations

import re
from typing import Any

from service.schemas import Problem

_BY_STATUS = {413: 400, 415: 400, 422: 400}
_CODES = {
    "text-too-long": "context_length_exceeded",
    "key-missing": "invalid_api_key",
    "key-unknown": "invalid_api_key",
    "quota-exceeded": "insufficient_quota",
    "rate-exceeded": "rate_limit_exceeded",
    "character-rate-exceeded": "rate_limit_exceeded",
    "no-such-model": "model_not_found",
}
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_PARAM = re.compile(r"([A-Za-z][a-z_]*(?:\.\w+)*): ")
"""The field that a detail begins with, perhaps with a capital."""


def shape(problem: Problem) -> tuple[int, dict[str, Any]]:
    """Status and body, see ``service.http.problems.Shape``."""
    kind = problem.type.rpartition(":")[2]
    status = _BY_STATUS.get(problem.status, problem.status)
    code = _CODES.get(kind, kind.replace("-", "_"))
    named = _PARAM.match(problem.detail)
    error = {
        "message": problem.detail,
        "type": code if code == "insufficient_quota" else _type(status),
        "param": None if named is None else named[1].lower(),
        "code": code,
    }
    return status, {"error": error}


def _type(status: int) -> str:
    return "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error")
