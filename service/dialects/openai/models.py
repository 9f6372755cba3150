"""Names of models, which may say the direction, and ``/v1/models``, which lists them."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter

from nmt.text.codes import nearest
from service.http.problems import ProblemError
from service.state import ServiceDependency
from service.work.directions import Directions

router = APIRouter(prefix="/v1/models")

ANY = "passerelle"
"""The model that leaves the direction to the prompt, and to the text."""
_TARGET = re.compile(rf"{ANY}:(?P<code>[A-Za-z]{{2,3}}(-[A-Za-z]{{2,4}})*)")

Pair = tuple[str | None, str | None]


@router.get("")
async def listed(service: ServiceDependency) -> dict[str, Any]:
    """Names that may stand in ``model``."""
    return {"object": "list", "data": [_answer(name) for name in names(service.directions)]}


@router.get("/{name}")
async def one(name: str, service: ServiceDependency) -> dict[str, Any]:
    """One of them."""
    direction_of(name, service.directions)
    return _answer(name)


def names(directions: Directions) -> dict[str, Pair]:
    """Each name, and the languages that it says."""
    found: dict[str, Pair] = {ANY: (None, None)}
    found |= {f"{ANY}:{target}": (None, target) for target in directions.targets}
    for one in directions:
        found[f"{ANY}-{one.source}-{one.target}"] = one.source, one.target
    return found | {one.model.name: (one.source, one.target) for one in directions}


def direction_of(name: str | None, directions: Directions) -> Pair:
    """The languages that a model's name says; a region such as ``passerelle:fr-CA`` is left out.

    Raises:
        ProblemError: 404, there is no such model.
    """
    known = names(directions)
    asked = (name or ANY).strip()
    if asked.lower() in known:
        return known[asked.lower()]
    if asked in known:
        return known[asked]
    found = _TARGET.fullmatch(asked)
    target = nearest(found["code"], directions.targets) if found else None
    if target is None:
        raise ProblemError(
            404, "no-such-model", f"model: there is none of this name; there are {', '.join(known)}."
        )
    return None, target


def _answer(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": ANY}
