#!/bin/sh
# One sitting on a rented GPU: put the corpus together, train until MINUTES of the whole run are over, pack the model.
#
#     scripts/train_on_gpu.sh PIECES OUT MINUTES [--set key=value ...]
#
# PIECES: a folder that `nmt pack` wrote. OUT: gets the best model so far, in float16 and pieces of at most 15 MiB, and the log.
# Beside torch it needs pydantic, pydantic-core, annotated-types, typing-inspection, ctranslate2, text2num, py3langid, sentencex, regex,
# turbohtml, platformdirs, defusedxml and sacremoses.
# WORK (environment): a folder of the machine's own, kept between sittings; the next sitting resumes from it.
set -eu
pieces=$1 out=$2 minutes=$3
shift 3
work=${WORK:-/tmp/passerelle}
mkdir -p "$work"
[ -d "$work/data" ] || python3 -m nmt unpack "$pieces" "$work/data"
status=0
python3 -m nmt train general_gpu --data "$work/data" --run "$work/run" --resume \
    --set training.max_minutes="$minutes" "$@" || status=$?
# What there is comes back, also from a run that failed.
rm -rf "$out/model"
if [ -d "$work/run/model" ]; then
    rm -rf "$work/half"
    python3 - "$work/run/model" "$work/half" <<'PYTHON'
"""The model in half precision: half as much to bring back."""
import sys
from pathlib import Path

from nmt.model_folder.checkpoint import load_model_folder, save_model_folder

folder, out = map(Path, sys.argv[1:])
loaded = load_model_folder(folder)
save_model_folder(
    out,
    config=loaded.config,
    model=loaded.model,
    tokenizer_file=folder / "tokenizer.model",
    generation=loaded.generation,
    card=(folder / "card.md").read_text(encoding="utf-8"),
    scores={},
    dtype="float16",
)
PYTHON
    python3 -m nmt pack "$work/half" "$out/model" --piece-mib 15
fi
cp "$work/run/log.jsonl" "$out/log.jsonl"
exit "$status"
