"""``POST /v1/chat/completions``: the translation of the last message, whole or streamed."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field

from nmt.batching.events import PartFinished
from nmt.errors import InputError
from nmt.extraction import to_translate
from nmt.text.codes import writes_spaces
from service.calls import translation_call
from service.calls.limits import check_texts, options, require_json
from service.dialects.fields import parse, read_fields
from service.dialects.openai.errors import shape
from service.dialects.openai.models import ANY, direction_of
from service.dialects.openai.prompt import Languages, read_prompt
from service.dialects.openai.texts import Json, Lines, WeblateStrings, take_apart, weblate_strings
from service.http.problems import problem_of
from service.routes.translate import EVENT_STREAM
from service.schemas import Text, TranslateRequest
from service.state import Service, ServiceDependency
from service.work.directions import Direction
from service.work.scheduler import Job
from service.work.source_language import AUTO

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

router = APIRouter(prefix="/v1/chat")

SYSTEM = ("system", "developer")
_NOTHING: tuple[object, ...] = (None, "", [], {}, False)
_REFUSED = {
    "tools": "calls no tools",
    "functions": "calls no functions",
    "audio": "writes text only",
    "logprobs": "gives no log-probabilities; POST /translate has scores",
    "top_logprobs": "gives no log-probabilities; POST /translate has scores",
    "logit_bias": "cannot be biased; POST /translate takes a glossary",
    "web_search_options": "searches nothing",
}
"""Fields that ask for another answer than a translation."""


class Part(BaseModel):
    """A part of a message."""

    type: str
    text: Text | None = None


class Message(BaseModel):
    """A message; other fields are ignored."""

    role: str
    content: Text | list[Part] | None = None


class StreamOptions(BaseModel):
    """How to stream."""

    include_usage: bool = False


class ChatFields(BaseModel):
    """Fields that are read; those of sampling (temperature, stop ...) do not concern a translation."""

    messages: list[Message] = Field(min_length=1)
    model: str | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None


@dataclass(frozen=True)
class _Asked:
    """A request that was checked."""

    taken: Lines | Json | WeblateStrings
    job: Job
    direction: Direction


@dataclass(frozen=True)
class _Head:
    """Fields that are the same in each chunk of an answer."""

    id: str
    created: int
    model: str

    def answer(self, kind: str, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:  # noqa: ANN401
        """An answer, or a chunk of one."""
        head = {"id": self.id, "object": kind, "created": self.created, "model": self.model}
        return {**head, "choices": choices, **more}


@router.post("/completions", dependencies=[Depends(require_json)])
async def complete(request: Request, service: ServiceDependency) -> Response:
    """A completion that is the translation of the last message of the user."""
    given = await read_fields(request)
    _refuse(given)
    fields = parse(ChatFields, given)
    asked = await _asked(fields, service)
    head = _Head(f"chatcmpl-{secrets.token_hex(12)}", int(time.time()), fields.model or ANY)
    if fields.stream:
        with_usage = fields.stream_options is not None and fields.stream_options.include_usage
        return await _stream(asked, head, request, service, with_usage=with_usage)
    found: list[Translation] = []
    if asked.job.texts:
        found = await translation_call.translate(service, request, asked.job)
    content = await asyncio.to_thread(asked.taken.restore, found)
    message = {"role": "assistant", "content": content, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(found)}
    answer = head.answer("chat.completion", [choice], usage=_usage(found))
    return JSONResponse(answer, headers={"Cache-Control": "no-store"})


def _refuse(given: dict[str, Any]) -> None:
    """Raises ``InputError`` for what asks for another answer than one translation."""
    for name, why in _REFUSED.items():
        if given.get(name) not in _NOTHING:
            raise InputError(f"{name}: this route translates, and {why}; leave it out")
    for name in ("tool_choice", "function_call"):
        if given.get(name) not in (*_NOTHING, "none", "auto"):
            raise InputError(f"{name}: this route translates, and calls nothing; leave it out")
    wanted = given.get("response_format")
    if wanted not in _NOTHING and not (isinstance(wanted, dict) and wanted.get("type") == "text"):
        raise InputError(
            "response_format: only text can be had; leave it out: a message of JSON is answered in JSON"
        )
    if given.get("n") not in (None, 1):
        raise InputError("n: one answer is given; POST /translate has alternatives (n_best)")
    if given.get("modalities") not in (None, ["text"]):
        raise InputError("modalities: only text can be had; leave it out")


async def _asked(fields: ChatFields, service: Service) -> _Asked:
    """The direction by the model's name, the prompt, or the language of the text; and the text's parts.

    Raises:
        InputError: there is no text.
        ProblemError: 404, there is no such model.
        UnsupportedLanguageError: nothing translates so.
    """
    directions = service.directions
    source, target = direction_of(fields.model, directions)
    system = [_content(one) for one in fields.messages if one.role in SYSTEM]
    users = [one for one in fields.messages if one.role == "user"]
    if not users:
        raise InputError("messages: there is none of the user; send the text as one of role user")
    user = _content(users[-1])
    taken: Lines | Json | WeblateStrings | None = await asyncio.to_thread(weblate_strings, user)
    glossary = None
    if isinstance(taken, WeblateStrings):
        if target is None:
            source, target = taken.source_language, taken.target_language
        text, glossary = "\n".join(taken.sources), taken.glossary
    else:
        known = Languages(directions.sources, directions.targets)
        model_tells = target is not None
        prompt = await asyncio.to_thread(read_prompt, system, user, known, model_tells=model_tells)
        if target is None:
            source, target = prompt.source, prompt.target
        elif source is None and prompt.target in (None, target):
            source = prompt.source
        text = prompt.text
        taken = await asyncio.to_thread(take_apart, text)
    check_texts([text], service.settings)
    direction = await directions.choose((source or AUTO).replace("_", "-"), _code(target), [text])
    chosen = options(TranslateRequest(text=""), direction, service.settings, confidence=False)
    aligned = "links" if isinstance(taken, Json) else "none"
    chosen = chosen.model_copy(update={"glossary": glossary, "alignment": aligned})
    texts, keep = to_translate(taken.extracts)
    return _Asked(taken, Job(tuple(texts), chosen, tuple(keep) if any(keep) else None), direction)


def _code(target: str | None) -> str | None:
    return None if target is None else target.replace("_", "-")


def _content(message: Message) -> str:
    """The text of a message.

    Raises:
        InputError: it has something else, such as an image.
    """
    if not isinstance(message.content, list):
        return message.content or ""
    if any(part.type not in ("text", "input_text") or part.text is None for part in message.content):
        raise InputError("messages: a part is no text; only text is translated")
    return "\n".join(part.text or "" for part in message.content)


async def _stream(
    asked: _Asked, head: _Head, request: Request, service: Service, *, with_usage: bool
) -> Response:
    """The same by server-sent events. What goes wrong before the first one has a status of its own."""
    events = translation_call.stream(service, request, asked.job) if asked.job.texts else _no_events()
    first = await anext(events)

    def chunk(delta: dict[str, str], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return _event(head.answer("chat.completion.chunk", [choice]))

    async def written() -> AsyncIterator[bytes]:
        event: PartFinished | list[Translation] = first
        writer = _Writer(asked)
        try:
            yield chunk({"role": "assistant", "content": ""})
            while isinstance(event, PartFinished):
                if content := writer.part(event):
                    yield chunk({"content": content})
                event = await anext(events)
            if content := await asyncio.to_thread(writer.rest, event):
                yield chunk({"content": content})
            yield chunk({}, _reason(event))
            if with_usage:
                yield _event(head.answer("chat.completion.chunk", [], usage=_usage(event)))
            yield b"data: [DONE]\n\n"
        except Exception as error:
            _, body = shape((await problem_of(error, request)).problem)
            yield _event(body)
        finally:
            await events.aclose()

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(written(), media_type=EVENT_STREAM, headers=headers)


async def _no_events() -> Any:  # noqa: ANN401 - an asynchronous generator of what a stream ends with
    yield []


class _Writer:
    """Sentences to the text as it is written: lines go out sentence by sentence, JSON at the end."""

    def __init__(self, asked: _Asked) -> None:
        self._taken = asked.taken
        self._spaced = writes_spaces(asked.direction.target), writes_spaces(asked.direction.source)
        self._line = -1
        self._read = 0
        """Characters read of the line's source."""

    def part(self, event: PartFinished) -> str:
        """Text that the next sentence adds."""
        if not isinstance(self._taken, Lines):
            return ""
        before = self._up_to(event.text)
        gap = self._taken.extracts[event.text].text[self._read : event.source.start]
        if self._read and self._spaced == (True, False):
            gap = gap or " "
        elif self._read and self._spaced == (False, True) and gap == " ":
            gap = ""
        self._read = event.source.end
        return before + gap + event.translation.text

    def rest(self, translations: Sequence[Translation]) -> str:
        """Text after the last sentence."""
        if not isinstance(self._taken, Lines):
            return self._taken.restore(translations)
        return self._up_to(len(translations))

    def _up_to(self, line: int) -> str:
        """Text before a line; a line without a sentence, as it is."""
        assert isinstance(self._taken, Lines)
        before = ""
        while self._line < line:
            if self._line >= 0:
                before += self._taken.extracts[self._line].text[self._read :]
            self._line, self._read = self._line + 1, 0
            before += self._taken.between[self._line]
        return before


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def _reason(found: Sequence[Translation]) -> str:
    return "length" if any(one.truncated for one in found) else "stop"


def _usage(found: Sequence[Translation]) -> dict[str, int]:
    """Sub-words read and written."""
    read, written = sum(one.n_source_tokens for one in found), sum(one.n_target_tokens for one in found)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
