"""Both models that ship and a German-English one trained here, in one server, by the clients of others."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import deepl
import pytest
from libretranslatepy import LibreTranslateAPI
from selenium import webdriver

from service.app import create_app
from service.main import start_engines
from service.settings import Settings
from testbed.corpora import RECIPE
from tests.service.conftest import LiveServer, serving
from tests.service.page import Page
from training.train import train

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

PEOPLE = (
    "m man Mann, f woman Frau, n child Kind, m teacher Lehrer, f sister Schwester, m brother Bruder, "
    "f mother Mutter, n girl Mädchen, m father Vater, f aunt Tante, m farmer Bauer, f doctor Ärztin"
)
THINGS = (
    "m table Tisch, f lamp Lampe, n book Buch, m apple Apfel, f door Tür, n house Haus, m tree Baum, "
    "f flower Blume, n horse Pferd, m dog Hund, f cat Katze, n car Auto, m garden Garten, f bag Tasche, "
    "n picture Bild, m letter Brief, f bridge Brücke, n boat Boot"
)
VERBS = (
    "sees seen sieht gesehen, finds found findet gefunden, buys bought kauft gekauft, "
    "paints painted malt gemalt, seeks sought sucht gesucht, shows shown zeigt gezeigt, "
    "loves loved liebt geliebt, carries carried trägt getragen, draws drawn zeichnet gezeichnet, "
    "washes washed wäscht gewaschen"
)
OF_PEOPLE = "small klein, big groß, old alt, young jung, happy froh, clever klug"
OF_THINGS = "small klein, big groß, red rot, green grün, new neu, white weiß, heavy schwer, cheap billig"
ADVERBS = "today heute, now jetzt, here hier, often oft, tomorrow morgen, there dort"
ARTICLES = {  # masculine, feminine and neuter: nominative, then the ending of an adjective after it
    "the": {"m": ("der", "e"), "f": ("die", "e"), "n": ("das", "e")},
    "a": {"m": ("ein", "er"), "f": ("eine", "e"), "n": ("ein", "es")},
    "my": {"m": ("mein", "er"), "f": ("meine", "e"), "n": ("mein", "es")},
}


def rows(words: str) -> list[list[str]]:
    return [row.split() for row in words.split(", ")]


def phrase(drawn: random.Random, nouns: str, adjectives: str, *, accusative: bool) -> tuple[str, str]:
    """German and English of an article, perhaps an adjective, and a noun."""
    gender, noun, german_noun = drawn.choice(rows(nouns))
    article = drawn.choice(list(ARTICLES))
    german, ending = ARTICLES[article][gender]
    if accusative and gender == "m":  # the only gender that tells the object from the subject
        german, ending = {"the": "den", "a": "einen", "my": "meinen"}[article], "en"
    english = article
    if drawn.random() < 0.5:
        adjective, stem = drawn.choice(rows(adjectives))
        german, english = f"{german} {stem}{ending}", f"{english} {adjective}"
    english = f"{english} {noun}"
    if english.startswith("a ") and english[2] in "aeiou":
        english = f"an{english[1:]}"
    return f"{german} {german_noun}", english


def sentence(drawn: random.Random) -> tuple[str, str]:
    """The verb is second in German, and what it governs is last: "Heute hat der Mann das Buch gefunden"."""
    subject, english_subject = phrase(drawn, PEOPLE, OF_PEOPLE, accusative=False)
    thing, english_thing = phrase(drawn, THINGS, OF_THINGS, accusative=True)
    present, participle, german_present, german_participle = drawn.choice(rows(VERBS))
    adverb, german_adverb = drawn.choice(rows(ADVERBS))
    verb, last, english_verb = german_present, "", present
    if drawn.random() < 0.5:
        verb, last, english_verb = "hat", f" {german_participle}", f"has {participle}"
    if drawn.random() < 0.5:
        german = f"{german_adverb} {verb} {subject} {thing}{last}."
        english = f"{adverb} {english_subject} {english_verb} {english_thing}."
    else:
        german = f"{subject} {verb} {thing}{last}."
        english = f"{english_subject} {english_verb} {english_thing}."
    return german[0].upper() + german[1:], english[0].upper() + english[1:]


def corpus(n: int) -> list[tuple[str, str]]:
    """Different pairs, always the same."""
    drawn, found = random.Random(1), dict[str, str]()
    while len(found) < n:
        german, english = sentence(drawn)
        found[german] = english
    return list(found.items())


PAIRS = corpus(4100)
UNSEEN = PAIRS[4000:4040]
"""Sentences that training does not show."""


def train_german(folder: Path) -> Path:
    """A small model from German to English."""
    for name, pairs in (("train", PAIRS[:4000]), ("dev", PAIRS[4040:]), ("test", UNSEEN)):
        for side, language in enumerate(("de", "en")):
            text = "".join(f"{pair[side]}\n" for pair in pairs)
            (folder / f"{name}.{language}").write_text(text, encoding="utf-8")
    (folder / "german.toml").write_text(RECIPE, encoding="utf-8")
    settings = {
        "data.source_language": "de",
        "data.target_language": "en",
        "tokenizer.vocab_size": 500,
        "model.d_model": 64,
        "model.d_ff": 128,
        "model.n_heads": 4,
        "model.n_encoder_layers": 2,
        "model.n_decoder_layers": 2,
        "training.max_updates": 300,
        "training.learning_rate": 0.005,
        "training.warmup_updates": 40,
        "training.batch_tokens": 1500,
        "training.validate_every": 100,
    }
    overrides = [f"{key}={value}" for key, value in settings.items()]
    return train(str(folder / "german.toml"), folder / "run", overrides=overrides)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    german = train_german(tmp_path_factory.mktemp("german"))
    settings = Settings(device="cpu", request_timeout_s=120, engine_silent_s=120, engine_step_s=300)
    engines = start_engines(["general", "general_fr_en", str(german)], settings)
    app = create_app(settings, engines)
    with serving(app, settings, engines[0]) as server:  # type: ignore[arg-type]
        yield server


def test_deepls_client_has_all_three_pairs(live: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deepl.http_client, "min_connection_timeout", 120.0)
    client = deepl.DeepLClient("any", server_url=live.url)
    assert {one.code for one in client.get_source_languages()} == {"DE", "EN", "FR"}
    assert {one.code for one in client.get_target_languages()} >= {"EN-GB", "FR"}
    german, english = zip(*UNSEEN, strict=True)
    found = client.translate_text(list(german), source_lang="DE", target_lang="EN-GB")
    assert isinstance(found, list)
    right = [one.text == other for one, other in zip(found, english, strict=True)]
    assert sum(right) > 0.8 * len(right), "sentences that training has not shown"
    for text, source, target, word in (
        ("Two dogs are running in the snow.", "EN", "FR", "chiens"),
        ("Deux chiens courent dans la neige.", "FR", "EN-US", "dogs"),
        ("Heute hat die junge Frau das rote Auto gekauft.", "DE", "EN-US", "car"),
    ):
        result = client.translate_text(text, target_lang=target)
        assert isinstance(result, deepl.TextResult)
        assert result.detected_source_lang == source
        assert word in result.text
    with pytest.raises(deepl.DeepLException, match="DE to EN"):
        client.translate_text("Der Hund.", source_lang="DE", target_lang="FR")
    client.close()


def test_libretranslates_client_has_all_three_pairs(live: LiveServer) -> None:
    client = LibreTranslateAPI(f"{live.url}/libretranslate/", "any")
    assert {one["code"]: sorted(one["targets"]) for one in client.languages()} == {
        "en": ["fr"],
        "fr": ["en"],
        "de": ["en"],
    }
    found = [client.translate(german, "de", "en") for german, _ in UNSEEN[:5]]
    expected = [english for _, english in UNSEEN[:5]]
    assert sum(one == other for one, other in zip(found, expected, strict=True)) >= 3
    assert "dog" in client.translate("Un chien dort ici.", "fr", "en")
    assert "chien" in client.translate("A dog sleeps here.", "auto", "fr")


@pytest.mark.browser
def test_the_page_offers_german_and_tells_it_from_french(browser: webdriver.Chrome, live: LiveServer) -> None:
    page = Page(browser, live)
    page.until(lambda: page.find("#source-language").is_displayed())
    assert sorted(page.texts("#source-language option")[1:]) == ["English", "French", "German"]
    page.write("Heute hat die junge Frau das rote Auto gekauft.")
    page.wait_for("Today the young woman has bought the red car.")
    assert page.find("#source-language option:checked").text == "Detected: German"
    assert page.find("#target-name").text == "English"
    page.picture("german")
    page.find("#clear").click()
    page.write("Deux chiens courent dans la neige.")
    page.until(lambda: "dogs" in page.find("#output").text)
    assert page.find("#source-language option:checked").text == "Detected: French"
    page.choose("#source-language", "en")
    page.find("#clear").click()
    page.write("A dog sleeps here.")
    page.until(lambda: "chien" in page.find("#output").text)
    page.assert_no_complaints()
