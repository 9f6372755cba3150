"""``nmt attention``: what ``nmt.explore`` finds, with BLEU and speed where heads are taken out."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import torch
from torch import nn

from nmt.batch import Batch
from nmt.commands.progress import progress
from nmt.config import GenerationConfig
from nmt.errors import ConfigError, DataError
from nmt.explore.contexts import word_in_contexts
from nmt.explore.dependencies import Relation, dependency_accuracy, read_conllu
from nmt.explore.heads import Head, head_statistics
from nmt.explore.maps import head_maps
from nmt.explore.pairs import certain_pairs
from nmt.explore.pruning import all_heads, greedy_removal, importance, masked, removed
from nmt.model_folder.checkpoint import (
    CARD,
    LoadedModel,
    load_model_folder,
    resolve_model,
    save_model_folder,
    tokenizer_files,
)
from nmt.models.transformer import Transformer
from nmt.options import TranslationOptions
from nmt.translator import Translator
from training.evaluation.scoring import score_bleu
from training.evaluation.testset import TestSet
from training.explore.findings import Cost, Findings, Pruning, SentenceMaps
from training.explore.report import write_page, write_png
from training.provenance import provenance, public_path

NEIGHBOUR_SENTENCES = 200
"""Sentences of the corpus, or of the sample that ships, among which a word's neighbours are sought."""
MOST_PAIRED = 1000
"""Sentences of the corpus with words that belong together; they are few, so all of it is searched."""
SPEED_ROUNDS = 5
SAMPLE = Path(__file__).parents[1] / "sample" / "dev"


def explore(
    model: str | None,
    text: str | None,
    target: str | None,
    *,
    html: Path,
    json_file: Path | None,
    png: Path | None,
    corpus: Path | None,
    limit: int,
    conllu: Path | None,
    word: str | None,
    contexts: Sequence[str],
    prune: int | None,
    at_once: int,
    save_pruned: Path | None,
    device: str,
) -> None:
    """The command; arguments as ``nmt attention --help`` tells them.

    Raises:
        ConfigError: the model has no heads, or a picture is asked for without a sentence.
        DataError: a file is missing or broken, or the sentence has too many sub-words.
        InputError: a context lacks the word.
    """
    loaded = load_model_folder(resolve_model(model), _device(device))
    translator = Translator(loaded, _device(device))
    whole = _load(corpus, translator) if corpus is not None else None
    test_set = None if whole is None else _first(whole, limit)
    findings = Findings(loaded.config.name)
    if text is not None:
        findings = replace(findings, pair=_pair(translator, loaded, text, target))
    if whole is not None and test_set is not None:
        described = {"name": public_path(corpus or Path()), "sentences": len(test_set)}
        statistics = head_statistics(loaded.model, _ids(loaded, test_set), loaded.config.special_ids)
        findings = replace(
            findings,
            corpus={**test_set.describe(), **described},
            statistics=tuple(statistics),
            pairs=_pairs(loaded, whole),
        )
    if conllu is not None:
        parses = read_conllu(conllu, limit)
        relations = dependency_accuracy(loaded.model, loaded.tokenizer, loaded.config.special_ids, parses)
        findings = replace(findings, dependencies=tuple(relations))
    if word is not None:
        near = test_set or _load(SAMPLE, translator)
        model_of = (loaded.model, loaded.tokenizer, loaded.config.special_ids)
        found = word_in_contexts(*model_of, word, contexts, near.sources[:NEIGHBOUR_SENTENCES])
        written = tuple(result.text for result in translator.translate(list(contexts)))
        findings = replace(findings, contexts=found, context_translations=written)
    if prune is not None and test_set is not None:
        measured, heads = _pruning(loaded, translator, test_set, n_heads=prune, at_once=at_once)
        findings = replace(findings, pruning=measured)
        if save_pruned is not None:
            _save(loaded, heads, save_pruned)
    _write(findings, html, json_file, png)


def _write(findings: Findings, html: Path, json_file: Path | None, png: Path | None) -> None:
    if png is not None and findings.pair is None:
        raise ConfigError("--png draws the heads of a sentence: give TEXT")
    record = {**asdict(findings), **provenance()}
    for file in (html, json_file, png):
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
    if json_file is not None:
        json_file.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    if png is not None and findings.pair is not None:
        write_png(findings.pair.maps, png)
    write_page(record, findings, html)
    print(html)


def _device(name: str) -> str:
    if name != "auto":
        return name
    return "cuda" if torch.cuda.is_available() else "cpu"


def _load(prefix: Path, translator: Translator) -> TestSet:
    languages = translator.config.source_language, translator.config.target_language
    return TestSet.load(*(prefix.with_name(f"{prefix.name}.{language}") for language in languages))


def _first(whole: TestSet, limit: int) -> TestSet:
    return replace(whole, sources=whole.sources[:limit], references=whole.references[:limit])


def _ids(loaded: LoadedModel, test_set: TestSet) -> list[tuple[list[int], list[int]]]:
    encode = loaded.tokenizer.encode
    return [
        (encode(source), encode(target))
        for source, target in zip(test_set.sources, test_set.references, strict=True)
    ]


def _pairs(loaded: LoadedModel, whole: TestSet) -> tuple[Relation, ...] | None:
    """Pairs are told in English; other sources have none, and an RNN no heads for them."""
    if loaded.config.source_language != "en" or not isinstance(loaded.model, Transformer):
        return None
    parses = certain_pairs(whole.sources, MOST_PAIRED)
    return tuple(dependency_accuracy(loaded.model, loaded.tokenizer, loaded.config.special_ids, parses))


