"""What users install: each package is listed with its use and its licence, and none of them is GPL."""

from __future__ import annotations

import re

from scripts import dependency_table


def test_the_table_is_fresh() -> None:
    text = (dependency_table.ROOT / dependency_table.PAGE).read_text(encoding="utf-8")

    assert dependency_table.fresh(text) == text, "run make tables"


def test_each_package_has_a_use_and_a_licence_that_fits() -> None:
    rows = re.findall(
        r"^\| ([\w-]+) \| ([^|]+) \| ([^|]+) \|", dependency_table.table(_former()), re.MULTILINE
    )

    for name, use, licence in rows[1:]:
        assert use != "?", name
        assert licence != "?", name
        assert not re.search(r"(?<!L)(?<!Lesser )\bA?GPL|(?<!Lesser )General Public", licence), (
            name,
            licence,
        )


def test_no_use_is_told_of_a_package_that_is_gone() -> None:
    assert dependency_table.USE.keys() == dependency_table.packages().keys()


def _former() -> str:
    text = (dependency_table.ROOT / dependency_table.PAGE).read_text(encoding="utf-8")
    found = dependency_table.MARKED.search(text)
    assert found
    return found[2]
