import pytest
import torch
from torch import nn

from nmt.config import TransformerConfig
from nmt.models.build import build_model
from training.optimizer import MuonAdamW, build_optimizer, hidden_matrices, moment_names
from training.recipe import TrainingConfig
from training.state import TrainingState, load_checkpoint, save_checkpoint


def tiny() -> nn.Module:
    torch.manual_seed(0)
    return build_model(
        TransformerConfig(
            vocab_size=50,
            d_model=16,
            d_ff=32,
            n_heads=2,
            n_encoder_layers=1,
            n_decoder_layers=1,
        )
    )


def options(name: str = "muon", **more: float) -> TrainingConfig:
    return TrainingConfig(max_updates=1, learning_rate=0.02, optimizer=name, **more)


def with_gradients(model: nn.Module, seed: int = 1) -> nn.Module:
    torch.manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    return model


def test_muon_has_the_layers_matrices_and_adamw_has_the_rest():
    model = tiny()
    optimizer = build_optimizer(model, options())
    assert isinstance(optimizer, MuonAdamW)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    (theirs,) = optimizer.muon.param_groups
    muon = {names[id(parameter)] for parameter in theirs["params"]}
    assert len(muon) == 4 + 2 + 4 + 4 + 2, "attention has four matrices, a feed-forward layer two"
    assert all(name.endswith("weight") and "norm" not in name and "embedding" not in name for name in muon)
    (others,) = optimizer.adamw.param_groups
    rest = {names[id(parameter)] for parameter in others["params"]}
    assert muon | rest == set(names.values())
    assert not muon & rest


def test_the_step_of_a_matrix_is_near_orthogonal_and_of_the_size_of_adamws():
    model = with_gradients(tiny())
    matrix = hidden_matrices(model)[0]
    before = matrix.detach().clone()
    build_optimizer(model, options()).step()
    step = (before - matrix).detach()
    singular = torch.linalg.svdvals(step)
    assert singular.max() < 2.5 * singular.min()
    rms = step.square().mean().sqrt().item()
    assert rms == pytest.approx(0.2 * 0.02, rel=0.25)


def test_one_rate_reaches_every_group():
    model = with_gradients(tiny())
    optimizer = build_optimizer(model, options())
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    optimizer.step()
    assert all(torch.equal(before[name], p) for name, p in model.named_parameters())


def test_each_weight_remembers_what_its_optimizer_needs():
    model = with_gradients(tiny())
    for name in ("muon", "adamw"):
        optimizer = build_optimizer(model, options(name))
        optimizer.step()
        for parameter in model.parameters():
            assert set(moment_names(optimizer, parameter)) == optimizer.state[parameter].keys() - {"step"}


def test_a_checkpoint_of_muon_goes_on_to_the_same_weights(tmp_path):
    def steps(model, optimizer, seeds):
        for seed in seeds:
            with_gradients(model, seed)
            optimizer.step()

    model = tiny()
    optimizer = build_optimizer(model, options())
    steps(model, optimizer, [1, 2])
    saved = save_checkpoint(tmp_path, model, optimizer, TrainingState(update=2), keep=1)
    steps(model, optimizer, [3])

    again = tiny()
    its_optimizer = build_optimizer(again, options())
    load_checkpoint(saved, again, its_optimizer)
    steps(again, its_optimizer, [3])
    for one, other in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)
