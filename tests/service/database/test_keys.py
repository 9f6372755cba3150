"""Keys: what is stored, what opens, what does not."""

from __future__ import annotations

import hmac
import re
from datetime import timedelta

import pytest
from sqlalchemy import text

from nmt.errors import InputError
from service.database.database import Database
from service.database.records import KeyLimits
from tests.service.database.conftest import Clock


def test_a_new_key_is_found_by_its_text_and_by_no_other(database: Database) -> None:
    limits = KeyLimits(60, 5_000, 100_000)
    key, shown = database.keys.create("team", limits)
    other, _ = database.keys.create("team")

    found = database.keys.find(shown)

    assert found == key
    assert found.limits == limits
    assert (found.name, found.expires_at, found.revoked_at) == ("team", None, None)
    _, _, secret = shown.split("_", 2)
    last = "a" if shown[-1] != "a" else "b"
    for wrong in (
        "",
        secret,
        shown[:-1],
        shown[:-1] + last,
        shown + "a",
        shown + "\n",
        shown.upper(),
        f"psr_{other.id}_{secret}",
        f"psr_{'0' * 12}_{secret}",
        "psr_' OR 1=1 --_" + secret,
        "clé",
        "\ud800",
    ):
        assert database.keys.find(wrong) is None


def test_a_key_has_256_random_bits_and_only_its_hash_is_stored(database: Database) -> None:
    shown = [database.keys.create("team")[1] for _ in range(20)]

    secrets = {re.fullmatch(r"psr_[0-9a-f]{12}_([\w-]{43})", key)[1] for key in shown}  # type: ignore[index]
    assert len(secrets) == 20
    with database.transactions.reading() as session:
        stored = str(session.execute(text("SELECT * FROM keys")).all())
    assert "team" in stored
    assert not any(secret in stored for secret in secrets)


def test_a_secret_is_compared_in_constant_time_even_where_there_is_no_such_key(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    def compare(a: str, b: str) -> bool:
        compared.append((a, b))
        return a == b

    monkeypatch.setattr(hmac, "compare_digest", compare)
    _, shown = database.keys.create("team")

    assert database.keys.find(shown)
    assert database.keys.find(f"psr_{'0' * 12}_{shown[-43:]}") is None
    assert [len(a) == len(b) == 64 for a, b in compared] == [True, True]


def test_a_key_expires_at_its_time_and_is_revoked_at_once(database: Database, clock: Clock) -> None:
    key, shown = database.keys.create("team", expires_at=clock() + timedelta(days=1))

    assert key.state(clock()) == "active"
    assert database.keys.any_active()
    clock.advance(days=1)
    assert database.keys.find(shown).state(clock()) == "expired"  # type: ignore[union-attr]
    assert not database.keys.any_active()
    revoked_at = database.keys.revoke(key.id).revoked_at
    clock.advance(days=1)
    assert database.keys.revoke(key.id).revoked_at == revoked_at, "the first time counts"
    assert database.keys.find(shown).state(clock()) == "revoked"  # type: ignore[union-attr]


def test_limits_are_replaced_as_a_whole(database: Database) -> None:
    key, shown = database.keys.create("team", KeyLimits(1, 2, 3))

    database.keys.set_limits(key.id, KeyLimits(characters_per_month=9))

    assert database.keys.find(shown).limits == KeyLimits(None, None, 9)  # type: ignore[union-attr]
    assert database.keys.get(key.id).limits == KeyLimits(None, None, 9)


def test_all_keys_are_listed_oldest_first(database: Database, clock: Clock) -> None:
    made = []
    for name in ("b", "a", "c"):
        made.append(database.keys.create(name)[0])
        clock.advance(seconds=1)

    assert database.keys.all() == made


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb", "a\x00", "\ud800"])
def test_a_name_that_cannot_be_shown_is_refused(database: Database, name: str) -> None:
    with pytest.raises(InputError, match=r"^name: it "):
        database.keys.create(name)


def test_what_cannot_be_done_says_why(database: Database, clock: Clock) -> None:
    with pytest.raises(InputError, match=r"would expire at 2026-03-14 15:09 UTC, which is past"):
        database.keys.create("team", expires_at=clock())
    for change in (
        database.keys.get,
        database.keys.revoke,
        lambda id_: database.keys.set_limits(id_, KeyLimits()),
    ):
        with pytest.raises(InputError, match="no key with this id; nmt keys list"):
            change("nothing")
