"""Tokens of a beam's rows, as back-pointers.

A step notes of each row its token, its sum and the row before that it extends: nothing that was written
earlier is moved. Who needs it reads it backwards (a hypothesis that ends), or has a table made of all rows (a
rule that looks at what stands); from then on only what is newer has to be added to that table.

Dimensions: N rows, T columns, one of them BOS.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

Part = Literal["tokens", "sums"]


class BackPointers:
    """The rows after one step. Rows may have begun at different times: all end in the same column.

    Args:
        tokens_N: the last of each row.
        sums_N: sum of log-probabilities of each row, with its last token; -inf: a dead row, which nothing can
            bring back.
        before: the rows a step earlier; None: all is in ``tables``.
        rows_N: which of them each row extends.
        tables: of all rows tokens_NT and sums_NT, as far as they were made.
    """

    __slots__ = ("_before", "_numbers", "_rows_N", "_tables", "sums_N", "tokens_N")

    def __init__(
        self,
        tokens_N: Tensor,
        sums_N: Tensor,
        before: BackPointers | None,
        rows_N: Tensor | None,
        tables: dict[Part, Tensor],
    ) -> None:
        self.tokens_N = tokens_N
        self.sums_N = sums_N
        self._before = before
        self._rows_N = rows_N
        self._tables = tables
        self._numbers: tuple[list[int], list[float], list[int]] | None = None

    @classmethod
    def of_tables(cls, tokens_NT: Tensor, sums_NT: Tensor) -> BackPointers:
        """That stand written out: BOS and tokens, and the sum after each; before BOS anything."""
        tables: dict[Part, Tensor] = {"tokens": tokens_NT, "sums": sums_NT}
        return cls(tokens_NT[:, -1], sums_NT[:, -1], None, None, tables)

    def extended(self, rows_N: Tensor, tokens_N: Tensor, sums_N: Tensor) -> BackPointers:
        """After one more step: row n extends the present row ``rows_N[n]`` by ``tokens_N[n]``."""
        return BackPointers(tokens_N, sums_N, self, rows_N, {})

    def select(self, rows_N: Tensor) -> BackPointers:
        """Only these rows."""
        return BackPointers.of_tables(self.table("tokens")[rows_N], self.table("sums")[rows_N])

    def joined(self, other: BackPointers, n_columns: int, pad: int) -> BackPointers:
        """The rows of both, of which none has more than ``n_columns``; ``pad`` stands before shorter ones."""

        def both(part: Part, value: float) -> Tensor:
            tables = (rows.table(part)[:, -n_columns:] for rows in (self, other))
            return torch.cat(
                [functional.pad(table, (n_columns - table.size(1), 0), value=value) for table in tables]
            )

        return BackPointers.of_tables(both("tokens", pad), both("sums", 0.0))

    def table(self, part: Part) -> Tensor:
        """Table of all rows, tokens_NT or sums_NT; at least as many columns as the longest row has."""
        if part not in self._tables:
            at: BackPointers | None = self
            columns: list[Tensor] = []
            rows_N: Tensor | None = None
            while at is not None and part not in at._tables:
                column_N = at.tokens_N if part == "tokens" else at.sums_N
                columns.append(column_N if rows_N is None else column_N.index_select(0, rows_N))
                assert at._rows_N is not None, "who has no rows before has tables"
                rows_N = at._rows_N if rows_N is None else at._rows_N.index_select(0, rows_N)
                at = at._before
            assert at is not None
            assert rows_N is not None
            written = at._tables[part].index_select(0, rows_N)
            self._tables[part] = torch.cat([written, torch.stack(columns[::-1], dim=1)], dim=1)
        return self._tables[part]

    def hypothesis_of(self, row: int, n_tokens: int) -> tuple[list[int], list[float]]:
        """The last tokens of one row, and the sums before and after each of them, one more."""
        tokens: list[int] = []
        sums: list[float] = []
        at = self
        for _ in range(n_tokens):
            if at._before is None:
                break
            last_tokens, last_sums, rows = at.numbers
            tokens.append(last_tokens[row])
            sums.append(last_sums[row])
            at, row = at._before, rows[row]
        if at._before is not None:
            return tokens[::-1], [at.numbers[1][row], *sums[::-1]]
        first = at._tables["tokens"].size(1) - (n_tokens - len(tokens))
        return (
            [*at._tables["tokens"][row, first:].tolist(), *tokens[::-1]],
            [*at._tables["sums"][row, first - 1 :].tolist(), *sums[::-1]],
        )

    @property
    def numbers(self) -> tuple[list[int], list[float], list[int]]:
        """Tokens, sums, and rows before, as plain numbers."""
        if self._numbers is None:
            rows = [] if self._rows_N is None else self._rows_N.tolist()
            self._numbers = self.tokens_N.tolist(), self.sums_N.tolist(), rows
        return self._numbers
