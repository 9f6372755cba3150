"""Lines in, lines out: what a user of each system waits for.

    python -m benchmarks.end_to_end --source FILE --out benchmarks/results/end_to_end.json

Contestants translate the same lines with the same weights and a beam of 5, each in a process of its own:

- ``passerelle``: ``Translator.translate`` as the command line calls it: splitting, placeholders, flags;
- ``script``: what one writes for CTranslate2 in ten lines: encode, ``translate_batch``, decode;
- ``one by one``: LibreTranslate's way, each text split into sentences and sent to CTranslate2 by itself;
- ``eager``: our engine of that name, the model in PyTorch;
- ``huggingface``: ``generate`` of transformers, where the package is installed.

Measured are 1, 16, 64 and 1,000 lines in one call (64 at most of the slow ones), the start of a process until
its first line, its memory, and how many translations of ours are those of the same sentence alone. Rounds are
interleaved, so that a machine that slows down slows all of them.

``--shape`` measures larger models too, of about as many parameters as Transformer base and big: the model
grown without changing what it computes (``nmt grow``), so that translations are as long as real ones.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

SIZES = (1, 16, 64, 1000)
CALLS = {1: 10, 16: 4, 64: 2, 1000: 1}
"""Calls of a round, by lines."""
CONTESTANTS = ("passerelle", "script", "one by one", "eager", "huggingface")
SLOW = ("one by one", "eager", "huggingface")
"""Contestants that are not asked for 1,000 lines."""
SHAPES = {
    "base": {"encoder_layers": 12, "decoder_layers": 6, "d_ff": 3072},
    "big": {"encoder_layers": 24, "decoder_layers": 8, "d_ff": 8192},
}
"""49 and 188 million parameters with a d_model of 320 and 12,000 sub-words."""
MOST_OF_A_SHAPE = 16
"""Lines of a call of a larger model."""
BATCH = 32
"""Sentences of CTranslate2's batches in the script, its own advice."""
LONGEST = 256
Translate = Callable[[Sequence[str]], list[str]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the rounds and write the record, or be a contestant."""
    options = _options(arguments)
    if options.be is not None:
        _answer(options)
        return
    lines = options.source.read_text(encoding="utf-8").splitlines()[: max(SIZES)]
    record: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip(),
        "command": f"python -m benchmarks.end_to_end {' '.join(arguments or sys.argv[1:])}",
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "device": options.device},
        "versions": {name: _version(name) for name in ("passerelle", "ctranslate2", "torch", "transformers")},
        "source": options.source.name,
        "lines": len(lines),
        "contestants": {},
    }
    for precision in options.precision:
        record["contestants"][precision] = _measured(options, precision, lines)
    record["contestants"] |= _measured_shapes(options, lines[:MOST_OF_A_SHAPE])
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _measured_shapes(options: argparse.Namespace, lines: Sequence[str]) -> dict[str, Any]:
    """The same of larger models, with fewer lines and without the slow contestants."""
    from training.grow import grow  # noqa: PLC0415 - torch is not for every contestant

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for shape in options.shape:
            model = str(grow(options.model, Path(folder) / shape, **SHAPES[shape]))
            fast = [name for name in options.contestant if name not in SLOW]
            grown = argparse.Namespace(**{**vars(options), "model": model, "contestant": fast})
            for precision in options.precision:
                found[f"{precision}, {shape}"] = _measured(grown, precision, lines)
                found[f"{precision}, {shape}"]["passerelle"].pop("equal_alone_and_together")
    return found


def _measured(options: argparse.Namespace, precision: str, lines: Sequence[str]) -> dict[str, Any]:
    """Medians of each contestant at one precision."""
    names = [name for name in options.contestant if name != "huggingface" or _version("transformers")]
    contestants = {name: _Contestant(name, precision, options) for name in names}
    seconds: dict[str, dict[str, list[float]]] = {
        name: {str(size): [] for size in SIZES} for name in contestants
    }
    for a_round in range(options.rounds):
        for size in SIZES:
            n_calls = CALLS[size] if len(lines) >= size else 0
            calls = [
                [lines[(a_round * 7 + call * size + place) % len(lines)] for place in range(size)]
                for call in range(n_calls)
            ]
            for name, contestant in contestants.items():
                if name in SLOW and size == max(SIZES):
                    continue
                for call in calls:
                    seconds[name][str(size)].append(contestant.translate(call)[1])
    found = {}
    for name, contestant in contestants.items():
        found[name] = {
            "start_s": round(contestant.start_s, 3),
            "seconds": {
                size: round(statistics.median(all_), 4) for size, all_ in seconds[name].items() if all_
            },
        }
    if "passerelle" in contestants:
        ours = contestants["passerelle"]
        together, alone = ours.translate(lines)[0], [ours.translate([line])[0][0] for line in lines]
        found["passerelle"]["equal_alone_and_together"] = sum(map(str.__eq__, together, alone))
    for name, contestant in contestants.items():
        found[name]["memory_mib"] = contestant.end()
    return found


class _Contestant:
    """A process that translates what it is sent."""

    def __init__(self, name: str, precision: str, options: argparse.Namespace) -> None:
        command = [
            sys.executable,
            "-m",
            "benchmarks.end_to_end",
            "--source",
            str(options.source),
            "--be",
            name,
        ]
        command += ["--precision", precision, "--device", options.device, "--model", options.model]
        self._name = name
        began_s = time.perf_counter()
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.translate(["Good morning."])
        self.start_s = time.perf_counter() - began_s

    def translate(self, lines: Sequence[str]) -> tuple[list[str], float]:
        """Translations, and the seconds they took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(list(lines)), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"contestant {self._name} has ended; its error stands above")
        texts, seconds = json.loads(answer)
        return texts, seconds

    def end(self) -> int:
        """End it; the most memory that it had, in MiB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        self._process.communicate()
        return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def _answer(options: argparse.Namespace) -> None:
    """Translate each line of standard input, a JSON list of texts."""
    translate = _contestant(options.be, options.model, options.precision[0], options.device)
    for asked in sys.stdin:
        lines = json.loads(asked)
        began_s = time.perf_counter()
        texts = translate(lines)
        print(json.dumps([texts, time.perf_counter() - began_s]), flush=True)


def _contestant(name: str, model: str, precision: str, device: str) -> Translate:
    if name in ("passerelle", "eager"):
        from nmt.options import TranslationOptions  # noqa: PLC0415
        from nmt.translator import Translator  # noqa: PLC0415 - each process loads its own

        ours = Translator.load(model, device=device, engine="eager" if name == "eager" else precision)
        plain = TranslationOptions(confidence=False)
        return lambda lines: [one.text for one in ours.translate(lines, plain)]
    if name == "huggingface":
        return _huggingface(model, device)
    return _ctranslate2(model, precision, device, one_by_one=name == "one by one")


def _ctranslate2(model: str, precision: str, device: str, *, one_by_one: bool) -> Translate:
    import ctranslate2  # noqa: PLC0415
    import sentencepiece  # noqa: PLC0415
    from sentencex import segment  # noqa: PLC0415

    pieces = sentencepiece.SentencePieceProcessor(model_file=str(_exported(model) / "tokenizer.model"))
    cores = os.cpu_count() or 1
    translator = ctranslate2.Translator(
        str(_exported(model)),
        device=device,
        compute_type=precision,
        inter_threads=1 if one_by_one else cores,
        intra_threads=cores if one_by_one else 1,
    )

    def translate(sentences: Sequence[str]) -> list[str]:
        results = translator.translate_batch(
            [pieces.encode(sentence, out_type=str) for sentence in sentences],
            beam_size=5,
            max_batch_size=BATCH,
            max_input_length=0,
            max_decoding_length=LONGEST,
        )
        return [pieces.decode(result.hypotheses[0]) for result in results]

    if one_by_one:
        return lambda lines: [" ".join(translate(list(segment("en", line)))) for line in lines]
    return translate


def _huggingface(model: str, device: str) -> Translate:
    from benchmarks.peers.huggingface_model import HuggingFaceModel  # noqa: PLC0415
    from nmt.model_folder.checkpoint import load_model_folder, resolve_model  # noqa: PLC0415

    loaded = load_model_folder(resolve_model(model), device)
    peer = HuggingFaceModel(loaded.model, loaded.config.model, loaded.config.special_ids)
    peer.model.to(device)

    def translate(lines: Sequence[str]) -> list[str]:
        sources = loaded.tokenizer.encode_batch(lines)
        order = sorted(range(len(lines)), key=lambda place: -len(sources[place]))
        texts = [""] * len(lines)
        for first in range(0, len(order), BATCH):
            part = order[first : first + BATCH]
            found = peer.translate([sources[place] for place in part], beam_size=5, limit=LONGEST)
            for place, ids in zip(part, found, strict=True):
                texts[place] = loaded.tokenizer.decode(ids)
        return texts

    return translate


def _exported(model: str) -> Path:
    """The model for CTranslate2, as ``nmt export`` writes it, in the folder of temporary files."""
    folder = Path(model) if Path(model).is_dir() else Path("nmt/pretrained") / model
    weights = hashlib.sha256((folder / "MANIFEST.sha256").read_bytes()).hexdigest()[:12]
    out = Path(tempfile.gettempdir()) / f"passerelle-end-to-end-{os.getuid()}-{weights}"
    if not (out / "model.bin").exists():
        command = [sys.executable, "-m", "nmt", "export", model, "--format", "ctranslate2", "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return out


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, help="a sentence a line, 1,000 or more")
    parser.add_argument("--out", type=Path, help="the record")
    parser.add_argument("--model", default="general")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--precision", nargs="+", default=["int8"])
    parser.add_argument("--contestant", nargs="+", default=list(CONTESTANTS), choices=CONTESTANTS)
    parser.add_argument("--shape", nargs="+", default=[], choices=tuple(SHAPES), help="larger models too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--be", choices=CONTESTANTS, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
