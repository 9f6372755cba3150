"""Preparation in parts: the same bytes, whoever does the work and wherever it is interrupted."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import training.data.atomic_folder
import training.data.prepare
import training.data.prepare_clean
from nmt.errors import DataError, DiskFullError
from testbed.corpora import PAIRS, write_text, write_toy
from tests.training.data.test_prepare import contents
from training.data.prepare import prepare

NOISE = ["data.noise.join=0.5", "data.noise.typo=0.5", "data.noise.placeholder=0", "data.noise.formality=0"]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training.data.prepare_clean, "PAIRS_IN_PART", 16)


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    file = write_toy(tmp_path / "corpus", [*PAIRS[:60], PAIRS[7], ("", "Vide."), ("Copied here now.",) * 2])
    write_text(
        file.parent, "more", [*PAIRS[20:25], *((f"{n} cats sleep.", f"{n} chats.") for n in "abcdefg")]
    )
    sources = '[{kind="text",path="train"},{kind="text",path="more",weight=2.5}]'
    file.write_text(file.read_text().replace('[{ kind = "text", path = "train" }]', sources))
    return str(file)


def interrupted_at(
    write: Callable[[Path, bytes], None], last: int
) -> tuple[Callable[[Path, bytes], None], list[Path]]:
    """``write`` that dies, half of the file written aside, when it is asked once more than ``last`` times."""
    written: list[Path] = []

    def write_or_die(path: Path, content: bytes) -> None:
        if len(written) == last:
            path.with_name(f"{path.name}.1.aside").write_bytes(content[: len(content) // 2])
            raise KeyboardInterrupt
        written.append(path)
        write(path, content)

    return write_or_die, written


def replace_write(patch: pytest.MonkeyPatch, write: Callable[[Path, bytes], None]) -> None:
    for module in (training.data.atomic_folder, training.data.prepare_clean, training.data.prepare):
        patch.setattr(module, "write_whole", write)


def test_any_number_of_processes_gives_the_same_bytes(recipe: str, tmp_path: Path):
    alone = prepare(recipe, tmp_path / "alone", NOISE, 1)
    together = prepare(recipe, tmp_path / "together", NOISE, 3)
    assert contents(alone) == contents(together)


def test_parts_of_any_size_give_the_same_bytes(recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    expected = contents(prepare(recipe, tmp_path / "16", NOISE, 1))
    for size in (1, 7, 1000):
        monkeypatch.setattr(training.data.prepare_clean, "PAIRS_IN_PART", size)
        assert contents(prepare(recipe, tmp_path / str(size), NOISE, 1)) == expected


def test_wherever_it_is_interrupted_it_goes_on_to_the_same_bytes(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write, written = interrupted_at(training.data.atomic_folder.write_whole, 10_000)
    with monkeypatch.context() as patch:
        replace_write(patch, write)
        expected = contents(prepare(recipe, tmp_path / "expected", NOISE, 1))
    out = tmp_path / "out" / "data"
    for attempt in range(len(written)):
        one_more, done = interrupted_at(training.data.atomic_folder.write_whole, 7 + attempt % 5)
        with monkeypatch.context() as patch:
            replace_write(patch, one_more)
            try:
                prepare(recipe, out, NOISE, 1)
            except KeyboardInterrupt:
                assert not out.exists()
                continue
        break
    assert attempt > 5
    assert len(done) < len(written) / 4
    assert contents(out) == expected
    assert list(out.parent.iterdir()) == [out]


def test_what_is_done_is_not_done_again(recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cleaned: list[Path] = []
    clean_part = training.data.prepare_clean.clean_part

    def spy(job: training.data.prepare_clean.CleanJob) -> None:
        cleaned.append(job.stem)
        clean_part(job)

    monkeypatch.setattr(training.data.prepare_clean, "clean_part", spy)
    with monkeypatch.context() as patch:
        patch.setattr(
            training.data.prepare, "train_subwords", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            prepare(recipe, tmp_path / "data", [], 1)
    assert len(cleaned) == 5
    write_text(Path(recipe).parent, "more", PAIRS[20:25])
    prepare(recipe, tmp_path / "data", [], 1)
    assert len(cleaned) == 6, "the corpus that changed is cleaned again, the other is not"


def test_a_part_that_was_damaged_meanwhile_is_made_again(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    expected = contents(prepare(recipe, tmp_path / "expected", [], 1))
    with monkeypatch.context() as patch:
        patch.setattr(
            training.data.prepare, "train_subwords", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            prepare(recipe, tmp_path / "data", [], 1)
    part = tmp_path / ".data.partial" / "cleaned.0" / "00001.target"
    part.write_bytes(part.read_bytes().replace(b"e", b"E", 1))
    assert contents(prepare(recipe, tmp_path / "data", [], 1)) == expected


def test_a_second_preparation_of_the_same_folder_is_refused_while_one_runs(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    messages = []

    def meanwhile(*_: object) -> bytes:
        with pytest.raises(DataError) as error:
            prepare(recipe, tmp_path / "data", [], 1)
        messages.append(str(error.value))
        raise KeyboardInterrupt

    monkeypatch.setattr(training.data.prepare, "train_subwords", meanwhile)
    with pytest.raises(KeyboardInterrupt):
        prepare(recipe, tmp_path / "data", [], 1)
    assert "another 'nmt prepare' is at work here" in messages[0]


@pytest.fixture
def files_of_at_most() -> Iterator[Callable[[int], None]]:
    """Sets a limit on the size of files, the nearest to a full disk that needs no rights."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda n_bytes: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("n_bytes", [100, 2_000, 4_000, 100_000])
