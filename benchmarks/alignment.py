"""Word alignment, each method side by side: AER, precision, recall and F1 on gold alignments.

    python -m benchmarks.alignment --gold DIR [--model M] [--reverse M] [--rnn M] [--eflomal F]
        [--out FILE] [--docs PAGE]

DIR holds hansards/trial, hansards/test and pud/test, each as X.en, X.fr and X.gold. Methods: the model's
cross-attention by layer and head where a piece is predicted and, shifted, where it has been read; its link
scorer in each direction, symmetrised and by its rule, in the forced pass of the engine that translates and,
to see what rounding does, of the model itself; the scorer of the model of the other direction, and the two
together; the RNN's additive attention; and eflomal, whose links of these sentences
``benchmarks/alignment_links.py`` wrote. The best layer and head are chosen on the trial
sentences and PUD; the test sentences are reported only.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from nmt.alignment.aligner import Aligner
from nmt.alignment.pharaoh import Extraction, Link, Symmetrization, parse_pharaoh, symmetrize
from nmt.alignment.pooling import WordShares, links_from_matrix, pool
from nmt.alignment.scorer_config import LinkRule
from nmt.batch import Batch
from nmt.config import AlignmentConfig, TransformerConfig
from nmt.errors import ConfigError
from nmt.model_folder.checkpoint import LoadedModel, load_model_folder, resolve_model
from nmt.models.transformer import Transformer
from nmt.text.words import whitespace_words
from training.align.rule import METHODS, GoldSet, percent, word_shares
from training.provenance import provenance

SETS = ("hansards/trial", "pud/test", "hansards/test")
DEVELOPMENT = SETS[:2]
OF_ATTENTION: tuple[Extraction, ...] = ("argmax", "intersection", "grow_diag_final_and")
OF_EAGER: tuple[Extraction, ...] = ("argmax", "backward", "intersection", "default")
SYMMETRIZATIONS: tuple[Symmetrization, ...] = ("intersection", "union", "grow_diag", "grow_diag_final_and")
SHOWN_LINKS = ("forward", "intersection", "grow_diag_final_and", "rule")
CPU = torch.device("cpu")
NAMES = {"argmax": "forward", "default": "rule"}
Rows = dict[str, dict[str, dict[str, float]]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--model")
    parser.add_argument("--reverse", help="a model of the other direction, with a link scorer")
    parser.add_argument("--rnn", type=Path)
    parser.add_argument("--eflomal", type=Path)
    parser.add_argument("--without-attention", action="store_true")
    parser.add_argument("--development-only", action="store_true", help="leave the test sentences out")
    parser.add_argument("--out", type=Path, help="JSON record")
    parser.add_argument("--docs", type=Path, help="page whose table of methods is replaced by the main ones")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    sets = [
        GoldSet.read(arguments.gold / name) for name in (DEVELOPMENT if arguments.development_only else SETS)
    ]
    loaded = load_model_folder(resolve_model(arguments.model))
    reverse = load_model_folder(resolve_model(arguments.reverse)) if arguments.reverse else None
    rows: Rows = {}
    for gold in sets:
        found = {} if arguments.without_attention else attention_links(loaded, gold)
        found |= scorer_links(loaded, gold)
        if reverse is not None:
            found |= links_of_both(loaded, reverse, gold)
        if arguments.rnn:
            found |= rnn_links(load_model_folder(arguments.rnn), gold)
        if arguments.eflomal:
            found |= eflomal_links(json.loads(arguments.eflomal.read_text(encoding="utf-8"))[gold.name])
        for method, links in found.items():
            rows.setdefault(method, {})[gold.name] = percent(gold.scores(links))
    record = {
        "model": loaded.config.name,
        "weights_sha256": loaded.aligner.config.weights_sha256 if loaded.aligner else None,
        "aligner": loaded.aligner.config.model_dump() if loaded.aligner else None,
        "reverse": reverse.config.name if reverse else None,
        "reverse_aligner": reverse.aligner.config.model_dump() if reverse and reverse.aligner else None,
        "best_on_development": {
            kind: best(rows, kind)
            for kind in ("attention layer", "attention head", "attention shifted")
            if not arguments.without_attention
        },
        "methods": rows,
        **provenance(),
    }
    if arguments.out:
        arguments.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    made = table(rows, [gold.name for gold in sets])
    print(made)
    if arguments.docs:
        page = arguments.docs.read_text(encoding="utf-8")
        arguments.docs.write_text(with_table(page, made), encoding="utf-8")


def attention_links(loaded: LoadedModel, gold: GoldSet) -> dict[str, list[list[Link]]]:
    """Links of every layer's heads and of their mean, and of the means one row later."""
    assert isinstance(loaded.model, Transformer)
    assert isinstance(loaded.config.model, TransformerConfig)
    found: dict[str, list[list[Link]]] = {}
    encode = loaded.tokenizer.encode_pieces
    for source, target in gold.pairs:
        source_pieces, target_pieces = encode(source), encode(target)
        batch = Batch.from_ids(
            [[piece.id for piece in source_pieces]],
            [[piece.id for piece in target_pieces]],
            special=loaded.config.special_ids,
        )
        for layer in range(loaded.config.model.n_decoder_layers):
            with torch.inference_mode():
                _, weights_1HTS = loaded.model.decode(batch, weights_of_layer=layer)
            assert weights_1HTS is not None
            mean_TS = weights_1HTS[0].mean(dim=0)
            maps: dict[str, Tensor] = {
                f"attention head {layer}.{head}": weights_1HTS[0, head]
                for head in range(weights_1HTS.size(1))
            }
            maps[f"attention layer {layer}"] = mean_TS
            maps[f"attention shifted {layer}"] = torch.cat([mean_TS[1:], mean_TS[-1:]])
            for name, attention_TS in maps.items():
                matrix_IJ = pool(
                    attention_TS,
                    target_pieces,
                    source_pieces,
                    whitespace_words(target),
                    whitespace_words(source),
                )
                for extraction in OF_ATTENTION if "head" not in name else OF_ATTENTION[:1]:
                    links = links_from_matrix(matrix_IJ, extraction)
                    found.setdefault(f"{name}, {NAMES.get(extraction, extraction)}", []).append(links)
    return found


