"""What everybody types in the first minute, and whether a model has it right.

    python -m scripts.first_minute [MODEL ...]

Each line of training/sample/first_minute.*.tsv is a text, a tab and the translations that are right, with
" | " between them. Case, marks and spacing count. Prints what is wrong, how many are
right, and how many of the translations are the lexicon's.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nmt.model_folder.registry import shipped_models
from nmt.translator import Translator

SAMPLE = Path("training/sample")


def main() -> None:
    """Check each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", nargs="*", default=shipped_models())
    for model in parser.parse_args().model:
        translator = Translator.load(model)
        config = translator.config
        path = SAMPLE / f"first_minute.{config.source_language}-{config.target_language}.tsv"
        phrases = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        results = translator.translate([text for text, _ in phrases])
        found = [result.text for result in results]
        n_known = sum(any(flag.kind == "lexicon" for flag in result.flags) for result in results)
        wrong = [
            (text, translation)
            for (text, right), translation in zip(phrases, found, strict=True)
            if translation not in right.split(" | ")
        ]
        for text, translation in wrong:
            print(f"{text} -> {translation}")
        print(f"{config.name}: {len(phrases) - len(wrong)} of {len(phrases)} right, {n_known} by the lexicon")


if __name__ == "__main__":
    main()
