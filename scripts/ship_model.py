"""Put a trained model into the package: half-precision weights and a card.

    python -m scripts.ship_model runs/general/model --card docs/models/general.md

``scripts.score_model`` scores it, once its calibration is there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nmt.config import AlignmentConfig
from nmt.model_folder.checkpoint import PRETRAINED, load_model_folder, save_model_folder

LIMIT_BYTES = 48 * 10**6


def main() -> None:
    """Save in half precision."""
    arguments = _arguments()
    loaded = load_model_folder(arguments.model)
    update = {
        "name": arguments.name or loaded.config.name,
        "alignment": AlignmentConfig(layer=arguments.alignment_layer),
    }
    config = loaded.config.model_copy(update=update)
    place = PRETRAINED / config.name
    save_model_folder(
        place,
        config=config,
        model=loaded.model,
        tokenizer_file=arguments.model / "tokenizer.model",
        generation=loaded.generation,
        card=arguments.card.read_text(encoding="utf-8"),
        scores={},
        dtype="float16",
    )
    size = sum(path.stat().st_size for path in place.iterdir())
    if size > LIMIT_BYTES:
        raise SystemExit(f"{place}: {size} bytes, more than the {LIMIT_BYTES} that may ship")
    print(f"{place}: {size / 1e6:.1f} MB")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("model", type=Path, help="model folder of a run")
    parser.add_argument("--name", help="what it is to be called; by default as its recipe")
    parser.add_argument("--card", type=Path, required=True, help="what becomes card.md")
    parser.add_argument(
        "--alignment-layer", type=int, default=None, help="decoder layer that links come from"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