def test_a_full_disk_is_one_line_that_names_the_file_and_nothing_done_is_lost(
    recipe: str, tmp_path: Path, files_of_at_most: Callable[[int], None], n_bytes: int
):
    expected = contents(prepare(recipe, tmp_path / "expected", [], 1))
    assert n_bytes < max(map(len, expected.values()))
    files_of_at_most(n_bytes)
    with pytest.raises(DiskFullError) as error:
        prepare(recipe, tmp_path / "data", [], 1)
    files_of_at_most(resource.RLIM_INFINITY)
    assert os.strerror(errno.EFBIG) in str(error.value)
    assert str(error.value).startswith(str(tmp_path / ".data.partial"))
    assert "make room and run the same command again" in str(error.value)
    assert not (tmp_path / "data").exists()
    assert contents(prepare(recipe, tmp_path / "data", [], 1)) == expected


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_killed_at_twenty_moments_it_ends_in_the_same_bytes(tmp_path: Path):
    """SIGKILL to the parent of two processes, later each time; none of them outlives it."""
    pairs = [(f"{number} {en}", f"{number} {fr}") for number in range(200) for en, fr in PAIRS[:60]]
    recipe = str(write_toy(tmp_path / "corpus", pairs))
    script = tmp_path / "run.py"
    script.write_text(
        "import sys; from pathlib import Path; from training.data import prepare, prepare_clean\n"
        "prepare_clean.PAIRS_IN_PART = 400\n"
        "if __name__ == '__main__': prepare.prepare(sys.argv[1], Path(sys.argv[2]), [], 2)\n"
    )

    def start(out: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(script), recipe, str(out)]
        return subprocess.Popen(
            command, env={**os.environ, "PYTHONPATH": str(Path.cwd())}, start_new_session=True
        )

    began_s = time.monotonic()
    assert start(tmp_path / "expected").wait() == 0
    whole_s = time.monotonic() - began_s
    kills = 0
    for attempt in range(20):
        process = start(tmp_path / "data")
        time.sleep(whole_s * (attempt + 1) / 21)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert start(tmp_path / "data").wait() == 0
    assert kills >= 3
    assert contents(tmp_path / "data") == contents(tmp_path / "expected")
