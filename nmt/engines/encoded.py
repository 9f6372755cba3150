"""What the encoder made of the sentences read lately: links and scores follow a search over the same ones.

Dimensions: B sentences, S source length, D d_model.
"""

from __future__ import annotations

from collections import deque
from threading import Lock

import torch
from torch import Tensor

from nmt.batch import Batch

KEPT_BYTES = 2**24
"""Of encoder output: a thousand sentences of ordinary length at d_model 320 in bfloat16."""
KEPT_SENTENCES = 2048
"""What is kept beside the output of each takes kilobytes, which with small models is most of it."""

Key = tuple[int, ...]


class EncodedSources:
    """Encoder output by source ids, that of the oldest batches leaving first; for several threads.

    Args:
        kept_bytes: most that is kept, padding counted; a batch that is larger by itself is not kept.
        kept_sentences: most of them that are kept, likewise.
    """

    def __init__(self, kept_bytes: int = KEPT_BYTES, kept_sentences: int = KEPT_SENTENCES) -> None:
        self._kept_bytes = kept_bytes
        self._kept_sentences = kept_sentences
        self._bytes = 0
        self._n_sentences = 0
        self._memory_SD: dict[Key, Tensor] = {}
        self._batches: deque[tuple[Tensor, list[Key]]] = deque()
        self._unread: deque[tuple[Tensor, Batch]] = deque()
        """Younger batches, which nobody has asked for since: their keys are still to be made."""
        self._lock = Lock()

    def keep(self, source: Batch, memory_BSD: Tensor) -> None:
        """Remember what was made of a batch's sentences."""
        if memory_BSD.nbytes > self._kept_bytes or len(memory_BSD) > self._kept_sentences:
            return
        with self._lock:
            self._unread.append((memory_BSD, source))
            self._bytes += memory_BSD.nbytes
            self._n_sentences += source.size
            while self._bytes > self._kept_bytes or self._n_sentences > self._kept_sentences:
                self._forget_oldest()

    def find(self, source: Batch) -> Tensor | None:
        """memory_BSD, zeros at padding, or None unless every sentence is remembered."""
        keys = _keys(source)
        with self._lock:
            while self._unread:
                self._read(*self._unread.popleft())
            found = [self._memory_SD.get(key) for key in keys]
        known = [memory_SD for memory_SD in found if memory_SD is not None]
        if len(known) < len(keys):
            return None
        memory_BSD = known[0].new_zeros(*source.source_BS.shape, known[0].size(1))
        for row_SD, memory_SD in zip(memory_BSD, known, strict=True):
            row_SD[: memory_SD.size(0)] = memory_SD
        return memory_BSD

    def _read(self, memory_BSD: Tensor, source: Batch) -> None:
        keys = _keys(source)
        self._batches.append((memory_BSD, keys))
        for key, memory_SD in zip(keys, memory_BSD, strict=True):
            self._memory_SD[key] = memory_SD[: len(key)]

    def _forget_oldest(self) -> None:
        if self._batches:
            memory_BSD, keys = self._batches.popleft()
            self._forget(keys, memory_BSD)
        else:
            memory_BSD, _ = self._unread.popleft()
        self._bytes -= memory_BSD.nbytes
        self._n_sentences -= len(memory_BSD)

    def _forget(self, keys: list[Key], memory_BSD: Tensor) -> None:
        for key, memory_SD in zip(keys, memory_BSD, strict=True):
            kept = self._memory_SD.get(key)
            if kept is not None and kept.data_ptr() == memory_SD.data_ptr():  # not read anew since
                del self._memory_SD[key]


def _keys(source: Batch) -> list[Key]:
    """The ids of each sentence, without padding."""
    lengths = source.source_mask_BS.sum(dim=1, dtype=torch.int64).tolist()
    rows = source.source_BS.tolist()
    return [tuple(ids[:length]) for ids, length in zip(rows, lengths, strict=True)]
