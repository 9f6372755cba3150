"""Translation memories through DeepL's own package: imported, used, exported, deleted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import deepl
import httpx
import pytest

from nmt.translator import Translator
from tests.nmt.memory.test_files import BOMB
from tests.service.conftest import LiveServer, eventually, running

UNITS = [
    ("Open the door.", "Ouvrez donc la porte."),
    ("Page 3 of 9", "Folio 3 sur 9"),
    ("He reads the old book.", "Il lit."),
]
UNKNOWN = "00000000-0000-0000-0000-000000000000"


def tmx(*units: tuple[str, str], languages: tuple[str, str] = ("en-US", "fr")) -> str:
    body = "".join(
        f'<tu><tuv xml:lang="{languages[0]}"><seg>{source}</seg></tuv>'
        f'<tuv xml:lang="{languages[1]}"><seg>{target}</seg></tuv></tu>'
        for source, target in units
    )
    return f'<tmx version="1.4"><header srclang="{languages[0]}"/><body>{body}</body></tmx>'


@pytest.fixture(scope="module")
def guarded() -> Iterator[LiveServer]:
    """The shipped model behind keys."""
    translator = Translator.load("general", device="cpu")
    translator.warm_up()
    with running(translator, keys="required", memory_max_bytes=50_000) as server:
        yield server


@pytest.fixture
def client(guarded: LiveServer, new_key: Callable[..., str]) -> Iterator[deepl.DeepLClient]:
    with_a_key = deepl.DeepLClient(new_key(), server_url=guarded.url)
    yield with_a_key
    with_a_key.close()


@pytest.fixture(autouse=True)
def _in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client asks for a job every five seconds; here again at once."""
    quick = SimpleNamespace(time=time.time, sleep=lambda _: time.sleep(0.05))
    monkeypatch.setattr(deepl.deepl_client, "time", quick)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "legal.tmx"
    path.write_text(tmx(*UNITS, ("Only", "")), encoding="utf-8")
    return path


def imported(client: deepl.DeepLClient, file: Path, name: str | None = None) -> deepl.TranslationMemoryInfo:
    job = client.import_translation_memory_from_filepath(file, display_name=name)
    assert job.result is not None
    assert job.result.translation_memory_id is not None
    return client.get_translation_memory(job.result.translation_memory_id)


def test_a_memory_is_imported_listed_read_exported_and_deleted(
    client: deepl.DeepLClient, file: Path, tmp_path: Path
) -> None:
    job = client.import_translation_memory_from_filepath(file)

    assert (job.operation, job.status, job.display_name) == ("import", "completed", "legal.tmx")
    assert job.result is not None
    assert job.result.skipped_segment_count == 1
    (memory,) = client.list_translation_memories()
    assert memory.translation_memory_id == job.result.translation_memory_id
    assert (memory.name, memory.source_language, memory.target_languages) == ("legal.tmx", "en", ["fr"])
    assert memory.segment_count == 3
    assert memory.creation_time is not None
    assert abs(memory.creation_time - datetime.now(UTC)) < timedelta(minutes=1)
    assert client.get_translation_memory(memory).name == memory.name
    out = tmp_path / "out.tmx"
    exported = client.export_translation_memory_to_filepath(memory, out)
    assert (exported.operation, exported.translation_memory_id) == ("export", memory.translation_memory_id)
    assert out.read_text(encoding="utf-8").count("<tu>") == 3
    assert imported(client, out, "Again").name == "Again"
    assert len(client.list_translation_memories(page=0, page_size=1)) == 1
    assert [one.name for one in client.list_translation_memories(page=1, page_size=1)] == ["Again"]
    assert client.list_translation_memories(page=2, page_size=1) == []

    client.delete_translation_memory(memory)

    assert [one.name for one in client.list_translation_memories()] == ["Again"]
    for call in (
        client.get_translation_memory,
        client.delete_translation_memory,
        client.create_translation_memory_export,
        client.list_translation_memory_segments,
    ):
        with pytest.raises(deepl.DeepLException, match="no translation memory under this id"):
            call(memory)


def test_segments_come_by_the_page_and_by_a_filter(client: deepl.DeepLClient, tmp_path: Path) -> None:
    path = tmp_path / "many.tmx"
    path.write_text(
        tmx(*((f"Sentence no {n}x", f"Phrase nº {n}") for n in range(60)), ("Last Ümlaut", "Fin"))
    )
    memory = imported(client, path)

    first = client.list_translation_memory_segments(memory)
    rest = client.list_translation_memory_segments(memory, page_cursor=first.next_page_cursor)

    assert (len(first), len(rest), first.segment_count, rest.next_page_cursor) == (50, 11, 61, None)
    assert rest.segments[-1].source_text == "Last Ümlaut"
    [target] = first.segments[0].targets
    assert (target.target_language, target.target_text) == ("fr", "Phrase nº 0")
    assert [
        len(client.list_translation_memory_segments(memory, filter_text=text))
        for text in ("nº 1", "ümlaut", "zz")
    ] == [11, 1, 0]
    exactly = client.list_translation_memory_segments(
        memory, filter_text="ümlaut", filter_case_sensitive=True
    )
    assert len(exactly) == 0
    pages, cursor = 0, None
    found: list[str] = []
    while pages == 0 or cursor is not None:
        page = client.list_translation_memory_segments(
            memory, page_size=7, page_cursor=cursor, filter_text="nº"
        )
        found += [segment.source_text for segment in page]
        cursor, pages = page.next_page_cursor, pages + 1
    assert (len(found), len(set(found))) == (60, 60)


