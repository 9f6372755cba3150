from pathlib import Path

import pytest
import torch

from nmt.errors import RunFolderError
from training.average import average_weights
from training.optimizer import build_optimizer
from training.recipe import TrainingConfig
from training.state import (
    MANIFEST,
    OPTIMIZER,
    STATE,
    WEIGHTS,
    TrainingState,
    checkpoints,
    find_damage,
    load_checkpoint,
    newest_intact,
    save_checkpoint,
)


def trained(seed: int = 0, size: int = 3) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    model = torch.nn.Linear(4, size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
    for _ in range(3):
        model(torch.randn(5, 4)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return model, optimizer


def save(folder: Path, *updates: int, keep: int = 10) -> list[Path]:
    model, optimizer = trained()
    return [
        save_checkpoint(folder, model, optimizer, TrainingState(update=update), keep=keep)
        for update in updates
    ]


def test_a_loaded_checkpoint_goes_on_to_the_same_weights(tmp_path: Path):
    model, optimizer = trained()
    save_checkpoint(tmp_path, model, optimizer, TrainingState(update=3, epoch=1, best_bleu=2.5), keep=2)
    other, other_optimizer = trained(seed=9)
    state = load_checkpoint(tmp_path / "update-00000003", other, other_optimizer)
    assert (state.epoch, state.best_bleu) == (1, 2.5)
    x = torch.randn(5, 4)
    for one, its_optimizer in ((model, optimizer), (other, other_optimizer)):
        one(x).square().sum().backward()
        its_optimizer.step()
    assert torch.equal(model.weight, other.weight)
    assert torch.equal(model.bias, other.bias)


def test_another_optimizers_moments_are_not_taken(tmp_path: Path):
    model, optimizer = trained()
    save_checkpoint(tmp_path, model, optimizer, TrainingState(update=3), keep=2)
    muon = build_optimizer(model, TrainingConfig(max_updates=1, learning_rate=0.1, optimizer="muon"))
    with pytest.raises(RunFolderError, match=r"of another optimizer .* \(it has weight.exp_avg\)"):
        load_checkpoint(tmp_path / "update-00000003", model, muon)


def test_a_checkpoint_before_the_first_update_has_no_moments(tmp_path: Path):
    model, _ = trained()
    fresh = torch.optim.AdamW(model.parameters(), lr=0.1)
    save_checkpoint(tmp_path, model, fresh, TrainingState(), keep=2)
    assert load_checkpoint(tmp_path / "update-00000000", model, fresh).update == 0
    assert not fresh.state


def test_only_the_newest_checkpoints_are_kept(tmp_path: Path):
    save(tmp_path, 1, 5, 10, keep=2)
    assert [path.name for path in checkpoints(tmp_path)] == ["update-00000005", "update-00000010"]


@pytest.mark.parametrize("name", [WEIGHTS, OPTIMIZER, STATE, MANIFEST])
@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(tmp_path: Path, name: str, damage: str):
    before, newest = save(tmp_path, 1, 2)
    file = newest / name
    content = bytearray(file.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    elif damage == "truncate":
        file.write_bytes(content[:-3])
    else:
        file.unlink()
    path, problems = newest_intact(tmp_path)
    assert path == before
    assert len(problems) == 1
    assert str(newest) in problems[0]
    assert find_damage(before) is None


def test_a_crash_while_saving_leaves_no_half_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    save(tmp_path, 1)
    for point in ("save_file", "_seal"):
        with monkeypatch.context() as patch:
            patch.setattr(f"training.state.{point}", _crash)
            with pytest.raises(KeyboardInterrupt):
                save(tmp_path, 2)
        assert [path.name for path in checkpoints(tmp_path)] == ["update-00000001"]
    save(tmp_path, 2)  # what the crash left behind is in nobody's way
    assert newest_intact(tmp_path)[0] == tmp_path / "update-00000002"


def _crash(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_full_disk_leaves_earlier_checkpoints_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    save(tmp_path, 1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("training.state._seal", full)
    with pytest.raises(RunFolderError, match=r"no room .*make room"):
        save(tmp_path, 2)
    assert newest_intact(tmp_path) == (tmp_path / "update-00000001", [])


def test_a_checkpoint_of_another_architecture_is_refused(tmp_path: Path):
    (path,) = save(tmp_path, 1)
    with pytest.raises(RunFolderError, match=r"another architecture.*bias"):
        load_checkpoint(path, *trained(size=2))


def test_the_average_is_the_mean_of_the_weights(tmp_path: Path):
    paths, models = [], []
    for seed in range(3):
        model, optimizer = trained(seed)
        models.append(model)
        paths.append(save_checkpoint(tmp_path, model, optimizer, TrainingState(update=seed + 1), keep=9))
    average = average_weights(paths)
    expected = torch.stack([model.weight.detach() for model in models]).mean(0)
    torch.testing.assert_close(average["weight"], expected)
    assert set(average) == {"weight", "bias"}
