"""Paired bootstrap: it sees what differs, does not see what does not, and depends on nothing but its seed."""

from __future__ import annotations

import os

from training.evaluation.scoring import metrics, tokenized_bleu
from training.evaluation.significance import PairedResult, paired_bootstrap

REFERENCES = [f"le train numéro {n} part de la gare à {n % 24} heures" for n in range(60)]
GOOD = [line if n % 6 else line.replace("gare", "maison") for n, line in enumerate(REFERENCES)]
BAD = [line if n % 2 else line.replace("part de la gare", "va") for n, line in enumerate(REFERENCES)]


def run(seed: int = 1, **systems: list[str]) -> list[PairedResult]:
    wanted = {name: metric for name, metric in metrics().items() if name != "TER"}
    return paired_bootstrap(systems, REFERENCES, wanted, scale="cased-detokenized", samples=300, seed=seed)


def test_a_clearly_better_system_is_significant() -> None:
    for result in run(bad=BAD, good=GOOD):
        assert result.difference > 1
        assert result.p_value < 0.05


def test_equal_systems_do_not_differ() -> None:
    for result in run(one=GOOD, two=list(GOOD)):
        assert result.difference == 0
        assert result.p_value == 1


def test_as_many_errors_in_other_places_are_not_significant() -> None:
    one = [line.replace("gare", "maison") if n % 10 == 3 else line for n, line in enumerate(REFERENCES)]
    two = [line.replace("gare", "maison") if n % 10 == 4 else line for n, line in enumerate(REFERENCES)]

    assert all(result.p_value > 0.3 for result in run(one=one, two=two))


def test_every_pair_is_tested_once_with_the_earlier_one_as_baseline() -> None:
    pairs = [
        (item.baseline, item.system) for item in run(a=BAD, b=GOOD, c=REFERENCES) if item.metric == "BLEU"
    ]

    assert pairs == [("a", "b"), ("a", "c"), ("b", "c")]


def test_seed_and_samples_are_stated_in_the_signature() -> None:
    result = run(seed=77, bad=BAD, good=GOOD)[0]

    assert "seed:77" in result.signature
    assert "bs:300" in result.signature


def test_one_seed_gives_one_result_and_another_seed_another() -> None:
    close = [line.replace("heures", "h") if n < 4 else line for n, line in enumerate(GOOD)]

    assert run(seed=5, good=GOOD, close=close) == run(seed=5, good=GOOD, close=close)
    assert run(seed=5, good=GOOD, close=close) != run(seed=6, good=GOOD, close=close)


def test_the_environment_is_left_as_it_was() -> None:
    before = dict(os.environ)

    run(bad=BAD, good=GOOD)

    assert dict(os.environ) == before


def test_scale_is_carried_over() -> None:
    results = paired_bootstrap(
        {"bad": BAD, "good": GOOD},
        REFERENCES,
        {"BLEU": tokenized_bleu()},
        scale="lowercase-tokenized",
        samples=100,
        seed=1,
    )

    assert [(item.scale, "tok:none" in item.signature) for item in results] == [("lowercase-tokenized", True)]
