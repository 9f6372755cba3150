"""Whether encoder heads follow dependencies, on parsed sentences (Voita et al. 2019, section 5.2).

For each relation, in both directions: of how many words does a head's largest weight rest on the other?
Attention of pieces is pooled to words, the end of the sentence left out. What a head that always looks at the
same distance would reach, the best fixed offset of that relation, stands beside it: only what is above is
more than position. Both the head and the offset are chosen on every other sentence and measured on the rest,
for the best of many heads is good on the sentences that chose it by luck too. Parses are CoNLL-U files, such
as Universal Dependencies' own, or the few pairs of ``nmt.explore.pairs``; nothing here parses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import conllu
import torch
from conllu.exceptions import ParseException

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.errors import DataError
from nmt.explore.heads import Head
from nmt.explore.maps import attention_maps
from nmt.models.build import Model
from nmt.tokenizer import Tokenizer

LEAST_CASES = 30
"""Cases of a relation in either half of the sentences; one seen more rarely is left out."""


@dataclass(frozen=True)
class Parse:
    """One sentence: its text, the span of each word in it, and (dependent, head, relation) of words."""

    text: str
    spans: tuple[tuple[int, int], ...]
    arcs: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True)
class Relation:
    """How well the best head finds one relation."""

    name: str
    """Such as "nsubj: dependent to head"."""
    n_cases: int
    """Those measured."""
    best_head: Head
    """The best one on the other half."""
    accuracy: float
    """Share of relations that this head finds."""
    offset: int
    """The distance, in words, that is most frequent on the other half."""
    baseline: float
    """Share that looking at that distance finds."""


def read_conllu(path: Path, limit: int) -> list[Parse]:
    """The first ``limit`` sentences of a CoNLL-U file whose words are found in their text.

    Raises:
        DataError: the file cannot be read, or is no CoNLL-U.
    """
    try:
        sentences = conllu.parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ParseException) as error:
        raise DataError(f"{path}: no readable CoNLL-U file ({type(error).__name__})") from None
    parses = [parse for sentence in sentences if (parse := _parse(sentence)) is not None]
    if not parses:
        raise DataError(f"{path}: no sentence with its '# text =' and the heads of its words; is it CoNLL-U?")
    return parses[:limit]


def _parse(sentence: conllu.TokenList) -> Parse | None:
    text = sentence.metadata.get("text", "")
    words = [token for token in sentence if isinstance(token["id"], int)]
    place, spans = 0, []
    for word in words:
        start = text.find(word["form"], place)
        if start < 0:  # a contraction, which stands in the text in another form
            return None
        place = start + len(word["form"])
        spans.append((start, place))
    arcs = [
        (index, word["head"] - 1, word["deprel"].partition(":")[0])
        for index, word in enumerate(words)
        if word.get("head") and word["deprel"] != "punct"
    ]
    return Parse(text, tuple(spans), tuple(arcs))


def dependency_accuracy(
    model: Model, tokenizer: Tokenizer, special: SpecialIds, parses: Sequence[Parse]
) -> list[Relation]:
    """For each relation and direction the encoder head that finds it best; most frequent relations first."""
    hits: dict[tuple[str, int], Counter[Head]] = defaultdict(Counter)
    distances: dict[tuple[str, int], Counter[int]] = defaultdict(Counter)
    for number, parse in enumerate(parses):
        peaks = _peaks(model, tokenizer, special, parse)
        for dependent, head, relation in parse.arcs:
            for name, one, other in (
                (f"{relation}: dependent to head", dependent, head),
                (f"{relation}: head to dependent", head, dependent),
            ):
                distances[name, number % 2][other - one] += 1
                found_by = (which for which, peak_W in peaks.items() if peak_W[one] == other)
                hits[name, number % 2].update(found_by)
    found = (
        _relation(name, distances[name, 0], hits[name, 0], distances[name, 1], hits[name, 1])
        for name in {name for name, _ in distances}
        if min(distances[name, half].total() for half in (0, 1)) >= LEAST_CASES
    )
    known = [relation for relation in found if relation is not None]
    return sorted(known, key=lambda relation: (-relation.n_cases, relation.name))


def _relation(
    name: str,
    chosen_distances: Counter[int],
    chosen_hits: Counter[Head],
    distances: Counter[int],
    hits: Counter[Head],
) -> Relation | None:
    """Head and offset chosen by the counts of one half, measured by those of the other; None: no head."""
    if not chosen_hits:
        return None
    n_cases = distances.total()
    offset, best = chosen_distances.most_common(1)[0][0], max(chosen_hits, key=chosen_hits.__getitem__)
    return Relation(name, n_cases, best, hits[best] / n_cases, offset, distances[offset] / n_cases)


def _peaks(model: Model, tokenizer: Tokenizer, special: SpecialIds, parse: Parse) -> dict[Head, list[int]]:
    """For each encoder head the word that each word attends to most, itself aside."""
    pieces = tokenizer.encode_pieces(parse.text)
    batch = Batch.from_ids([[piece.id for piece in pieces]], [[]], special=special)
    share_WP = torch.tensor(
        [[float(piece.start < end and piece.end > start) for piece in pieces] for start, end in parse.spans]
    ).view(len(parse.spans), len(pieces))
    found: dict[Head, list[int]] = {}
    device = next(model.parameters()).device
    for layer, weights_1HSS in enumerate(attention_maps(model, batch.to(device)).encoder):
        words_HWW = share_WP @ weights_1HSS[0, :, :-1, :-1].float().cpu() @ share_WP.T
        words_HWW.diagonal(dim1=1, dim2=2).fill_(-1)
        for head, peak_W in enumerate(words_HWW.argmax(dim=2).tolist()):
            found[Head("encoder", layer, head)] = peak_W
    return found
