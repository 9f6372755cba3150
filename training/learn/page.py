"""``nmt learn``: the demonstrations by name, and the page of one."""

from __future__ import annotations

import difflib
from pathlib import Path

from nmt.errors import ConfigError
from training.evaluation.plots import png_inlined
from training.learn import (
    alignment,
    bottleneck,
    contexts,
    heads,
    order,
    positions,
    quadratic,
    scaling,
    sequence,
    warmup,
)
from training.learn.lesson import Given, Lesson
from training.page import templates
from training.provenance import provenance

LESSONS: dict[str, Lesson] = {
    module.LESSON.name: module.LESSON
    for module in (
        scaling,
        order,
        positions,
        bottleneck,
        sequence,
        quadratic,
        warmup,
        contexts,
        alignment,
        heads,
    )
}


def listed() -> str:
    """A line for each demonstration."""
    width = max(map(len, LESSONS))
    return "\n".join(f"{name:{width}}  {lesson.title} ({lesson.paper})" for name, lesson in LESSONS.items())


def write_lesson(name: str, html: Path | None, given: Given) -> Path:
    """Compute a demonstration and write its page; default ``NAME.html``.

    Raises:
        ConfigError: there is no such demonstration, or it needs what was not given.
        DataError: a report cannot be read.
    """
    if name not in LESSONS:
        near = difflib.get_close_matches(name, LESSONS, n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(LESSONS)}"
        raise ConfigError(f"{name}: no demonstration of that name; {hint}")
    lesson = LESSONS[name]
    shown = [
        (part, None if part.figure is None else png_inlined(part.figure)) for part in lesson.parts(given)
    ]
    page = templates().get_template("lesson.html").render(lesson=lesson, parts=shown, record=provenance())
    file = html or Path(f"{name}.html")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page, encoding="utf-8")
    return file


def learn(name: str | None, html: Path | None, **given: object) -> None:
    """The command: print the list, or write a page and print where; arguments as ``Given`` has them."""
    print(listed() if name is None else write_lesson(name, html, Given(**given)))  # type: ignore[arg-type]
