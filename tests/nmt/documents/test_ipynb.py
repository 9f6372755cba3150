"""ipynb: Markdown cells; opened again with the standard library's json."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import same, texts, translated
from tests.nmt.documents.generated import inline, phrase, sentence

METADATA = {
    "kernelspec": {"display_name": "Python 3", "name": "python3"},
    "language_info": {"name": "python"},
}


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def cell(chance: random.Random) -> dict[str, Any]:
    kind = chance.choice(["markdown", "markdown", "code", "raw"])
    if kind == "markdown":
        text = chance.choice(
            [
                f"# {phrase(chance)}\n\n{inline(chance)}\n\n- {sentence(chance)}\n- $x^2$ {phrase(chance)}",
                sentence(chance),
                f"## {phrase(chance)}\n\n```python\nprint('words')\n```\n",
                f"| {phrase(chance)} | {phrase(chance)} |\n|---|---|\n| `x` | {phrase(chance)} |",
                "",
            ]
        )
        source = chance.choice([text, lines(text)])
        return {"cell_type": kind, "id": "a", "metadata": {"tags": ["words"]}, "source": source}
    made: dict[str, Any] = {
        "cell_type": kind,
        "metadata": {},
        "source": lines(f"# {phrase(chance)}\nprint('x')"),
    }
    if kind == "code":
        made |= {"execution_count": 1, "outputs": [{"output_type": "stream", "text": [phrase(chance)]}]}
    return made


def notebook(seed: int) -> str:
    chance = random.Random(seed)
    data = {
        "cells": [{"cell_type": "markdown", "metadata": {}, "source": ["Some words\n", "é"]}]
        + [cell(chance) for _ in range(8)],
        "metadata": METADATA,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(data, indent=chance.choice([1, 2, None]), ensure_ascii=seed % 2 == 0) + "\n"


@pytest.mark.parametrize("seed", range(20))
def test_notebooks_come_back_as_they_were(seed: int) -> None:
    source = notebook(seed)
    before, after = json.loads(source), json.loads(translated("a.ipynb", source))

    assert translated("a.ipynb", source, same).decode() == source
    assert {**before, "cells": 0} == {**after, "cells": 0}
    n_changed = 0
    for old, new in zip(before["cells"], after["cells"], strict=True):
        assert {**old, "source": 0} == {**new, "source": 0}
        assert type(old["source"]) is type(new["source"])
        if old["cell_type"] == "markdown":
            assert "".join(new["source"]).casefold() == "".join(old["source"]).casefold()
            n_changed += new != old
        else:
            assert new == old
    assert n_changed >= 1


def test_lines_stay_lines_and_code_in_cells_stays() -> None:
    cells = [{"cell_type": "markdown", "metadata": {}, "source": ["# Red car\n", "\n", "Use `x` now"]}]
    source = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    assert texts("a.ipynb", source) == ["Red car", "Use x now"]
    result = json.loads(translated("a.ipynb", source))["cells"][0]["source"]
    assert result == ["# RED CAR\n", "\n", "USE `x` NOW"]


@pytest.mark.parametrize(
    "source", ['{"nbformat": 3, "worksheets": []}', "[1]", '{"nbformat": 4, "cells": 1}']
)
def test_what_is_no_notebook_is_an_error(source: str) -> None:
    with pytest.raises(InputError, match=r"no notebook of nbformat 4.*nbconvert"):
        read_document("a.ipynb", source.encode())
