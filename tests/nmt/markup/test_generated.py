"""Promise B8: of generated HTML all tags, emoji and white space around texts survive translation."""

from __future__ import annotations

import json
import os
import platform
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmt.extraction import Extract
from nmt.markup import extract_html, translate_markup
from nmt.translator import Translator
from testbed.generated_html import (
    CHECKS,
    broken_html_texts,
    emoji_of,
    html_pages,
    html_texts,
    problems,
    tags_of,
)
from tests.nmt.markup.stub import same, scrambled

MANY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60, database=None)
N_WITH_MODEL = 2_000


@MANY
@given(html_texts(), st.integers(0, 1000))
def test_words_in_any_order_leave_tags_whole_and_nested(html: str, seed: int) -> None:
    extracted = extract_html(html)

    result = extracted.restore([scrambled(seed)(extract) for extract in extracted.extracts])

    assert problems(html, result) == []


@MANY
@given(html_texts(), st.integers(0, 1000))
def test_tags_survive_a_translation_without_alignment(html: str, seed: int) -> None:
    extracted = extract_html(html)

    result = extracted.restore([scrambled(seed, with_links=False)(extract) for extract in extracted.extracts])

    assert problems(html, result) == []


@MANY
@given(html_texts())
def test_the_same_words_give_the_same_tags_around_the_same_words(html: str) -> None:
    extracted = extract_html(html)

    result = extracted.restore([same(extract) for extract in extracted.extracts])

    again = extract_html(result)
    assert [extract.text for extract in again.extracts] == [extract.text for extract in extracted.extracts]
    twice = again.restore([same(extract) for extract in again.extracts])
    assert "".join(twice.split()) == "".join(result.split())
    assert problems(html, result) == []


@MANY
@given(broken_html_texts(), st.integers(0, 1000))
def test_broken_html_keeps_every_tag(html: str, seed: int) -> None:
    extracted = extract_html(html)

    result = extracted.restore([scrambled(seed)(extract) for extract in extracted.extracts])

    assert tags_of(result) == tags_of(html)


@MANY
@given(st.text(max_size=40))
def test_any_text_at_all_comes_back_when_nothing_is_changed(text: str) -> None:
    extracted = extract_html(text)

    result = extracted.restore([same(extract) for extract in extracted.extracts])

    assert result.split() == text.replace("&", "&amp;").split() or "<" in text or "&" in text
    assert all(Extract(e.text, e.keep) == e for e in extracted.extracts)


@pytest.fixture
def translator() -> Translator:
    return Translator.load(device="cpu")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_real_model_keeps_what_it_must_in_2000_generated_texts(translator: Translator) -> None:
    """With PASSERELLE_RECORD=FOLDER it writes what it counted there, as markup.json."""
    texts = html_pages(N_WITH_MODEL, spare=200)
    assert len(texts) == N_WITH_MODEL
    failures: list[tuple[list[str], str, str]] = []
    begun = time.perf_counter()
    for start in range(0, len(texts), 100):
        some = texts[start : start + 100]
        for html, result in zip(some, translate_markup(translator, some, "html"), strict=True):
            if found := problems(html, result):
                failures.append((found, html, result))
    broken = Counter(name for found, _, _ in failures for name in found)
    record = {
        "promise": "B8: tags, nesting, copied elements, white space at the edges of texts, emoji are kept",
        "command": "PASSERELLE_RECORD=docs/reliability pytest -m slow tests/nmt/markup/test_generated.py",
        "model": translator.config.name,
        "texts": len(texts),
        "tags": sum(sum(tags_of(html).values()) for html in texts),
        "emoji": sum(len(emoji_of(html)) for html in texts),
        "sentences": sum(len(extract_html(html).extracts) for html in texts),
        "texts_with_a_problem": {name: broken[name] for name in CHECKS},
        "seconds": round(time.perf_counter() - begun, 1),
        "machine": f"{platform.machine()}, {os.cpu_count()} CPU cores, shared",
    }
    folder = os.environ.get("PASSERELLE_RECORD")
    if folder is not None:
        text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
        Path(folder, "markup.json").write_text(text, encoding="utf-8")
    assert failures == []
