"""Translations that begin as somebody wrote it, and the words that may follow, by the model that ships."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from nmt.batching.continuous import ContinuousTranslator
from nmt.batching.events import Finished
from nmt.errors import InputError
from nmt.memory.unit import MemoryMatch
from nmt.options import TranslationOptions
from nmt.pipeline.next_words import NextWord
from nmt.pipeline.requests import Search
from nmt.text.words import words
from nmt.translator import Translation, Translator

SAMPLE = Path(__file__).parent.parent.parent / "training" / "sample" / "dev.en"
WOMAN = "A young woman is reading a book in the park."
TEXTS = (WOMAN, "The European Parliament has adopted a resolution on the protection of the environment.")
GIVEN = (
    (WOMAN, "Une jeune fille"),
    (WOMAN, "Dans le parc,"),
    ("- Open https://a.b/c now.", "- Veuillez ouvrir https://a.b/c"),
    ("- Open https://a.b/c now.", "Cliquez"),
    ("THE DOG RUNS ON THE BEACH.", "LE TOUTOU"),
    ("the dog runs", "un chien"),
    ('He said "hello" to Mr. Xavierson.', "Il dit  «\u00a0bonjour\u00a0»"),
    ("It costs $1,250.50 today.", "Aujourd’hui, il faut 1.250"),
)
"""Sentences, and how somebody wants their translations to begin."""


@pytest.fixture(scope="module", params=["eager", "float32", "int8"])
def translator(request: pytest.FixtureRequest) -> Translator:
    return Translator.load("general", device="cpu", engine=request.param)


@pytest.fixture(scope="module")
def eager() -> Translator:
    return Translator.load("general", device="cpu", engine="eager")


def begun(translator: Translator, text: str, prefix: str, **options: Any) -> Translation:
    [found] = translator.translate([text], TranslationOptions(prefixes=(prefix,), **options))
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_the_models_own_translation_cut_after_any_word_is_continued_to_itself(
    translator: Translator, text: str
) -> None:
    options = TranslationOptions(alignment="links")
    [free] = translator.translate([text], options)
    for word in words(free.text):
        if free.text[word.end - 1 :][:1] == "'":
            continue  # an elided article: the tokens of the whole may be others
        found = begun(translator, text, free.text[: word.end], alignment="links")
        assert found.text == free.text
        assert found.score == pytest.approx(free.score, abs=1e-3)
        assert found.confidence == pytest.approx(free.confidence, abs=1e-3)
        assert [(link.source, link.target) for link in found.links or ()] == [
            (link.source, link.target) for link in free.links or ()
        ]


@pytest.mark.parametrize(("text", "prefix"), GIVEN)
@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"french_typography": True}, marks=pytest.mark.exhaustive),
        pytest.param({"quality": "fast"}, marks=pytest.mark.exhaustive),
    ],
    ids=str,
)
def test_a_translation_begins_exactly_as_it_was_given_and_goes_on(
    translator: Translator, text: str, prefix: str, options: dict[str, Any]
) -> None:
    found = begun(translator, text, f" {prefix} ", alignment="links", **options)
    assert found.text.startswith(prefix)
    assert len(found.text) > len(prefix)
    assert not found.text[len(prefix)].isalnum(), "the last word is a whole one"
    assert found.links
    assert [found.text[token.start : token.end] for token in found.target_tokens or ()] == [
        token.text for token in found.target_tokens or ()
    ]


def test_both_engines_continue_a_prefix_alike(eager: Translator) -> None:
    other = Translator.load("general", device="cpu", engine="float32")
    for text, prefix in GIVEN:
        if prefix == "Cliquez" or prefix.endswith("1.250"):
            continue  # what is left out is put in each engine's own way
        assert begun(other, text, prefix).text == begun(eager, text, prefix).text


def test_a_literal_of_the_prefix_is_not_written_again(translator: Translator) -> None:
    found = begun(translator, "Open https://a.b/c now.", "Ouvrez https://a.b/c")
    assert found.text.count("https://a.b/c") == 1
    assert [found.text[target.start : target.end] for _, target in found.kept] == ["https://a.b/c"]
    assert begun(translator, "Open https://a.b/c now.", "Ouvrez").text.count("https://a.b/c") == 1


def test_the_last_word_is_not_gone_on_with(translator: Translator) -> None:
    text = "The unemployment rate is rising in the European countries."
    [free] = translator.translate([text])
    word = next(word for word in words(free.text) if len(word.text) > 8)
    piece = translator.tokenizer.encode_pieces(free.text)
    inner = next((one for one in piece if word.start < one.start < word.end), None)
    cut = free.text[: word.start + 4] if inner is None else free.text[: inner.start]
    found = begun(translator, text, cut)
    assert found.text.startswith(cut)
    assert not found.text[len(cut)].isalnum()


def test_each_sentence_of_a_text_has_its_own_prefix_or_none(translator: Translator) -> None:
    text = f"It is late.\n{WOMAN} We are going home."
    [free] = translator.translate([text])
    [found] = translator.translate([text], TranslationOptions(prefixes=("", "Une jeune fille", "")))
    parts = [found.text[one.target.start : one.target.end] for one in found.sentences]
    own = [free.text[one.target.start : one.target.end] for one in free.sentences]
    assert (parts[0], parts[2]) == (own[0], own[2])
    assert parts[1].startswith("Une jeune fille ")


def test_prefixes_that_cannot_be_kept_are_refused(eager: Translator) -> None:
    with pytest.raises(InputError, match="1 prefixes for a text of 2 sentences: give one for each"):
        begun(eager, "It is late. We are going home.", "Il")
    with pytest.raises(InputError, match="a prefix is of one text, and these are 2"):
        eager.translate([WOMAN, WOMAN], TranslationOptions(prefixes=("Une",)))
    with pytest.raises(InputError, match="min_confidence puts the source"):
        begun(eager, WOMAN, "Une", min_confidence=0.5)
    with pytest.raises(InputError, match=r"prefix: character 1 .* surrogate"):
        begun(eager, WOMAN, "U\ud800")
    with pytest.raises(InputError, match=r"the prefix has .* sub-words, and the model writes"):
        begun(eager, WOMAN, "bonjour " * 3000)


def test_a_memory_gives_the_translation_only_where_it_begins_as_it_should(eager: Translator) -> None:
    match = MemoryMatch(WOMAN, WOMAN, "Une jeune femme lit au parc.", 1.0, 7)
    assert begun(eager, WOMAN, "Une jeune", memory=(match,)).text == "Une jeune femme lit au parc."
    found = begun(eager, WOMAN, "Une jeune fille", memory=(match,))
    assert found.text.startswith("Une jeune fille ")
    assert [one.use for one in found.memory] == ["suggestion"]


def test_sentences_of_a_running_batch_keep_their_prefixes(translator: Translator) -> None:
    running = ContinuousTranslator(translator)
    for number, (text, prefix) in enumerate(GIVEN[:5]):
        running.add(number, [text], TranslationOptions(prefixes=(prefix,)))
    running.add("free", [WOMAN])
    with pytest.raises(InputError, match="a prefix is of one text"):
        running.add("two", [WOMAN, WOMAN], TranslationOptions(prefixes=("Une",)))
    found = {}
    while running.is_busy:
        for event in running.step():
            if isinstance(event, Finished):
                found[event.request] = event.translations[0].text
    for number, (_, prefix) in enumerate(GIVEN[:5]):
        assert found[number].startswith(prefix)
    assert found["free"] == translator.translate([WOMAN])[0].text


def test_next_words_are_whole_words_likeliest_first_and_the_models_own_among_them(
    translator: Translator,
) -> None:
    [free] = translator.translate([WOMAN])
    for word in words(free.text):
        before = free.text[: word.start]
        found = translator.next_words(WOMAN, before)
        assert 1 <= len(found) <= 5
        assert found[0].text == word.text, "greedy and beam search agree on this sentence"
        assert found[0].prefix == free.text[: word.end]
        shares = [one.probability for one in found]
        assert shares == sorted(shares, reverse=True)
        assert 0 < shares[-1] <= sum(shares) <= 1.001
        assert len({one.text for one in found}) == len(found)
        assert all(one.text and " " not in one.text for one in found)


def _word_of_several_pieces(translator: Translator) -> tuple[str, str, NextWord]:
    """A sentence, the beginning of its translation, and a next word that the vocabulary has in parts."""
    for text in SAMPLE.read_text(encoding="utf-8").splitlines()[:100]:
        [free] = translator.translate([text])
        given = free.text[: words(free.text)[0].end]
        n_before = len(translator.tokenizer.subwords(given))
        for word in translator.next_words(text, given, 3):
            if word.text.isalpha() and len(translator.tokenizer.subwords(word.prefix)) > n_before + 1:
                return text, given, word
    raise AssertionError("the sample has no such word")


def test_a_next_word_of_several_pieces_has_their_probability(eager: Translator) -> None:
    text, given, word = _word_of_several_pieces(eager)
    before, with_it = eager.tokenizer.subwords(given), tuple(eager.tokenizer.subwords(word.prefix))
    source = tuple(eager.source_tokenizer.encode(text))
    question = Search(source, eager.generation, (), with_it)
    [[found]] = eager.answerer.searcher.search([question], max_batch_tokens=4096)
    share = math.exp(sum(found.token_log_probs[len(before) : len(with_it)]))
    assert 0.7 * share < word.probability <= share * 1.001, "what is left is that it ends there"


def test_next_words_of_both_engines_are_alike(eager: Translator) -> None:
    other = Translator.load("general", device="cpu", engine="float32")
    for text, prefix in ((WOMAN, ""), (WOMAN, "Une jeune"), ("Open https://a.b/c now.", "Ouvrez")):
        ours, theirs = other.next_words(text, prefix, 4), eager.next_words(text, prefix, 4)
        assert [one.text for one in ours] == [one.text for one in theirs]
        for one, another in zip(ours, theirs, strict=True):
            assert one.probability == pytest.approx(another.probability, rel=0.02)


def test_next_words_have_the_shape_of_the_translation(eager: Translator) -> None:
    assert eager.next_words("THE DOG RUNS ON THE BEACH.", "LE", 1)[0].text == "CHIEN"
    assert eager.next_words("Open https://a.b/c now.", "Ouvrez", 1)[0].text == "https://a.b/c"
    assert eager.next_words("- The man is eating.", "- L'", 1)[0].prefix == "- L'homme"
    [word] = eager.next_words("Ask Mr. Jean Xavierson.", "Demandez à M. Jean", 3)
    assert (word.text, word.prefix, word.probability) == ("Xavierson", "Demandez à M. Jean Xavierson", 1.0)


def test_next_words_that_cannot_be_meant_are_refused(eager: Translator) -> None:
    for count in (0, 21):
        with pytest.raises(InputError, match=f"count {count} is not from 1 to 20"):
            eager.next_words(WOMAN, "Une", count)
    with pytest.raises(InputError, match="1 prefixes for a text of 2 sentences"):
        eager.next_words("One.\nTwo.", "Un")