def _pair(translator: Translator, loaded: LoadedModel, text: str, target: str | None) -> SentenceMaps:
    """Maps of a given pair as it stands, or of the model's own translation of one sentence."""
    if target is None:
        (found,) = translator.translate([text], TranslationOptions(alignment="heads"))
        if len(found.sentences) != 1:
            raise DataError(f"TEXT is {len(found.sentences)} sentences; give one, or its translation as well")
        maps, target = found.sentences[0].heads, found.text
    else:
        encode = loaded.tokenizer.encode_pieces
        maps = head_maps(
            loaded.model, encode(text), encode(target), loaded.config.special_ids, translator.device
        )
    if maps is None:
        raise DataError("TEXT has no maps: it was copied, or is too long; give a shorter sentence")
    return SentenceMaps(text, target, maps)


def _pruning(
    loaded: LoadedModel, translator: Translator, test_set: TestSet, *, n_heads: int, at_once: int
) -> tuple[Pruning, list[Head]]:
    """Mask each head in turn, then remove more and more; and which heads were removed in the end."""
    model = loaded.model
    if not isinstance(model, Transformer):
        raise ConfigError(f"{loaded.config.name}: only a Transformer has heads to prune")
    options = translator.generation.model_copy(update={"beam_size": 1, "n_best": 1})
    batch = Batch.from_ids(*zip(*_ids(loaded, test_set), strict=True), special=loaded.config.special_ids)
    batch = batch.to(translator.device)
    signature = ""

    def loss(changed: nn.Module) -> float:
        return _nll(changed, batch)

    def cost(changed: LoadedModel, heads: Sequence[Head], n_removed: int, nll: float) -> Cost:
        nonlocal signature
        translations = Translator(changed, translator.device).translate(
            test_set.sources, TranslationOptions(generation=options)
        )
        score = score_bleu([translation.text for translation in translations], test_set.references)
        signature = score.signature
        n_parameters = sum(parameter.numel() for parameter in changed.model.parameters())
        return Cost(tuple(heads), n_removed, round(nll, 4), score.score, None, n_parameters)

    heads = all_heads(model)
    losses = importance(model, heads, loss)
    whole = cost(loaded, (), 0, loss(model))
    each: list[Cost] = []
    greedy: list[Cost] = []
    gone: list[Head] = []
    timed = [loaded]
    with progress("heads masked", len(heads)) as advance:
        for head, nll in zip(heads, losses, strict=True):
            each.append(cost(replace(loaded, model=masked(model, [head])), [head], 1, nll))
            advance(1)
    with progress("heads removed", n_heads) as advance:
        for step in greedy_removal(model, loss, n_heads=n_heads, at_once=at_once, first=losses):
            gone += step.heads
            smaller, config = removed(model, loaded.config, gone)
            smaller.to(translator.device)
            changed = replace(loaded, model=smaller, config=config)
            greedy.append(cost(changed, step.heads, step.n_removed, step.loss))
            timed.append(changed)
            advance(len(step.heads))
    speeds = _speeds([Translator(one, translator.device) for one in timed], test_set, options)
    rows = [
        replace(row, sentences_per_second=speed) for row, speed in zip((whole, *greedy), speeds, strict=True)
    ]
    return Pruning(
        signature, len(test_set), 1, translator.engine.name, rows[0], tuple(each), tuple(rows[1:])
    ), gone


def _speeds(translators: Sequence[Translator], test_set: TestSet, options: GenerationConfig) -> list[float]:
    """Sentences a second of processor time (of time on an accelerator), the best of rounds in turns."""
    clock = time.process_time if translators[0].device == "cpu" else time.perf_counter
    best = [math.inf] * len(translators)
    for _ in range(SPEED_ROUNDS):
        for place, translator in enumerate(translators):
            started = clock()
            translator.translate(test_set.sources, TranslationOptions(generation=options))
            best[place] = min(best[place], clock() - started)
    return [round(len(test_set) / seconds, 2) for seconds in best]


@torch.no_grad()
def _nll(model: nn.Module, batch: Batch) -> float:
    """Mean negative log-likelihood of the target tokens, in slices of 16 sentences."""
    total, n_tokens = 0.0, 0
    for first in range(0, batch.size, 16):
        part = batch.rows(slice(first, first + 16))
        assert part.target_out_BT is not None
        assert part.target_mask_BT is not None
        log_probs_BTV = model(part).float().log_softmax(dim=-1)
        chosen_BT = log_probs_BTV.gather(2, part.target_out_BT.unsqueeze(2)).squeeze(2)
        total -= float(chosen_BT[part.target_mask_BT].sum())
        n_tokens += int(part.target_mask_BT.sum())
    return total / max(n_tokens, 1) if math.isfinite(total) else math.inf


def _save(loaded: LoadedModel, heads: Sequence[Head], folder: Path) -> None:
    """A model folder from which the heads are gone; its calibration and scores were of other weights."""
    assert isinstance(loaded.model, Transformer)
    model, config = removed(loaded.model, loaded.config, heads)
    names = ", ".join(f"{head.kind} {head.layer + 1}.{head.head + 1}" for head in heads)
    card = (loaded.folder / CARD).read_text(encoding="utf-8")
    save_model_folder(
        folder,
        config=config.model_copy(update={"name": f"{config.name}-pruned"}),
        model=model,
        **tokenizer_files(loaded.folder),
        generation=loaded.generation,
        card=f"{card}\n## Pruned\n\n{len(heads)} attention heads were removed: {names}.\n",
        scores={},
    )