def scorer_links(loaded: LoadedModel, gold: GoldSet) -> dict[str, list[list[Link]]]:
    """Links of the folder's scorer, however they follow, and those of the eager pass."""
    if loaded.aligner is None:
        return {}
    rule = loaded.aligner.config.rule
    shares = word_shares(loaded, loaded.aligner, gold, CPU)
    exact = word_shares(loaded, loaded.aligner, gold, CPU, engine="eager")
    return links_of_shares("aligner", shares, rule) | links_of_shares(
        "aligner (eager)", exact, rule, OF_EAGER
    )


def links_of_shares(
    name: str, shares: Sequence[WordShares], rule: LinkRule, methods: Sequence[Extraction] = METHODS
) -> dict[str, list[list[Link]]]:
    """Links by each method."""
    return {
        f"{name}, {NAMES.get(method, method)}": [found.links(rule, method) for found in shares]
        for method in methods
    }


def links_of_both(loaded: LoadedModel, reverse: LoadedModel, gold: GoldSet) -> dict[str, list[list[Link]]]:
    """Links of the scorer beside the model of the other direction, and of the two together.

    Together: each model's own links, of the words that it writes, symmetrised; and the mean of the two
    models' shares, by every method, under the first model's rule.
    """
    if loaded.aligner is None or reverse.aligner is None:
        raise ConfigError("--reverse: both models need a link scorer; run nmt align-train")
    rule = loaded.aligner.config.rule
    shares = word_shares(loaded, loaded.aligner, gold, CPU)
    others = [found.reversed() for found in word_shares(reverse, reverse.aligner, gold.reversed(), CPU)]
    found = links_of_shares("reverse aligner", others, reverse.aligner.config.rule)
    for method in SYMMETRIZATIONS:
        found[f"own links of both, {method}"] = [
            symmetrize(one.links(rule, "argmax"), other.links(rule, "backward"), method)
            for one, other in zip(shares, others, strict=True)
        ]
    means = [
        WordShares(
            (one.forward_IJ + other.forward_IJ) / 2,
            (one.backward_IJ + other.backward_IJ) / 2,
        )
        for one, other in zip(shares, others, strict=True)
    ]
    return found | links_of_shares("mean of both", means, rule)


def rnn_links(loaded: LoadedModel, gold: GoldSet) -> dict[str, list[list[Link]]]:
    """Links of the one attention of an RNN."""
    aligner = Aligner(loaded.model, loaded.tokenizer, AlignmentConfig(), loaded.config.special_ids)
    return {
        f"RNN additive attention, {NAMES.get(extraction, extraction)}": [
            list(alignment.links)
            for alignment in aligner.align(gold.pairs, words=whitespace_words, extraction=extraction)
        ]
        for extraction in OF_ATTENTION
    }


def eflomal_links(directions: dict[str, list[str]]) -> dict[str, list[list[Link]]]:
    """The links that eflomal gave these sentences, each direction and symmetrised."""
    forward, backward = (
        [[Link(*pair, 1.0) for pair in sorted(parse_pharaoh(line)[0])] for line in directions[direction]]
        for direction in ("forward", "backward")
    )
    found = {"eflomal, forward": forward, "eflomal, backward": backward}
    for method in SYMMETRIZATIONS:
        found[f"eflomal, {method}"] = [
            symmetrize(one, other, method) for one, other in zip(forward, backward, strict=True)
        ]
    return found


def best(rows: Rows, kind: str) -> str:
    """The method whose name begins so that has the lowest mean AER on the development sets."""
    return min(
        (method for method in rows if method.startswith(kind)),
        key=lambda method: sum(rows[method][name]["aer"] for name in DEVELOPMENT),
    )


def shown(rows: Rows) -> list[str]:
    """The methods that the table shows, each with its best links; of attention the best layer."""
    usual = {method: rates for method, rates in rows.items() if method.partition(", ")[2] in SHOWN_LINKS}
    names = dict.fromkeys(method.partition(", ")[0] for method in usual)
    layer = best(usual, "attention layer").partition(", ")[0]
    chosen = [name for name in names if name == layer or not name.startswith("attention")]
    return [best(usual, f"{name}, ") for name in chosen if name != "aligner (eager)"]


def table(rows: Rows, names: Sequence[str]) -> str:
    """AER of each set, and precision and recall of the last, in Markdown; ``rows`` as of the record."""
    head = "| method | " + " | ".join(f"{name} AER" for name in names) + " | P | R |"
    lines = [head, "|---|" + "--:|" * (len(names) + 2)]
    for method in shown(rows):
        scores = rows[method]
        cells = [scores[name]["aer"] for name in names]
        cells += [scores[names[-1]][key] for key in ("precision", "recall")]
        lines.append(f"| {method} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
    return "\n".join(lines)


def with_table(page: str, made: str) -> str:
    """A Markdown page whose table of methods is ``made``."""
    lines = page.split("\n")
    first = lines.index(next(line for line in lines if line.startswith("| method |")))
    end = next(place for place in range(first, len(lines)) if not lines[place].startswith("|"))
    return "\n".join([*lines[:first], made, *lines[end:]])


if __name__ == "__main__":
    main()
