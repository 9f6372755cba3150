"""Documents: one job's way, who may see it, room, and what becomes of jobs that nobody finishes."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nmt.errors import InputError
from service.database.database import Database
from service.database.documents import Documents, DocumentsFullError
from tests.service.database.conftest import Clock


def files(database: Database) -> list[str]:
    folder = database.folder / "documents"
    return sorted(path.suffix for path in folder.iterdir()) if folder.exists() else []


def test_a_document_goes_from_upload_to_download(database: Database) -> None:
    documents = database.documents
    job, secret = documents.create("a", "../menu du jour.txt", b"hello", {"target": "fr", "glossary": None})
    assert (job.state, job.name, job.billed_characters) == ("queued", "../menu du jour.txt", 0)
    assert documents.get("a", job.id, secret) == job
    assert documents.result(job.id) is None
    assert files(database) == [".source"]

    assert documents.start(job.id) == b"hello"
    assert documents.start(job.id) is None, "one worker takes it"
    assert documents.get("a", job.id, secret).state == "translating"  # type: ignore[union-attr]
    assert documents.finish(job.id, "menu.fr.txt", b"bonjour", 5)

    done = documents.get("a", job.id, secret)
    assert done
    assert (done.state, done.name, done.billed_characters) == ("done", "menu.fr.txt", 5)
    assert done.options == {"target": "fr", "glossary": None}
    assert documents.result(job.id) == b"bonjour"
    assert files(database) == [".result"], "the upload is gone"
    documents.delete(job.id)
    assert documents.get("a", job.id, secret) is None
    assert files(database) == []


def test_a_job_opens_to_its_key_with_its_secret_only(database: Database) -> None:
    job, secret = database.documents.create("a", "x.txt", b"x", {})

    assert database.documents.get("b", job.id, secret) is None
    assert database.documents.get("a", job.id, secret[:-1]) is None
    assert database.documents.get("a", job.id, "") is None
    assert database.documents.get("a", "0" * 32, secret) is None
    (path,) = (database.folder / "documents").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_only_one_of_many_workers_gets_a_job(database: Database) -> None:
    job, _ = database.documents.create("a", "x.txt", b"x", {})
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(lambda _: database.documents.start(job.id), range(16)))

    assert got.count(b"x") == 1
    assert got.count(None) == 15


def test_a_failed_job_says_why_and_takes_no_room(database: Database) -> None:
    job, secret = database.documents.create("a", "x.txt", b"x", {})
    database.documents.start(job.id)

    database.documents.fail(job.id, "The document is encrypted.")

    failed = database.documents.get("a", job.id, secret)
    assert failed
    assert (failed.state, failed.message) == ("error", "The document is encrypted.")
    assert files(database) == []
    assert database.documents.finish(job.id, "x", b"late", 1) is False, "too late"
    assert database.documents.result(job.id) is None


def test_all_files_together_have_a_limit(database: Database, tmp_path: Path) -> None:
    documents = Documents(database.transactions, tmp_path / "small", ttl_s=60, max_bytes=100)
    first, _ = documents.create("a", "x.txt", b"x" * 60, {})
    with pytest.raises(DocumentsFullError):
        documents.create("b", "y.txt", b"y" * 41, {})
    second, _ = documents.create("a", "z.txt", b"z" * 40, {})
    documents.start(first.id)
    with pytest.raises(DocumentsFullError):
        documents.finish(first.id, "x.txt", b"x" * 61, 60)
    documents.delete(second.id)

    assert documents.finish(first.id, "x.txt", b"x" * 100, 60)
    assert len(list((tmp_path / "small").iterdir())) == 1


def test_uploads_at_once_cannot_pass_the_limit_together(database: Database, tmp_path: Path) -> None:
    documents = Documents(database.transactions, tmp_path / "small", ttl_s=60, max_bytes=50)

    def upload(_: int) -> bool:
        try:
            documents.create("a", "x.txt", b"x" * 10, {})
        except DocumentsFullError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(upload, range(24))) == 5


def test_expired_jobs_and_files_without_a_job_are_deleted(database: Database, clock: Clock) -> None:
    documents = database.documents
    job, secret = documents.create("a", "x.txt", b"x", {})
    documents.start(job.id)
    documents.finish(job.id, "x.txt", b"y", 1)
    folder = database.folder / "documents"
    stray = folder / "stray.source.part"
    stray.write_bytes(b"")
    os.utime(stray, (0, 0))
    clock.advance(seconds=3599)
    documents.sweep()
    assert files(database) == [".result"]

    clock.advance(seconds=1)

    assert documents.get("a", job.id, secret) is None
    documents.sweep()
    assert files(database) == []


def test_jobs_of_a_server_that_stopped_are_failed(database: Database, clock: Clock) -> None:
    documents = database.documents
    old, old_secret = documents.create("a", "x.txt", b"x", {})
    documents.start(old.id)
    kept, _ = documents.create("a", "x.txt", b"x", {})
    clock.advance(seconds=100)
    assert documents.touch(kept.id)
    new, _ = documents.create("a", "x.txt", b"x", {})

    assert documents.abandon(100, "The server stopped; upload it again.") == 1

    assert documents.get("a", old.id, old_secret).state == "error"  # type: ignore[union-attr]
    assert documents.start(new.id) == documents.start(kept.id) == b"x"
    assert not documents.touch(old.id)


def test_a_name_that_cannot_be_one_is_refused(database: Database) -> None:
    for name in ("", "x" * 256, "a\x00.txt", "a\n.txt"):
        with pytest.raises(InputError, match=r"^filename: "):
            database.documents.create("a", name, b"", {})
