"""Give an RNN with additive attention a coverage feature that says nothing yet, to be trained further.

    python scripts/add_coverage.py runs/multi30k_rnn_attention/model linguistic runs/with_coverage_0

The new model folder translates as the old one does: the weights by which coverage enters the attention are
0, and training moves them. ``nmt train RECIPE --init-from`` takes it from there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from nmt.config import RnnConfig
from nmt.errors import ConfigError
from nmt.model_folder.checkpoint import CARD, TOKENIZER, load_model_folder, resolve_model, save_model_folder
from nmt.models.build import build_model


def main() -> None:
    """Read one folder, write another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("kind", choices=("linguistic", "neural"))
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()

    loaded = load_model_folder(resolve_model(asked.model))
    if not isinstance(loaded.config.model, RnnConfig):
        raise ConfigError(f"{asked.model}: coverage is for RNNs with additive attention")
    architecture = RnnConfig.model_validate({**loaded.config.model.model_dump(), "coverage": asked.kind})
    torch.manual_seed(1)
    model = build_model(architecture)
    model.load_state_dict({**model.state_dict(), **loaded.model.state_dict()})
    torch.nn.init.zeros_(model.get_parameter("coverage.score.weight"))
    save_model_folder(
        asked.out,
        config=loaded.config.model_copy(update={"model": architecture}),
        model=model,
        tokenizer_file=loaded.folder / TOKENIZER,
        generation=loaded.generation,
        card=(loaded.folder / CARD).read_text(encoding="utf-8"),
        scores={},
    )


if __name__ == "__main__":
    main()
