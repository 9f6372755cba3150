"""What an attacker tries: pickles, other sites, files that unpack without end, names that lead elsewhere."""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from service.database import keys
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, running
from tests.service.http.test_problems import assert_problem

ROOT = Path(__file__).parents[2]
PICKLES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "jsonpickle"}
UNPICKLE = {("torch", "load"), ("torch", "save"), ("np", "load"), ("numpy", "load"), ("pd", "read_pickle")}
CONTAINER = '<?xml version="1.0"?><!DOCTYPE a [{entities}]><a>{use}</a>'
LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "ha"}">' for i in range(10))


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with running(StubTranslator(), data_dir=tmp_path_factory.mktemp("data")) as server:
        yield server


@functools.cache
def sources() -> list[tuple[Path, ast.AST]]:
    return [
        (path.relative_to(ROOT), node)
        for package in ("nmt", "service", "training", "scripts")
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    ]


def test_nothing_reads_or_writes_a_pickle() -> None:
    """Imports read the weights of others, by calls that say that they open no pickle of objects."""
    found = []
    safely = {"weights_only": True, "allow_pickle": False}
    harmless = {
        id(node.func)
        for _, node in sources()
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg in safely
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is safely[keyword.arg]
    }
    for path, node in sources():
        if isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module or "").partition(".")[0]}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in UNPICKLE and id(node) not in harmless:
                found.append(f"{path}:{node.lineno} {node.value.id}.{node.attr}")
            continue
        else:
            continue
        found += [f"{path}:{node.lineno} {name}" for name in names & PICKLES]
    assert found == []


def test_secrets_are_compared_in_constant_time() -> None:
    """Keys by ``compare_digest``; the secret of a document by the database, as a hash."""
    assert "compare_digest" in inspect.getsource(keys.Keys.find)
    for path, node in sources():
        if isinstance(node, ast.Compare) and path.parts[0] == "service":
            operands = " ".join(ast.unparse(operand) for operand in (node.left, *node.comparators))
            if any(isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops):
                assert "secret" not in operands or "secret_hash" in operands, (
                    f"{path}:{node.lineno} {operands}"
                )


@pytest.mark.parametrize("method", ["OPTIONS", "GET", "POST"])
@pytest.mark.parametrize("path", ["/translate", "/languages", "/v2/translate", "/", "/documents"])
def test_no_answer_lets_other_sites_read_it(live: LiveServer, method: str, path: str) -> None:
    asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    with live.client() as client:
        answer = client.request(method, path, headers=asked)
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "unsafe" not in answer.headers["content-security-policy"]


def send(live: LiveServer, name: str, data: bytes) -> httpx.Response:
    with live.client() as client:
        octets = {"content-type": "application/octet-stream"}
        return client.post("/documents", params={"name": name}, content=data, headers=octets)


def zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def patched_size(data: bytes, size: int) -> bytes:
    """A zip that says its first member is so large, when it is larger."""
    central = data.rindex(b"PK\x01\x02")
    changed = bytearray(data)
    changed[central + 24 : central + 28] = size.to_bytes(4, "little")
    changed[22:26] = size.to_bytes(4, "little")
    return bytes(changed)


@pytest.mark.parametrize("suffix", ["docx", "odt"])
def test_a_zip_that_unpacks_without_end_is_refused(live: LiveServer, suffix: str) -> None:
    main = {"docx": "word/document.xml", "odt": "content.xml"}[suffix]
    zeros = b"\0" * 100_000_000
    bomb = zipped({main: zeros})
    nested = zipped({main: b"<a/>", **{f"{n}.zip": zipped({"0": zeros[:10_000_000]}) for n in range(2)}})
    many = zipped({f"{number}.xml": b"" for number in range(5_001)})
    for data in (bomb, many):
        assert_problem(send(live, f"a.{suffix}", data), 413, "text-too-long")
    assert_problem(send(live, f"a.{suffix}", patched_size(bomb, 100)), 422, "invalid-input")
    assert_problem(send(live, f"a.{suffix}", nested), 422, "invalid-input")  # and never looked into


@pytest.mark.parametrize(
    "entities",
    [LAUGHS, f'<!ENTITY l9 "{"a" * 15_000}">', '<!ENTITY l9 SYSTEM "file:///etc/passwd">',
     '<!ENTITY % p SYSTEM "http://127.0.0.1:1/x"> %p;'],
    ids=["laughs", "quadratic", "file", "parameter"],
)  # fmt: skip
def test_entities_of_xml_are_never_expanded(live: LiveServer, entities: str) -> None:
    use = "&l9;" * 1000
    xml = CONTAINER.format(entities=entities, use=use).encode()
    assert_problem(send(live, "a.xliff", xml), 422, "invalid-input")
    assert_problem(send(live, "a.docx", zipped({"word/document.xml": xml})), 422, "invalid-input")
    answer = live.post({"text": CONTAINER.format(entities=entities, use="&l9;" * 10), "markup": "xml"})
    assert answer.status_code in (200, 422)
    assert "root:" not in answer.text
    assert len(answer.content) < 3 * len(xml) + 10_000


@pytest.mark.parametrize(
    "name",
    ["../../evil.txt", "/etc/cron.d/evil.txt", "..\\evil.txt", "a\0b.txt", "C:/evil.txt", "~/.txt",
     "a\r\nX-Evil: 1.txt", "%2e%2e%2fevil.txt", '"; filename=evil.txt'],
)  # fmt: skip
def test_a_files_name_is_a_name_and_no_path(live: LiveServer, name: str) -> None:
    before = set(ROOT.parent.glob("*evil*"))
    sent = send(live, name, b"one two")
    folder = live.service.database.folder
    if sent.status_code == 202:
        path = f"/documents/{sent.json()['id']}"
        with live.client() as client:
            while client.get(path).json()["status"] not in ("done", "error"):
                pass
            content = client.get(f"{path}/content")
            assert content.content == b"owt eno"
            assert "x-evil" not in content.headers
            disposition = content.headers["content-disposition"]
            assert disposition.startswith("attachment; filename*=UTF-8''")
            assert not {"/", "\\", '"', ";", "\r"} & set(disposition.partition("''")[2])
    else:
        assert sent.status_code in (415, 422)
    kept = [path for path in folder.rglob("*") if path.is_file()]
    assert all("evil" not in str(path.relative_to(folder)) for path in kept)
    assert set(ROOT.parent.glob("*evil*")) == before


def test_an_audit_that_looked_nothing_up_is_no_clean_one(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "scripts" / "audit.py")
    assert spec
    assert spec.loader
    audit = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(audit)
    clean = {"name": "a", "version": "1", "vulns": []}
    skipped = {"name": "b", "skip_reason": "Dependency not found on PyPI"}
    bad = {"name": "c", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}

    assert [audit.tell(found) for found in ([clean], [skipped], [clean, skipped], [skipped, bad])] == [
        0,
        3,
        3,
        1,
    ]
    assert "c 2: CVE-1, fixed in 3" in capsys.readouterr().out
