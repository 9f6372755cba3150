"""The training loop: forward, loss, backward, step, validate, save.

What happens at update u depends on the recipe, the corpus and u alone: dropout is seeded from (seed, u),
batches from (seed, epoch). So a run that was killed goes on from its last checkpoint to the very weights of a
run that was not (on one machine, in float32).

Several processes (``training.distributed``) run this loop in step: each trains on its rows of every batch,
they agree after each update on whether to go on, and the first of them validates, logs and writes.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import torch

from nmt.allocator import give_back_free_memory, keep_freed_memory
from nmt.commands.progress import progress
from nmt.config import RnnConfig
from nmt.errors import ConfigError, NumericalError
from nmt.models.build import Model, build_model
from nmt.tokenizer import Tokenizer
from training.average import average_weights
from training.batching import BatchStream
from training.data.shards import PreparedCorpus, TokenPairs
from training.data.tokenizers import Tokenizers
from training.distributed import ALONE, World
from training.meter import Bound, Meter
from training.objective import build_objective, build_tuning
from training.optimizer import build_optimizer
from training.preferences import frozen
from training.prefetch import PrefetchedStream
from training.pretraining import Pretraining
from training.publish import publish, restore_interrupted
from training.recipe import TUNING, Recipe
from training.run_folder import RunFolder
from training.schedule import build_schedule, cooldown_factor
from training.sharding import set_weights, whole_weights
from training.speed import has_bf16_units, operations_of_a_pair, operations_per_second
from training.state import (
    TrainingState,
    checkpoints,
    load_checkpoint,
    load_reference,
    newest_intact,
    save_checkpoint,
    save_reference,
)
from training.step import TeacherForcedLoss, TrainingStep
from training.supervision import LinkTable
from training.validation import Validation, validate, validate_pretraining

GO_ON, DONE, TERMINATED = 0.0, 1.0, 2.0
"""Wish of a process after an update; the highest of all counts."""


class Terminated(BaseException):
    """SIGTERM came where work could be left in the middle."""


class Trainer:
    """One run: model, optimizer and data in memory, the rest in the run's folder."""

    def __init__(self, recipe: Recipe, corpus: PreparedCorpus, run: RunFolder, world: World = ALONE) -> None:
        self.recipe = recipe
        self.options = recipe.training
        self.corpus = corpus
        self.run_folder = run
        self.world = world
        self.device = world.device
        self.bf16 = self.options.precision == "bf16" or (
            self.options.precision == "auto" and has_bf16_units(self.device)
        )
        tokenizers = Tokenizers.load(corpus.folder)
        self.tokenizer = tokenizers.target
        torch.manual_seed(self.options.seed)
        self.model: Model = build_model(recipe.model_config_for(self.tokenizer.vocab_size))
        if not world.sharded:  # a model that is shared out may not fit whole
            self.model.to(self.device)
        self.pretraining = None
        if self.options.objective in ("masked_words", *TUNING) and world.size > 1:
            raise ConfigError(
                f"training.objective {self.options.objective} is of one process: train without torchrun"
            )
        if self.options.objective in ("masked_words", "language_model"):
            special = self.tokenizer.special
            self.pretraining = Pretraining(self.options.objective, self.tokenizer.vocab_size, special)
        pairs = corpus.split("train")
        self._bound = Bound(
            self.options.readings * _operations_of_a_token(self.model, pairs),
            world.size * operations_per_second(self.device, torch.bfloat16 if self.bf16 else torch.float32),
        )
        self._reference = None if self.options.objective != "dpo" else frozen(self.model)
        objective = build_objective(recipe, build_tuning(self.options, self.tokenizer, self._reference))
        loss = world.share(
            TeacherForcedLoss(self.model, objective, bf16=self.bf16, compiled=self.options.compile)
        )
        self.optimizer = build_optimizer(self.model, self.options)
        self.step = TrainingStep(loss, self.optimizer, self.options, world)
        self.schedule = build_schedule(
            self.options.schedule,
            self.options.learning_rate,
            self.options.warmup_updates,
            self.options.max_updates,
            d_model=recipe.model.d_hidden if isinstance(recipe.model, RnnConfig) else recipe.model.d_model,
        )
        stream = BatchStream(
            pairs,
            self.tokenizer,
            batch_tokens=self.options.batch_tokens,
            seed=self.options.seed,
            subword_sampling=self.options.subword_sampling,
            links=_links(recipe, corpus, self.tokenizer),
            source_tokenizer=tokenizers.source,
            pretraining=self.pretraining,
        )
        on_gpu = self.device.type == "cuda"
        self.stream = PrefetchedStream(stream, pin=True) if on_gpu else stream
        self.stop_reason: str | None = None
        self.average_score: float | None = None
        """Score of the mean of the last checkpoints, once the run has ended."""
        self._may_leave = False
        self._go_on_from(TrainingState())

    def _go_on_from(self, state: TrainingState) -> None:
        self.state = state
        self._elapsed_s = state.elapsed_s
        self._saved_update = state.update
        self._meter = Meter(state, self.world, self._bound)

    def begin_with(self, model: Model) -> None:
        """Take another model's weights and score them: what training does not better, it does not replace."""
        set_weights(self.model, dict(model.named_parameters()))
        if self._reference is not None:
            set_weights(self._reference, dict(model.named_parameters()))
            save_reference(self._reference, self.run_folder.reference)
        self._validate()

    def resume(self) -> None:
        """Go back to the newest intact checkpoint, if there is one."""
        if self.world.is_first:
            restore_interrupted(self.run_folder.model)
        checkpoint, problems = newest_intact(self.run_folder.checkpoints)
        for problem in problems:
            self.run_folder.log("note", 0, text=f"checkpoint passed over: {problem}")
        state = TrainingState()
        if checkpoint is not None:
            state = load_checkpoint(checkpoint, self.model, self.optimizer)
            self.stream.seek(state.epoch, state.next_batch)
            if self._reference is not None:
                set_weights(self._reference, load_reference(self.run_folder.reference))
        self._go_on_from(state)

    def train(self) -> TrainingState:
        """Train until the last update, the time limit, no more gain, or SIGTERM; then average and publish."""
        keep_freed_memory()
        former = signal.signal(signal.SIGTERM, self._on_sigterm)
        try:
            left = self.options.max_updates - self.state.update
            with progress(self.recipe.name, left, silent=not self.world.is_first) as advance:
                if self.state.validation_due:
                    self._validate()
                if self.state.update:
                    self._check_patience()
                    self._agree_on_the_end()
                while self.stop_reason is None and self.state.update < self.options.max_updates:
                    self._update()
                    update = self.state.update
                    note = self._log() if update % self.options.log_every == 0 else ""
                    if update % self.options.validate_every == 0:
                        self._validate()
                    if update % self.options.save_every == 0:
                        self._save()
                    self._agree_on_the_end()
                    advance(1, note)
        except Terminated:
            pass
        finally:
            signal.signal(signal.SIGTERM, former)
        self._save()
        if self.stop_reason != "SIGTERM":
            if self.state.update % self.options.validate_every:
                self._validate()  # the last weights are often the best: a cool-down ends with them
            self._publish_average()
        return self.state

    def _update(self) -> None:
        """One step of the optimizer over ``accumulate`` batches, each token weighing the same."""
        update = self.state.update + 1
        with self._leaving_at_once(possible=self.world.size == 1):
            batches = [self.stream.next() for _ in range(self.options.accumulate)]
            sums = self.step.gradients(batches, update)
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate(update)
        self._meter.add(self.step.apply(sums))
        self._update_state(
            update=update,
            epoch=self.stream.epoch,
            next_batch=self.stream.next_batch,
            target_tokens=self.state.target_tokens + sums.n_tokens,
        )

    def _rate(self, update: int) -> float:
        """The schedule's learning rate, less as the end comes near."""
        over = update / self.options.max_updates
        if self.options.max_minutes is not None:
            over = max(over, self._elapsed_s / (60 * self.options.max_minutes))
        return self.schedule(update) * cooldown_factor(over, self.options.cooldown)

    def _agree_on_the_end(self) -> None:
        """Stop where any process wants to, at the same update; time is that of the slowest clock."""
        wish = TERMINATED if self.stop_reason == "SIGTERM" else DONE if self.stop_reason else GO_ON
        most, self._elapsed_s = self.world.highest(wish, self._meter.elapsed_s())
        minutes = self.options.max_minutes
        if most == TERMINATED:
            self.stop_reason = "SIGTERM"
        elif most == DONE:
            self.stop_reason = self.stop_reason or "the first process has ended the run"
        elif minutes is not None and self._elapsed_s >= 60 * minutes:
            self.stop_reason = f"{minutes} minutes are over"

    def _log(self) -> str:
        """Write the mean loss and the speed since the last time, and put them in words; NaN ends the run."""
        values = self._meter.read()
        if not math.isfinite(values["loss"]) or not math.isfinite(values["gradient_norm"]):
            raise NumericalError(
                f"loss {values['loss']}, gradient norm {values['gradient_norm']} by update "
                f"{self.state.update}: the last checkpoint is sound; resume with a lower "
                "training.learning_rate or a longer warm-up"
            )
        self._update_state()
        give_back_free_memory()
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
        model = self._whole_model()
        if not self.world.is_first:
            return
        self._update_state(validation_due=True)
        try:
            with self._leaving_at_once(possible=True):
                validation = self._score(model)
        except Terminated:
            return
        self._update_state(validation_due=False)
        better = validation.score > self.state.best_bleu
        self._update_state(validations_without_gain=0 if better else self.state.validations_without_gain + 1)
        if better:
            self._update_state(best_bleu=validation.score, best_update=self.state.update)
            self._publish(model, validation)
        self._log_validation("validation", validation)
        self._check_patience()

    def _check_patience(self) -> None:
        if self.options.patience and self.state.validations_without_gain >= self.options.patience:
            what = "BLEU" if self.pretraining is None else "prediction"
            self.stop_reason = f"no better {what} in {self.options.patience} validations"

    def _whole_model(self) -> Model:
        """The model; a copy with all its weights where they are shared out, for the first process to use."""
        if not self.world.sharded:
            return self.model
        weights = whole_weights(self.model)
        if not self.world.is_first:
            return self.model
        model = build_model(self.recipe.model_config_for(self.tokenizer.vocab_size))
        set_weights(model, weights)
        return model.to(self.device)

    def _score(self, model: Model) -> Validation:
        pretraining = self.pretraining
        pairs = self.corpus.split("dev").evenly(self.options.validation_pairs)
        if pretraining is not None:
            objective = build_objective(self.recipe)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
                return validate_pretraining(model, pairs, pretraining, objective, self.options.batch_tokens)
        beam = {"beam_size": self.options.validation_beam_size, "n_best": 1}
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            return validate(
                model,
                pairs,
                self.tokenizer,
                self.recipe.generation.model_copy(update=beam),
                self.options.batch_tokens,
            )

    def _save(self) -> None:
        if self._saved_update == self.state.update:
            return
        self._meter.raise_unless_finite(self.state.update)
        self._update_state()
        save_checkpoint(
            self.run_folder.checkpoints,
            self.model,
            self.optimizer,
            self.state,
            keep=self.options.keep_checkpoints,
            writes=self.world.is_first,
        )
        self._saved_update = self.state.update

    def _publish_average(self) -> None:
        """Average the last checkpoints; publish the mean if it is better than the best single one."""
        model = self._whole_model()
        last = checkpoints(self.run_folder.checkpoints)[-self.options.average_last :]
        if not self.world.is_first or len(last) < 2 or self.options.average_last < 2:
            return
        set_weights(model, average_weights(last))
        validation = self._score(model)
        self.average_score = validation.score
        self._log_validation("average", validation, checkpoints=len(last))
        if validation.score > self.state.best_bleu:
            self._publish(model, validation)

    def _publish(self, model: Model, validation: Validation) -> None:
        publish(
            self.run_folder.model,
            self.recipe,
            self.corpus,
            self.tokenizer,
            model,
            self.state,
            validation,
        )

    def _log_validation(self, event: str, validation: Validation, **more: float) -> None:
        self.run_folder.log(
            event,
            self.state.update,
            loss=validation.loss,
            perplexity=validation.perplexity,
            **({"score": validation.score} if validation.bleu is None else {"bleu": validation.bleu}),
            elapsed_s=self.state.elapsed_s,
            **more,
        )

    def _update_state(self, **changes: float) -> None:
        """Bring the state up to date."""
        self.state = self.state.model_copy(update={"elapsed_s": self._meter.elapsed_s(), **changes})

    def _on_sigterm(self, signum: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the handler's signature
        self.stop_reason = "SIGTERM"
        if self._may_leave:
            raise Terminated

    @contextmanager
    def _leaving_at_once(self, *, possible: bool) -> Iterator[None]:
        """Work that may be left in the middle when SIGTERM comes, if no other process waits for it."""
        self._may_leave = possible
        try:
            if self._may_leave and self.stop_reason == "SIGTERM":
                raise Terminated
            yield
        finally:
            self._may_leave = False


def _links(recipe: Recipe, corpus: PreparedCorpus, tokenizer: Tokenizer) -> LinkTable | None:
    """Links of the training pairs, where attention is supervised."""
    if recipe.training.attention_links is None:
        return None
    languages = corpus.source_language, corpus.target_language
    return LinkTable(Path(recipe.training.attention_links), corpus.split("train"), tokenizer, languages)


def _operations_of_a_token(model: Model, pairs: TokenPairs) -> float:
    """Operations of a pair of the corpus' mean lengths, for each of its target tokens."""
    lengths = (pairs.source_lengths, pairs.target_lengths)
    source, target = (round(float(side.mean())) + 1 for side in lengths)
    return operations_of_a_pair(model, source, target) / target
