"""The body of a dialect's request, JSON or form, as checked fields. Messages name fields, never values."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, BeforeValidator, ValidationError

from nmt.errors import InputError
from service.http.problems import ProblemError

ShapeT = TypeVar("ShapeT", bound=BaseModel)

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
MOST_PROBLEMS = 5
_ROW = re.compile(r"(?P<list>\w+)\[(?P<index>[0-9]{1,4})\]\.(?P<field>\w+)")


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _names(value: object) -> object:
    """A string like "a,b", or a list of such, as a list of names."""
    given = _as_list(value)
    if isinstance(given, Sequence) and all(isinstance(item, str) for item in given):
        return [name.strip() for item in given for name in item.split(",") if name.strip()]
    return given


OneOrMore = BeforeValidator(_as_list)
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


async def read_fields(request: Request, *, lists: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a JSON object or a form; of those in ``lists`` a form may have several.

    A key among them is left out: the check before the route has read it.

    Raises:
        InputError: the body is neither.
        ProblemError: 403, the page of another site sends a form.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in FORMS:
        refuse_foreign_form(request)
        form = await request.form()
        found: dict[str, Any] = {}
        for name in form:
            values = [value for value in form.getlist(name) if isinstance(value, str)]
            if values:
                found[name] = values if name in lists else values[0]
        return without_key(_with_rows(found))
    if not await request.body():
        return {}
    if media_type != "application/json":
        raise InputError(f"the body must be JSON or a form: send it as application/json or {FORMS[0]}")
    fields = await read_json(request)
    if not isinstance(fields, dict):
        raise InputError("the body must be a JSON object")
    return without_key(fields)


def _with_rows(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of a form, where ``rows[0].name`` is field ``name`` of the first object in the list ``rows``."""
    rows: dict[str, dict[int, dict[str, Any]]] = {}
    flat = {}
    for name, value in fields.items():
        found = _ROW.fullmatch(name)
        if found is None or found["list"] in fields:
            flat[name] = value
        else:
            rows.setdefault(found["list"], {}).setdefault(int(found["index"]), {})[found["field"]] = value
    return flat | {name: [row for _, row in sorted(numbered.items())] for name, numbered in rows.items()}


async def read_json(request: Request) -> object:
    """The body, which is JSON.

    Raises:
        InputError: it is not.
    """
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        raise InputError("the body could not be read as JSON in UTF-8") from None


def without_key(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields but for the key that older clients of DeepL send among them."""
    return {name: value for name, value in fields.items() if name != "auth_key"}


def refuse_foreign_form(request: Request) -> None:
    """Where no key is asked for, a page of any site could make its reader's browser send a form here.

    Raises:
        ProblemError: 403, the browser says that it is so.
    """
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise ProblemError(403, "foreign-form", "A form sent by the page of another site is not taken.")


def parse(shape: type[ShapeT], fields: dict[str, Any]) -> ShapeT:
    """Check ``fields``.

    Raises:
        InputError: naming each field that is wrong and what is wrong with it.
    """
    try:
        return shape.model_validate(fields)
    except ValidationError as error:
        problems = [_explain(shape, problem) for problem in error.errors(include_url=False)]
    raise InputError("; ".join(list(dict.fromkeys(problems))[:MOST_PROBLEMS])) from None


def _explain(shape: type[BaseModel], problem: Any) -> str:  # noqa: ANN401 - a TypedDict of pydantic_core
    known = [field.alias or name for name, field in shape.model_fields.items()]
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(problem["loc"][-1]), known, n=1, cutoff=0.6)
        return "an unknown field; " + (
            f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
        )
    path = ".".join(str(part) for part in problem["loc"] if isinstance(part, int) or part in known)
    message = str(problem["msg"])
    return f"{path}: {message[:1].lower()}{message[1:]}"
