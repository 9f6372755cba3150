"""``nmt robustness``: how a model bears what people really send, in a table; beside another model if asked.

Two numbers for each behaviour: the share of cases in which what must survive did (the check is named in the
table), and BLEU against the equally disturbed reference, with BLEU of the same sentences undisturbed beside
it (Niu et al. 2020, "Evaluating robustness to input perturbations for neural machine translation").

The sentences are of a development set: what is measured here is meant to be improved. Phrases and checks are
for one direction (``training.robustness.cases.LANGUAGES``); models of others are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nmt.commands.progress import progress
from nmt.config import GenerationConfig
from nmt.errors import ConfigError, DataError
from nmt.model_folder.checkpoint import resolve_model
from nmt.model_folder.registry import languages_of
from nmt.options import TranslationOptions
from nmt.translator import Translator
from training.evaluation.evaluate import SENTENCES_AT_ONCE, describe_model, search_options
from training.evaluation.scoring import Score, score_bleu
from training.evaluation.testset import TestSet
from training.provenance import provenance, public_path
from training.robustness.cases import LANGUAGES, Behaviour, Case, behaviours

SAMPLE = Path(__file__).parents[1] / "sample" / "dev"
N_EXAMPLES = 5


@dataclass(frozen=True)
class Row:
    """One behaviour of one model."""

    behaviour: str
    keeps: str
    cases: int
    kept: float
    """Share of the cases, in percent."""
    bleu: Score | None
    """Score of the disturbed sentences; None where there are no references."""
    clean_bleu: Score | None
    """Score of the same sentences before; None where there are none."""
    lost: tuple[dict[str, str], ...]
    """The first cases that failed: source and translation."""


def robustness(
    model: str,
    *,
    against: str | None = None,
    data: Sequence[Path] = (),
    json_file: Path | None = None,
    limit: int = 300,
    beam: int | None = None,
    device: str = "auto",
) -> None:
    """The command: print the table as Markdown and write the record when asked.

    Args:
        model: folder or name.
        against: another, shown first: before and after.
        data: development sets, each the name that comes before ``.en`` and ``.fr``; none takes the sample's.
        json_file: where to write every number, with failed cases and provenance.
        limit: cases of each behaviour.
        beam: for both models; None keeps each model's own.
        device: where to translate.

    Raises:
        ConfigError: a model translates between other languages than these sentences.
        DataError: a file is missing or broken.
        ModelFolderError: a model folder is missing or corrupt.
    """
    names = [*([against] if against else []), model]
    for name in names:
        _check_direction(name)
    sets = {public_path(path): _load(path) for path in data or [SAMPLE]}
    pairs = [pair for each in sets.values() for pair in zip(each.sources, each.references, strict=True)]
    measured = behaviours([pair for pair in pairs if all(map(str.strip, pair))], limit=limit)
    results: dict[str, list[Row]] = {}
    models = []
    for name in names:
        translator = Translator.load(name, device=device)
        options = search_options(translator, beam)
        title = translator.config.name if translator.config.name not in results else public_path(Path(name))
        results[title] = measure(translator, measured, options)
        models.append({**describe_model(translator, resolve_model(name)), "generation": options.model_dump()})
    print(markdown(results, _caption(sets, models, results[title])))
    if json_file is not None:
        record = {
            "models": models,
            "data": [{**test_set.describe(), "name": name} for name, test_set in sets.items()],
            "results": {name: [asdict(row) for row in rows] for name, rows in results.items()},
            **provenance(),
        }
        json_file.write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def measure(translator: Translator, measured: Sequence[Behaviour], options: GenerationConfig) -> list[Row]:
    """Translate all cases, every text once, and score each behaviour."""
    texts = {case.source: "" for behaviour in measured for case in behaviour.cases}
    texts |= {case.clean[0]: "" for behaviour in measured for case in behaviour.cases if case.clean}
    unique = sorted(texts)
    with progress(f"{translator.config.name}: robustness", len(unique)) as advance:
        for start in range(0, len(unique), SENTENCES_AT_ONCE):
            chunk = unique[start : start + SENTENCES_AT_ONCE]
            translations = translator.translate(
                chunk, TranslationOptions(confidence=False, generation=options)
            )
            texts |= zip(chunk, (translation.text for translation in translations), strict=True)
            advance(len(chunk))
    return [_row(behaviour, texts) for behaviour in measured]


def markdown(results: Mapping[str, Sequence[Row]], caption: str) -> str:
    """The table: a row a behaviour, and for each model the share kept and BLEU (in brackets: undisturbed)."""
    head = ["behaviour", "kept is", "cases"]
    head += [f"{name}: {number}" for name in results for number in ("kept %", "BLEU (clean)")]
    lines = [f"| {' | '.join(head)} |", f"|---|---|{'--:|' * (len(head) - 2)}"]
    for rows in zip(*results.values(), strict=True):
        cells = [rows[0].behaviour, rows[0].keeps, str(rows[0].cases)]
        for row in rows:
            cells += [f"{row.kept:.0f}", _bleu_cell(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", caption])


def _row(behaviour: Behaviour, texts: Mapping[str, str]) -> Row:
    cases = behaviour.cases
    lost = [case for case in cases if not behaviour.kept(case, texts[case.source], _clean_text(case, texts))]
    scored = [(texts[case.source], case.reference) for case in cases if case.reference is not None]
    clean = [(texts[case.clean[0]], case.clean[1]) for case in cases if case.clean is not None]
    return Row(
        behaviour=behaviour.name,
        keeps=behaviour.keeps,
        cases=len(cases),
        kept=round(100 * (1 - len(lost) / len(cases)), 1),
        bleu=_bleu(scored),
        clean_bleu=_bleu(clean),
        lost=tuple({"source": case.source, "translation": texts[case.source]} for case in lost[:N_EXAMPLES]),
    )


def _clean_text(case: Case, texts: Mapping[str, str]) -> str:
    return texts[case.clean[0]] if case.clean is not None else ""


def _bleu(scored: Sequence[tuple[str, str]]) -> Score | None:
    if not scored:
        return None
    hypotheses, references = ([" ".join(text.split()) for text in side] for side in zip(*scored, strict=True))
    return score_bleu(hypotheses, references)


def _bleu_cell(row: Row) -> str:
    if row.bleu is None:
        return ""
    clean = f" ({row.clean_bleu.score:.1f})" if row.clean_bleu else ""
    return f"{row.bleu.score:.1f}{clean}"


def _caption(sets: Mapping[str, TestSet], models: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> str:
    """Sets, beam and signature, as no score is ever without them."""
    names = ", ".join(f"{name} ({len(test_set):,} sentences)" for name, test_set in sets.items())
    beams = sorted({model["generation"]["beam_size"] for model in models})
    signatures = sorted({f"`{row.bleu.signature}`" for row in rows if row.bleu})
    return f"Development sets: {names}. Beam {', '.join(map(str, beams))}; {', '.join(signatures)}."


def _check_direction(name: str) -> None:
    """Before anything is translated."""
    languages = languages_of(resolve_model(name))
    if languages != LANGUAGES:
        raise ConfigError(
            f"the model {name} translates {' to '.join(languages)}; nmt robustness has sentences and checks "
            f"for {' to '.join(LANGUAGES)} only: give a model of that direction"
        )


def _load(path: Path) -> TestSet:
    test_set = TestSet.load(*(Path(f"{path}.{language}") for language in LANGUAGES))
    if "test" in re.split(r"[^a-z]+", test_set.name.lower()):
        raise DataError(
            f"{path}: named as a test set; what is measured here is meant to be improved, so give a "
            "development set"
        )
    return test_set
