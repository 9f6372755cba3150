"""``nmt learn``: the list, and the page of each demonstration on tiny inputs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from nmt.cli import main
from nmt.errors import ConfigError, DataError
from training.learn.lesson import Given
from training.learn.page import LESSONS, listed, write_lesson

BUCKETS = [
    {"shortest": 1, "longest": 5, "sentences": 40, "mean_words": 4.0, "bleu": 50.0, "interval": 3.0},
    {"shortest": 6, "longest": 10, "sentences": 30, "mean_words": 8.0, "bleu": 31.5, "interval": 3.0},
    {"shortest": 11, "longest": None, "sentences": 3, "mean_words": 14.0, "bleu": 10.0, "interval": 9.0},
]


@pytest.fixture
def given(tmp_path: Path) -> Given:
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"length_buckets": {"one set": {"plain RNN": BUCKETS}}}), encoding="utf-8")
    return Given(report=report, updates=3, longest=8, sentences=3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", list(LESSONS))
def test_each_demonstration_writes_a_page_of_text_and_plots_that_needs_nothing_else(name, given, tmp_path):
    file = write_lesson(name, tmp_path / "pages" / f"{name}.html", given)
    page = file.read_text(encoding="utf-8")
    lesson = LESSONS[name]
    assert lesson.title in page
    assert lesson.paper in page
    assert page.count("<img") >= 1
    assert all(address.startswith("data:") for address in re.findall(r'(?:src|href)="([^"]*)"', page))
    assert "nan" not in re.sub(r"base64,[^\"]*", "", page)


def test_without_a_name_there_is_the_list(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end:
        main(["learn"])
    assert end.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(LESSONS)
    assert listed().splitlines() == lines


def test_what_is_not_there_is_told(tmp_path: Path):
    with pytest.raises(ConfigError, match="did you mean 'positions'"):
        write_lesson("position", None, Given())
    with pytest.raises(ConfigError, match="nmt compare MODEL"):
        write_lesson("bottleneck", None, Given())
    with pytest.raises(DataError, match="No such file"):
        write_lesson("bottleneck", None, Given(report=tmp_path / "none.json"))
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match=r"no report.json of nmt compare"):
        write_lesson("bottleneck", None, Given(report=tmp_path / "other.json"))
