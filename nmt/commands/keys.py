"""``nmt keys`` and ``nmt db``: keys of the service, and its tables."""

from __future__ import annotations

from typing import Annotated

import typer

from nmt.commands.loading import load

keys_app = typer.Typer(help="Keys of the service: create, list, revoke, limits.")
database_app = typer.Typer(help="Tables of the service's database: upgrade.")

KeyId = Annotated[str, typer.Argument(metavar="ID", help="As nmt keys list shows it.")]
Rate = Annotated[int, typer.Option(metavar="N", min=0, help="0: no limit.")]
NewRate = Annotated[int | None, typer.Option(metavar="N", min=0, help="0: no limit.")]


@keys_app.command("create")
def keys_create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is; for people, need not be unique.")],
    *,
    days: Annotated[
        float | None, typer.Option(metavar="N", min=0, help="It expires after so many days.")
    ] = None,
    requests_per_minute: Rate = 600,
    characters_per_minute: Rate = 300_000,
    characters_per_month: Rate = 0,
) -> None:
    """Make a key, and print it this once."""
    load("service.key_commands:create", extra="serve")(
        name,
        days=days,
        requests_per_minute=requests_per_minute,
        characters_per_minute=characters_per_minute,
        characters_per_month=characters_per_month,
    )


@keys_app.command("list")
def keys_list(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List keys with their limits and this month's characters; never their secrets."""
    load("service.key_commands:show", extra="serve")(as_json=as_json)


@keys_app.command("revoke")
def keys_revoke(key: KeyId) -> None:
    """Revoke a key for good, from its next request on."""
    load("service.key_commands:revoke", extra="serve")(key)


@keys_app.command("limits")
def keys_limits(
    key: KeyId,
    *,
    requests_per_minute: NewRate = None,
    characters_per_minute: NewRate = None,
    characters_per_month: NewRate = None,
) -> None:
    """Change limits of a key, from its next request on; what is not named stays."""
    load("service.key_commands:limit", extra="serve")(
        key,
        requests_per_minute=requests_per_minute,
        characters_per_minute=characters_per_minute,
        characters_per_month=characters_per_month,
    )


@database_app.command("upgrade")
def database_upgrade() -> None:
    """Bring the tables to this version; SQLite does so by itself."""
    load("service.key_commands:upgrade", extra="serve")()
