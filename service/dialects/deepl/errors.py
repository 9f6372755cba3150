"""Errors as DeepL has them: {"message", "detail"}, and statuses that its client turns into its exceptions."""

from __future__ import annotations

from service.http.problems import phrase
from service.schemas import Problem

QUOTA_EXCEEDED, OVERLOADED = 456, 529  # DeepL's own
_BY_KIND = {
    "quota-exceeded": QUOTA_EXCEEDED,
    "queue-full": OVERLOADED,
    "document-not-done": 503,  # the client takes it for DocumentNotReadyException
}
_BY_STATUS = {401: 403, 406: 400, 415: 400, 422: 400}
_PHRASES = {QUOTA_EXCEEDED: "Quota exceeded", OVERLOADED: "Too many requests"}
_NOWHERE = "This server has no such part of DeepL's API; docs/dialects.md lists what there is."


def shape(problem: Problem) -> tuple[int, dict[str, str]]:
    """Status and body, see ``service.http.problems.Shape``."""
    kind = problem.type.rpartition(":")[2]
    status = _BY_KIND.get(kind) or _BY_STATUS.get(problem.status, problem.status)
    message = _PHRASES.get(status) or phrase(status)
    return status, {"message": message, "detail": _NOWHERE if kind == "not-found" else problem.detail}
