"""Inside a built image: it starts, translates, aligns, tells its health and metrics, and stops on SIGTERM.

``python3 smoke.py``; needs nothing but the standard library and ``nmt`` on the path. Any failure is an
exception; success prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

SENTENCE = "A young woman is reading a book in the park."
TRANSLATION = "Une jeune femme lit un livre dans le parc."
ABOUT_A_PARK = {"en": (SENTENCE, "park"), "fr": (TRANSLATION, "parc")}
START_S = 120


def main() -> None:
    """Try everything once."""
    assert os.geteuid() != 0, "runs as root"
    for folder in ("/", "/opt/passerelle", "/usr/bin"):
        try:
            Path(folder, "written").touch()
        except OSError:
            continue
        raise AssertionError(f"{folder} is writable")
    status = Path("/proc/self/status").read_text()
    for kind in ("CapEff", "CapPrm", "CapBnd"):
        found = re.search(rf"{kind}:\s*(\w+)", status)
        assert found is not None
        assert int(found[1], 16) == 0, f"{kind} {found[1]}"

    refused = subprocess.run(
        ["nmt", "serve", "--host", "0.0.0.0"], capture_output=True, text=True, timeout=START_S, check=False
    )
    assert refused.returncode == 2, refused.stderr
    assert "nmt keys create" in refused.stderr
    key = subprocess.run(
        ["nmt", "keys", "create", "smoke"], capture_output=True, text=True, timeout=START_S, check=True
    ).stdout.split()[-1]

    started = time.monotonic()
    server = subprocess.Popen(["nmt", "serve", "--host", "0.0.0.0", "--port", "8000"])
    try:
        while fetch("/health/ready")[0] != 200:
            assert server.poll() is None, "the server ended"
            assert time.monotonic() - started < START_S, "not ready in time"
            time.sleep(0.2)
        ready_s = time.monotonic() - started
        assert fetch("/translate", {"text": SENTENCE})[0] == 401
        code, answer = fetch("/translate", {"text": SENTENCE, "alignment": "links"}, key)
        assert code == 200, code
        translation = json.loads(answer)["translations"][0]
        assert translation["text"] == TRANSLATION, translation["text"]
        assert len(translation["links"]) >= 8
        path = f"/translations/{translation['id']}/alignment"
        for accept, begin in (("image/png", b"\x89PNG"), ("image/svg+xml", b"<svg"), ("text/plain", b"0-")):
            code, answer = fetch(path, None, key, accept)
            assert code == 200, (accept, code)
            assert begin in answer[:300], accept
        for page in ("/", "/docs", "/health/live", "/openapi.json"):
            assert fetch(page)[0] == 200, page
        assert fetch("/metrics")[0] == 401
        code, answer = fetch("/metrics", None, key)
        assert b'passerelle_requests_total{method="POST",route="/translate",status="200"} 1.0' in answer
        n_directions = try_directions(key)
        assert b"Une jeune femme" in translated_document(f"{SENTENCE}\n".encode())
    finally:
        server.send_signal(signal.SIGTERM)
        status_at_end = server.wait(60)
    assert status_at_end == 0, status_at_end
    tried = {"ready_s": round(ready_s, 1), "directions": n_directions, "python": sys.version.split()[0]}
    print(json.dumps({"smoke": "passed", **tried}))


def try_directions(key: str) -> int:
    """Ask every model that is served, each in a process of its own; how many there are."""
    pairs = json.loads(fetch("/languages", None, key)[1])["pairs"]
    for pair in pairs:
        text, _ = ABOUT_A_PARK[pair["source"]]
        _, word = ABOUT_A_PARK[pair["target"]]
        asked = {"text": text, "source": pair["source"], "target": pair["target"]}
        code, answer = fetch("/translate", asked, key)
        assert code == 200, (pair["source"], code)
        assert word in json.loads(answer)["translations"][0]["text"], pair["source"]
    return len(pairs)


def fetch(
    path: str, body: dict[str, Any] | None = None, key: str | None = None, accept: str = "application/json"
) -> tuple[int, bytes]:
    """Status and body; status 0 when nobody listens."""
    headers = {"Accept": accept, "Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:8000{path}", data, headers), timeout=60
        ) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError:
        return 0, b""


def translated_document(content: bytes) -> bytes:
    """Through the command line: it reads and writes a file."""
    source = Path("/tmp/letter.txt")
    source.write_bytes(content)
    subprocess.run(["nmt", "translate", "--file", str(source)], check=True, timeout=START_S)
    return Path("/tmp/letter.fr.txt").read_bytes()


if __name__ == "__main__":
    main()
