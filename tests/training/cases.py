"""Runs that two processes and one must train to the same weights: overrides of the tests' recipe."""

COMMON = (
    "model.dropout=0",
    "training.precision=fp32",
    "training.batch_tokens=150",
    "training.max_updates=5",
    "training.log_every=1",
    "training.save_every=100",
    "training.validate_every=4",
    "training.learning_rate=0.003",
    # so that rounding in gradients that are nothing but rounding is not made as large as the others
    "training.eps=0.001",
)
CASES: dict[str, tuple[str, ...]] = {
    "copied": (),
    "accumulated": ("training.accumulate=3",),
    "muon": ("training.optimizer=muon", "training.learning_rate=0.0003"),
    "sharded": ("training.sharded=true",),
    "sharded_accumulated": ("training.sharded=true", "training.accumulate=2"),
    # a batch for each sentence: half of the time a process has nothing to do
    "one_sentence": ("training.batch_tokens=1",),
}
