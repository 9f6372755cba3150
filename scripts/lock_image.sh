#!/usr/bin/env bash
# Write requirements/*.txt, what the image installs, with the SHA-256 of every file: scripts/lock_image.sh
#
# Versions are those of constraints.txt. Needs uv, the package index, and the CPU build of torch as a file in the
# folder WHEELS, or from the index TORCH_INDEX. To be run again when a dependency or constraints.txt changes;
# tests/test_image.py says when that was forgotten.
set -euo pipefail
cd "$(dirname "$0")/.."
UV=${UV:-uv}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

resolve() { # OUT ARGUMENTS...
    local out=$1
    shift
    "$UV" pip compile --quiet --no-header --no-annotate --generate-hashes --constraint constraints.txt \
        --python-version 3.11 --python-platform x86_64-manylinux_2_28 --output-file "$out" "$@"
}

extras=(pyproject.toml --extra serve --extra postgres)
resolve "$scratch/cuda" "${extras[@]}" --extra gpu
resolve "$scratch/cpu" "${extras[@]}" ${WHEELS:+--find-links "$WHEELS"} \
    ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX" --index-strategy unsafe-best-match}

python3 - "$scratch" <<'PYTHON'
"""Divide both into what they share and what is torch's own."""
import re
import sys
from pathlib import Path


def entries(name: str) -> dict[str, str]:
    text = Path(sys.argv[1], name).read_text()
    parts = re.split(r"(?m)^(?=[A-Za-z])", text)
    return {part.partition("==")[0]: part for part in parts if part.strip()}


cpu, cuda = entries("cpu"), entries("cuda")
common = {name for name in cpu if cuda[name] == cpu[name]}
if "+cpu" not in cpu["torch"]:
    sys.exit("no CPU build of torch was found: name its folder, WHEELS=DIR, or its index, TORCH_INDEX=URL")
folder = Path("requirements")
folder.mkdir(exist_ok=True)
for name, chosen in {
    "common.txt": [cpu[name] for name in cpu if name in common],
    "torch-cpu.txt": [cpu[name] for name in cpu if name not in common],
    "torch-cuda.txt": [cuda[name] for name in cuda if name not in common],
}.items():
    folder.joinpath(name).write_text("# By scripts/lock_image.sh; not to be edited.\n" + "".join(chosen))
PYTHON
