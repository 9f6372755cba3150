"""Reading log.jsonl, also that of a run that was killed and resumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmt.errors import DataError
from training.run_log import LOG, RunLog


def train(update: int, nll: float, elapsed_s: float = 1.0) -> str:
    event = {"event": "train", "update": update, "nll": nll, "tokens_per_second": 100.0 * update}
    return json.dumps({**event, "elapsed_s": elapsed_s})


def validation(update: int, bleu: float | None) -> str:
    return json.dumps({"event": "validation", "update": update, "bleu": bleu, "elapsed_s": 9.0})


def write(folder: Path, *lines: str) -> Path:
    (folder / LOG).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def test_curves_and_summary_are_read(tmp_path: Path) -> None:
    log = RunLog.read(write(tmp_path, train(1, 5.0), train(2, 4.0), train(3, 3.5), validation(3, 12.0)))

    assert log.curve("train", "nll") == ([1, 2, 3], [5.0, 4.0, 3.5])
    assert log.curve("validation", "bleu") == ([3], [12.0])
    assert log.summary() == {"updates": 3, "elapsed_s": 9.0, "tokens_per_second": 200.0}


def test_an_update_done_again_after_a_resume_counts_once_as_done_last(tmp_path: Path) -> None:
    log = RunLog.read(write(tmp_path, train(1, 5.0), train(2, 4.0), train(2, 4.1), train(3, 3.0)))

    assert log.curve("train", "nll") == ([1, 2, 3], [5.0, 4.1, 3.0])


def test_an_unfinished_last_line_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, train(1, 5.0))
    with (tmp_path / LOG).open("a", encoding="utf-8") as stream:
        stream.write('{"event": "train", "upd')

    assert RunLog.read(tmp_path).curve("train", "nll") == ([1], [5.0])


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    write(tmp_path, train(1, 5.0), "{", train(2, 4.0))

    with pytest.raises(DataError, match="line 2 is not an event"):
        RunLog.read(tmp_path)


def test_events_without_the_value_and_of_other_kinds_are_passed_over(tmp_path: Path) -> None:
    log = RunLog.read(write(tmp_path, json.dumps({"event": "checkpoint", "update": 1}), validation(1, None)))

    assert log.curve("validation", "bleu") == ([], [])


def test_a_missing_log_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"log\.jsonl: No such file"):
        RunLog.read(tmp_path)
