"""A PostgreSQL server of our own: in a temporary folder, without a network address, gone afterwards.

PostgreSQL refuses to run as root; then it runs as the user "postgres" that its Debian package makes.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

DEBIAN = Path("/usr/lib/postgresql")


def binaries() -> Path | None:
    """Where initdb and pg_ctl are, the newest version's; None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return versions[-1].parent if versions else None


@contextlib.contextmanager
def running_postgres(folder_of_binaries: Path) -> Iterator[str]:
    """The URL of a server that runs until the block ends."""
    user = _user()
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path has at most 107 characters
    if user is not None:
        shutil.chown(folder, user)
    data, log = folder / "data", folder / "log"

    def run(program: str, *arguments: str) -> None:
        command = [str(folder_of_binaries / program), "--pgdata", str(data), *arguments]
        # pg_ctl leaves a server behind that would hold a pipe open.
        done = subprocess.run(
            command, user=user, cwd=folder, env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"}, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, f"{program}: {log.read_text() if log.exists() else done.returncode}"

    try:
        run("initdb", "--username", "tester", "--auth", "trust", "--encoding", "UTF8", "--no-sync")
        options = (
            f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off -c max_connections=200"
        )
        run("pg_ctl", "start", "--wait", "--log", str(log), "--options", options)
        try:
            yield f"postgresql://tester@/postgres?host={folder}"
        finally:
            run("pg_ctl", "stop", "--mode", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> str | None:
    """Whom to run as: None, ourselves."""
    if os.geteuid() != 0:
        return None
    with contextlib.suppress(KeyError):
        return pwd.getpwnam("postgres").pw_name
    return "nobody"
