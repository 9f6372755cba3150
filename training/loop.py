"""The training loop: forward, loss, backward, step, validate, save.

What happens at update u depends on the recipe, the corpus and u alone: dropout is seeded from (seed, u),
batches from (seed, epoch). So a run that was killed goes on from its last checkpoint to the very weights of a
run that was not (on one machine, in float32).
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable
from types import FrameType

import torch
from torch import nn

from nmt.config import TransformerConfig
from nmt.errors import NumericalError
from nmt.models.build import Model, build_model
from nmt.tokenizer import Tokenizer
from training.average import average_weights
from training.batching import BatchStream
from training.loss import label_smoothed_cross_entropy
from training.memory import keep_freed_memory
from training.meter import Meter
from training.optimizer import build_optimizer
from training.prefetch import PrefetchedStream
from training.progress import progress
from training.publish import publish
from training.recipe import Recipe
from training.run_folder import RunFolder
from training.schedule import build_schedule, cooldown_factor
from training.shards import PreparedCorpus
from training.state import (
    TrainingState,
    checkpoints,
    load_checkpoint,
    newest_intact,
    save_checkpoint,
)
from training.validation import Validation, validate


class Trainer:
    """One run: model, optimizer and data in memory, the rest in the run's folder."""

    def __init__(
        self, recipe: Recipe, corpus: PreparedCorpus, run: RunFolder, device: torch.device | str = "cpu"
    ) -> None:
        self.recipe = recipe
        self.options = recipe.training
        self.corpus = corpus
        self.run_folder = run
        self.device = torch.device(device)
        self.bf16 = self.options.precision == "bf16" or (
            self.options.precision == "auto" and has_bf16_units(self.device)
        )
        self.tokenizer = Tokenizer.load(corpus.tokenizer_file)
        torch.manual_seed(self.options.seed)
        self.model: Model = build_model(recipe.model_config_for(self.tokenizer.vocab_size)).to(self.device)
        self.optimizer = build_optimizer(self.model, self.options)
        self.decode: Callable[..., tuple[torch.Tensor, torch.Tensor | None]] = (
            torch.compile(self.model.decode) if self.options.compile else self.model.decode
        )
        self.schedule = build_schedule(
            self.options.schedule,
            self.options.learning_rate,
            self.options.warmup_updates,
            self.options.max_updates,
            d_model=recipe.model.d_model
            if isinstance(recipe.model, TransformerConfig)
            else recipe.model.d_hidden,
        )
        stream = BatchStream(
            corpus.split("train"),
            self.tokenizer,
            batch_tokens=self.options.batch_tokens,
            seed=self.options.seed,
            subword_sampling=self.options.subword_sampling,
        )
        on_gpu = self.device.type == "cuda"
        self.stream = PrefetchedStream(stream, pin=True) if on_gpu else stream
        self.state = TrainingState()
        self.stop_reason: str | None = None
        self._meter = Meter(self.state)

    def begin_with(self, model: Model) -> None:
        """Take another model's weights and score them: what training does not better, it does not replace."""
        self.model.load_state_dict(model.state_dict())
        self._validate()

    def resume(self) -> None:
        """Go back to the newest intact checkpoint, if there is one."""
        checkpoint, problems = newest_intact(self.run_folder.checkpoints)
        for problem in problems:
            self.run_folder.log("note", 0, text=f"checkpoint passed over: {problem}")
        if checkpoint is not None:
            self.state = load_checkpoint(checkpoint, self.model, self.optimizer)
            self.stream.seek(self.state.epoch, self.state.next_batch)
        self._meter = Meter(self.state)

    def train(self) -> TrainingState:
        """Train until the last update, the time limit, no more gain, or SIGTERM; then average and publish."""
        keep_freed_memory()
        former = signal.signal(signal.SIGTERM, self._on_sigterm)
        try:
            with progress(self.recipe.name, self.options.max_updates - self.state.update) as advance:
                while self.stop_reason is None and self.state.update < self.options.max_updates:
                    self._update()
                    update = self.state.update
                    note = self._log() if update % self.options.log_every == 0 else ""
                    if update % self.options.validate_every == 0:
                        self._validate()
                    if update % self.options.save_every == 0:
                        self._save()
                    self.stop_reason = self.stop_reason or self._limit_reached()
                    advance(1, note)
        finally:
            signal.signal(signal.SIGTERM, former)
        self._save()
        if self.stop_reason != "SIGTERM":
            self._publish_average()
        return self.state

    def _update(self) -> None:
        """One step of the optimizer over ``accumulate`` batches, each token weighing the same."""
        update = self.state.update + 1
        torch.manual_seed((self.options.seed << 32) + update)
        batches = [self.stream.next() for _ in range(self.options.accumulate)]
        n_tokens = sum(
            int(batch.target_mask_BT.sum()) for batch in batches if batch.target_mask_BT is not None
        )
        self.model.train()
        for batch in batches:
            batch = batch.to(self.device)
            assert batch.target_out_BT is not None
            assert batch.target_mask_BT is not None
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
                hidden_BTD, _ = self.decode(batch)
            loss = label_smoothed_cross_entropy(
                hidden_BTD,
                self.model.output.weight_VD,
                batch.target_out_BT,
                batch.target_mask_BT,
                self.options.label_smoothing,
            )
            (loss.smoothed / n_tokens).backward()  # type: ignore[no-untyped-call]
            self._meter.add(loss.smoothed.detach(), loss.nll.detach())
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.options.clip_norm or math.inf)
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate(update)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._meter.n_tokens += n_tokens
        self._meter.gradient_norm = norm
        self._move(update=update, target_tokens=self.state.target_tokens + n_tokens)

    def _rate(self, update: int) -> float:
        """The schedule's learning rate, less as the end comes near."""
        over = update / self.options.max_updates
        if self.options.max_minutes is not None:
            over = max(over, self._meter.elapsed_s() / (60 * self.options.max_minutes))
        return self.schedule(update) * cooldown_factor(over, self.options.cooldown)

    def _log(self) -> str:
        """Write the mean loss and the speed since the last time, and put them in words; NaN ends the run."""
        values = self._meter.read()
        if not math.isfinite(values["loss"]) or not math.isfinite(values["gradient_norm"]):
            raise NumericalError(
                f"loss {values['loss']}, gradient norm {values['gradient_norm']} by update "
                f"{self.state.update}: the last checkpoint is sound; resume with a lower "
                "training.learning_rate or a longer warm-up"
            )
        self._move()
        rate = self._rate(self.state.update)
        self.run_folder.log(
            "train",
            self.state.update,
            epoch=self.state.epoch,
            learning_rate=rate,
            elapsed_s=self.state.elapsed_s,
            **values,
        )
        return f"{values['tokens_per_second']:,.0f} target tokens/s, loss {values['loss']:.3f}"

    def _validate(self) -> None:
        """Score on the development set; a better BLEU than ever is published at once."""
        validation = self._score()
        better = validation.bleu > self.state.best_bleu
        self._move(validations_without_gain=0 if better else self.state.validations_without_gain + 1)
        if better:
            self._move(best_bleu=validation.bleu, best_update=self.state.update)
            self._publish(validation)
        self._log_validation("validation", validation)
        if self.options.patience and self.state.validations_without_gain >= self.options.patience:
            self.stop_reason = f"no better BLEU in {self.options.patience} validations"

    def _score(self) -> Validation:
        beam = {"beam_size": self.options.validation_beam_size, "n_best": 1}
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            return validate(
                self.model,
                self.corpus.split("dev"),
                self.tokenizer,
                self.recipe.generation.model_copy(update=beam),
                self.options.batch_tokens,
            )

    def _save(self) -> None:
        self._meter.raise_unless_finite(self.state.update)
        self._move()
        save_checkpoint(
            self.run_folder.checkpoints,
            self.model,
            self.optimizer,
            self.state,
            keep=self.options.keep_checkpoints,
        )

    def _publish_average(self) -> None:
        """Average the last checkpoints; publish the mean if it is better than the best single one."""
        last = checkpoints(self.run_folder.checkpoints)[-self.options.average_last :]
        if len(last) < 2 or self.options.average_last < 2:
            return
        self.model.load_state_dict(average_weights(last), strict=False)
        validation = self._score()
        self._log_validation("average", validation, checkpoints=len(last))
        if validation.bleu > self.state.best_bleu:
            self._publish(validation)

    def _publish(self, validation: Validation) -> None:
        publish(
            self.run_folder.model,
            self.recipe,
            self.corpus,
            self.tokenizer,
            self.model,
            self.state,
            validation,
        )

    def _log_validation(self, event: str, validation: Validation, **more: float) -> None:
        self.run_folder.log(
            event,
            self.state.update,
            loss=validation.loss,
            perplexity=validation.perplexity,
            bleu=validation.bleu,
            elapsed_s=self.state.elapsed_s,
            **more,
        )

    def _move(self, **changes: float) -> None:
        """Bring the state up to date."""
        place = {"epoch": self.stream.epoch, "next_batch": self.stream.next_batch}
        self.state = self.state.model_copy(update={**place, "elapsed_s": self._meter.elapsed_s(), **changes})

    def _limit_reached(self) -> str | None:
        minutes = self.options.max_minutes
        if minutes is not None and self._meter.elapsed_s() >= 60 * minutes:
            return f"{minutes} minutes are over"
        return None

    def _on_sigterm(self, signum: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the handler's signature
        self.stop_reason = "SIGTERM"


def has_bf16_units(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 matrices in hardware: NVIDIA from Ampere on, CPUs with AMX."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device)[0] >= 8
    return device.type == "cpu" and torch.cpu._is_amx_tile_supported()
