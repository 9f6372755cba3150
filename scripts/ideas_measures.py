"""What BLEU does not tell of a variant: names kept, persons known from the sentence before, and delay."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from typing import Any

import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig
from nmt.model_folder.opened import LoadedModel
from nmt.models.interface import SequenceModel, StepDecoder
from nmt.search import search
from scripts.ideas_corpora import SEPARATOR, SOMEONE, invented_name, person
from training.evaluation.testset import TestSet

N_SENTENCES = 300
TEMPLATES = (
    "A man named {name} is riding a bike.",
    "{name} is standing in front of house number {number}.",
    "Two children are reading page {number} of a book by {name}.",
)
GREEDY = GenerationConfig(beam_size=1, max_length_ratio=2.0, max_length_offset=10)
AT_ONCE = 50


def sentences_with_names(n: int) -> list[tuple[str, list[str]]]:
    """Captions with names that no other caption has, and numbers, and what of each must be kept."""
    generator = random.Random(1)
    found: list[tuple[str, list[str]]] = []
    for index in range(n):
        template = TEMPLATES[index % len(TEMPLATES)]
        name = invented_name(generator, seen=False)
        number = str(generator.randrange(100, 10_000))
        kept = [name, number] if "{number}" in template else [name]
        found.append((template.format(name=name, number=number), kept))
    return found


def translated(loaded: LoadedModel, lines: Sequence[str], options: GenerationConfig) -> list[str]:
    """The best hypothesis for each line as it stands, in order: a line may be several sources."""
    decoder: StepDecoder[Any] = loaded.model
    special = loaded.config.special_ids
    ids = [loaded.tokenizer.encode(line) for line in lines]
    order = sorted(range(len(lines)), key=lambda index: len(ids[index]))
    texts = [""] * len(lines)
    for first in range(0, len(order), AT_ONCE):
        part = order[first : first + AT_ONCE]
        batch = Batch.from_ids([ids[index] for index in part], special=special)
        for index, (best, *_others) in zip(part, search(decoder, batch, options, special), strict=True):
            texts[index] = loaded.tokenizer.decode(best.tokens)
    return texts


def share_kept(loaded: LoadedModel) -> float:
    """Percent of names and numbers that the model itself, without the pipeline, writes as they were."""
    decoder: StepDecoder[Any] = loaded.model
    special, encode = loaded.config.special_ids, loaded.tokenizer.encode
    asked = sentences_with_names(N_SENTENCES)
    right = total = 0
    for first in range(0, len(asked), AT_ONCE):
        part = asked[first : first + AT_ONCE]
        batch = Batch.from_ids([encode(text) for text, _ in part], special=special)
        for (_, kept), (best, *_others) in zip(part, search(decoder, batch, GREEDY, special), strict=True):
            written = loaded.tokenizer.decode(best.tokens)
            right += sum(piece in written for piece in kept)
            total += len(kept)
    return round(100 * right / total, 1)


def share_of_persons(sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Percent of the captions about "Someone" that begin with the reference's man, woman, boy or girl."""
    pairs = [
        (person(hypothesis), person(reference))
        for source, hypothesis, reference in zip(sources, hypotheses, references, strict=True)
        if source.split(SEPARATOR)[-1].strip().startswith(SOMEONE)
    ]
    return round(100 * statistics.mean(written == true for written, true in pairs if true is not None), 1)


@torch.no_grad()
def average_lagging(loaded: LoadedModel, test_set: TestSet, n: int = 200) -> float:
    """How many source pieces behind the diagonal a monotonic attention writes (Ma et al. 2019, section 3.2).

    AL = mean over t of g(t) - (t - 1) S / T, for the t up to the first that has read all; g(t) is how many
    pieces are read before piece t is written. The translation is the reference.
    """
    model: SequenceModel = loaded.model
    encode, special = loaded.tokenizer.encode, loaded.config.special_ids
    lags: list[float] = []
    for source, reference in list(zip(test_set.sources, test_set.references, strict=True))[:n]:
        batch = Batch.from_ids([encode(source)], [encode(reference)], special=special)
        _, attention_BTS = model.forward_with_attention(batch)
        assert attention_BTS is not None
        lags.append(lagging((attention_BTS[0].argmax(dim=1) + 1).tolist(), attention_BTS.size(2)))
    return round(sum(lags) / len(lags), 2)


def lagging(read: Sequence[int], n_source: int) -> float:
    """AL of one sentence, from g(1), g(2), ...

    >>> lagging([1, 2, 3], 3)
    1.0
    >>> lagging([3, 3, 3], 3)
    3.0
    """
    last = next((t for t, n in enumerate(read) if n == n_source), len(read) - 1)
    rate = n_source / len(read)
    return sum(read[t] - t * rate for t in range(last + 1)) / (last + 1)
