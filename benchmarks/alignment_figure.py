"""The classic figure (Bahdanau et al. 2015, figure 3a) by a model's word links: docs/alignment/*.png.

    python -m benchmarks.alignment_figure --out DIR [--model M]

One picture of the reference French, one of the model's own.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nmt.translator import Translator
from training.evaluation.plots import attention_heat_map, save_png

SOURCE = "The agreement on the European Economic Area was signed in August 1992."
REFERENCE = "L'accord sur la zone économique européenne a été signé en août 1992."


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    translator = Translator.load(arguments.model, device="cpu")
    arguments.out.mkdir(parents=True, exist_ok=True)
    own = translator.translate([SOURCE])[0].text
    for name, target in (("reference", REFERENCE), ("own", own)):
        alignment = translator.align([(SOURCE, target)], whitespace=False)[0]
        figure = attention_heat_map(
            f"Word links, {translator.config.name}: {name} translation",
            [token.text for token in alignment.source_tokens],
            [token.text for token in alignment.target_tokens],
            alignment.matrix,
        )
        save_png(figure, arguments.out / f"european-economic-area-{name}.png")


if __name__ == "__main__":
    main()
