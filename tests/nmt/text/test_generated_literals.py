"""B9: numbers and literals of generated sentences are kept or flagged, by the model that ships."""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from pathlib import Path

import pytest

from nmt.config import GenerationConfig
from nmt.options import TranslationOptions
from nmt.text.numbers import compare_numbers
from nmt.translator import Translator
from testbed.generated_literals import LITERALS, NUMBERS, generated

N_SENTENCES = 1000


@pytest.mark.slow
def test_numbers_and_literals_are_kept_or_flagged() -> None:
    texts, parts = map(list, zip(*generated(N_SENTENCES), strict=True))
    translator = Translator.load(device="cpu")
    translations = translator.translate(texts, TranslationOptions(generation=GenerationConfig(beam_size=1)))
    cases: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    silent: list[str] = []
    for text, chosen, translation in zip(texts, parts, translations, strict=True):
        flags = {flag.kind for flag in translation.flags}
        for kind, written in chosen:
            cases[kind] += 1
            good = (
                translation.text.count(written) >= text.count(written)
                if kind in LITERALS
                else written in translation.text or compare_numbers(text, translation.text).ok
            )
            kept[kind] += good
            if not good and not flags & {"literal_lost", "number_mismatch", "loop", "untranslated"}:
                silent.append(kind)
    record = {
        "promise": "B9: numbers, URLs and other literals are kept or flagged",
        "command": "PASSERELLE_RECORD=docs/reliability pytest -m slow "
        "tests/nmt/text/test_generated_literals.py",
        "model": translator.config.name,
        "sentences": N_SENTENCES,
        "kept": {kind: [kept[kind], cases[kind]] for kind in cases},
        "lost_and_not_flagged": len(silent),
        "machine": f"{platform.machine()}, {os.cpu_count()} CPU cores, shared",
    }
    if folder := os.environ.get("PASSERELLE_RECORD"):
        Path(folder, "literals.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    assert not silent
    assert all(kept[kind] == cases[kind] for kind in LITERALS)
    assert sum(kept[kind] for kind in NUMBERS) >= 0.95 * sum(cases[kind] for kind in NUMBERS)
