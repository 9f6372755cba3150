"""The bottleneck: a sentence in one vector, and attention, by the length of the sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence

from nmt.errors import ConfigError, DataError
from training.evaluation.length_buckets import LengthBucket
from training.evaluation.plots import FEW_SENTENCES, bleu_by_length
from training.learn.lesson import Given, Lesson, Part

TOGETHER = "all test sets together"


def read_buckets(given: Given) -> tuple[str, dict[str, list[LengthBucket]]]:
    """The name of the widest test set of a report of ``nmt compare``, and the buckets of each model.

    Raises:
        ConfigError: there is no report.
        DataError: it cannot be read, or is none.
    """
    if given.report is None:
        raise ConfigError(
            "bottleneck draws scores of trained models: nmt compare MODEL... --report DIR writes them, "
            "--report DIR/report.json names them"
        )
    try:
        by_set = json.loads(given.report.read_text(encoding="utf-8"))["length_buckets"]
        name = TOGETHER if TOGETHER in by_set else next(iter(by_set))
        series = {model: [LengthBucket(**row) for row in rows] for model, rows in by_set[name].items()}
    except OSError as error:
        raise DataError(f"{given.report}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, StopIteration):
        raise DataError(f"{given.report}: no report.json of nmt compare; name one that it wrote") from None
    return name, series


def drop(buckets: Sequence[LengthBucket]) -> tuple[LengthBucket, LengthBucket]:
    """The best bucket, and the last of those with enough sentences to tell."""
    enough = [bucket for bucket in buckets if bucket.sentences >= FEW_SENTENCES] or list(buckets)
    return max(enough, key=lambda bucket: bucket.bleu), enough[-1]


def parts(given: Given) -> list[Part]:
    """BLEU by source length of the report's models."""
    name, series = read_buckets(given)
    told = []
    for model, buckets in series.items():
        best, last = drop(buckets)
        told.append(f"{model} from {best.bleu:.1f} ({best.label} words) to {last.bleu:.1f} ({last.label})")
    return [
        Part(
            "BLEU by length",
            "An encoder without attention must put every sentence into one vector of one size: the longer "
            "the sentence, the more is lost (Cho et al. 2014; Sutskever et al. 2014). Attention reads all "
            "of the encoder's states anew for each word (Bahdanau et al. 2015). From the best bucket to "
            f"the longest of at least {FEW_SENTENCES} sentences, BLEU goes: {'; '.join(told)}.",
            bleu_by_length(f"BLEU by source length, {name}", series),
        )
    ]


LESSON = Lesson(
    "bottleneck",
    "A sentence in one vector, and attention",
    "Bahdanau et al. 2015, section 5.1, figure 2; Cho et al. 2014",
    parts,
)
