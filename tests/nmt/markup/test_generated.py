"""Promise B8: of generated HTML all tags, emoji and white space around texts survive translation."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmt.extraction import Extract
from nmt.markup import extract_html
from tests.nmt.markup.generated import broken_html_texts, html_texts, problems, tags_of
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