def test_texts_and_documents_are_translated_with_it(
    client: deepl.DeepLClient, file: Path, tmp_path: Path
) -> None:
    memory = imported(client, file)

    texts = client.translate_text(
        ["Page 4 of 12", "Open the door."],
        source_lang="EN",
        target_lang="FR",
        translation_memory=memory,
        translation_memory_threshold=80,
    )
    assert isinstance(texts, list)
    assert [one.text for one in texts] == ["Folio 4 sur 12", "Ouvrez donc la porte."]
    alone = client.translate_text(
        "Open the door.", target_lang="FR", translation_memory=memory.translation_memory_id
    )
    assert not isinstance(alone, list)
    assert alone.text == "Ouvrez donc la porte."
    for threshold in (0, 100):
        one = client.translate_text(
            "<p>Open <b>the door</b>.</p>",
            source_lang="EN",
            target_lang="FR",
            tag_handling="html",
            translation_memory=memory,
            translation_memory_threshold=threshold,
        )
        assert not isinstance(one, list)
        assert one.text == "<p>Ouvrez donc <b>la porte</b>.</p>"
    (tmp_path / "a.txt").write_text("Open the door.\n")
    client.translate_document_from_filepath(
        tmp_path / "a.txt",
        tmp_path / "b.txt",
        source_lang="EN",
        target_lang="FR",
        translation_memory=memory,
        translation_memory_threshold=75,
    )
    assert (tmp_path / "b.txt").read_text() == "Ouvrez donc la porte.\n"


def test_what_is_wrong_with_a_file_is_told_by_its_job(client: deepl.DeepLClient, tmp_path: Path) -> None:
    for content, said in (
        (BOMB, "the TMX file declares XML entities; remove them"),
        ("no xml at all", "this is no TMX"),
        (tmx(), "the file has no translation unit"),
    ):
        path = tmp_path / "bad.tmx"
        path.write_text(content)
        with pytest.raises(deepl.DeepLException, match=said):
            client.import_translation_memory_from_filepath(path)
    (tmp_path / "m.docx").write_text("x")
    with pytest.raises(deepl.DeepLException, match=r"\.docx is not known"):
        client.import_translation_memory_from_filepath(tmp_path / "m.docx")
    with pytest.raises(deepl.DeepLException, match="60000 bytes are over this server's limit of 50000"):
        client.create_translation_memory_import("a.tmx", 60_000)
    announced = client.create_translation_memory_import("a.tmx", 10)
    with pytest.raises(deepl.DeepLException, match="413"):
        client.upload_translation_memory_file(announced, b"a" * 60_000)
    assert client.list_translation_memories() == []


def test_an_address_of_a_job_is_opened_by_its_secret_and_takes_one_file(
    client: deepl.DeepLClient, guarded: LiveServer, new_key: Callable[..., str]
) -> None:
    job = client.create_translation_memory_import("a.tmx", 10, display_name="A")
    assert job.expires_at is not None
    waiting = client.get_translation_memory_job(job.job_id)
    assert (waiting.status, waiting.result and waiting.result.required_action) == (
        "awaiting_input",
        "Send the file to upload_url.",
    )
    wrong = httpx.URL(job.upload_url).copy_set_param("secret", "x")
    with pytest.raises(deepl.DeepLException, match="403"):
        client.upload_translation_memory_file(str(wrong), b"a")
    with (
        closing(deepl.DeepLClient(new_key(), server_url=guarded.url)) as stranger,
        pytest.raises(deepl.DeepLException, match="no such job"),
    ):
        stranger.get_translation_memory_job(job.job_id)

    client.upload_translation_memory_file(job, tmx(UNITS[0]).encode())
    with pytest.raises(deepl.DeepLException, match="409"):
        client.upload_translation_memory_file(job, tmx(UNITS[1]).encode())
    eventually(lambda: client.get_translation_memory_job(job.job_id).done)

    memory = client.get_translation_memory_job(job.job_id).result
    assert memory is not None
    export = client.create_translation_memory_export(str(memory.translation_memory_id))
    ready = client.get_translation_memory_job(export.job_id)
    assert ready.result is not None
    url = httpx.URL(str(ready.result.download_url))
    assert httpx.get(url, trust_env=False).text.count("<tu>") == 1
    for bad in (url.copy_set_param("secret", job.upload_url[-64:]), url.copy_set_param("job", job.job_id)):
        assert httpx.get(bad, trust_env=False).status_code == 403


def test_a_memory_of_another_key_or_direction_is_refused(
    client: deepl.DeepLClient, guarded: LiveServer, new_key: Callable[..., str], file: Path, tmp_path: Path
) -> None:
    memory = imported(client, file)
    reverse = tmp_path / "reverse.tmx"
    reverse.write_text(tmx(("Porte", "Door"), languages=("fr", "en")))

    with pytest.raises(
        deepl.DeepLException, match="is from fr to en, and this request translates from en to fr"
    ):
        client.translate_text(
            "a", source_lang="EN", target_lang="FR", translation_memory=imported(client, reverse)
        )
    with closing(deepl.DeepLClient(new_key(), server_url=guarded.url)) as stranger:
        assert stranger.list_translation_memories() == []
        for asked in (memory.translation_memory_id, UNKNOWN):
            with pytest.raises(deepl.DeepLException, match="no translation memory under this id"):
                stranger.translate_text("a", source_lang="EN", target_lang="FR", translation_memory=asked)
    body = {"text": ["a"], "target_lang": "FR", "translation_memory_threshold": 101}
    header = {"authorization": f"DeepL-Auth-Key {new_key()}"}
    answer = httpx.post(f"{guarded.url}/v2/translate", json=body, headers=header, trust_env=False)
    assert answer.status_code == 400
    assert (
        "translation_memory_threshold: input should be less than or equal to 100"
        in answer.json()["detail"].lower()
    )
