"""eml: subject and bodies; opened again with the standard library's email."""

from __future__ import annotations

import importlib.util
import random
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import same, texts, translated
from tests.nmt.documents.generated import phrase, sentence


def mail(seed: int) -> bytes:
    chance = random.Random(seed)
    message = EmailMessage()
    message["From"], message["To"] = "Ann Lee <ann@example.com>", "Bob <bob@example.com>"
    message["Subject"] = (
        chance.choice(["", "Re: ", "RE: Fwd: "]) + phrase(chance) + chance.choice(["", " déjà"])
    )
    message["Message-ID"] = "<1@example.com>"
    accents = chance.choice(["", " déjà vu", " 😀"])
    body = (
        f"Dear Ann,\n\n{sentence(chance)}{accents}\n\nOn Monday, Bob wrote:\n> {sentence(chance)}\n> "
        f"{sentence(chance)}\n>\n>> {phrase(chance)}\n\n-- \nBob\n"
    )
    encodings = ["quoted-printable", "base64"] if accents else ["7bit", "quoted-printable", "base64"]
    message.set_content(body, cte=chance.choice(encodings))
    if chance.random() < 0.7:
        words = f"{sentence(chance)}{accents} <b>{phrase(chance)}</b>"
        page = f'<html lang="en"><body>\n<p>{words}\n</p></body></html>\n'
        message.add_alternative(page, subtype="html", cte=chance.choice(["quoted-printable", "base64"]))
    if chance.random() < 0.6:
        message.add_attachment(
            b"\x00\x01 words", maintype="application", subtype="x", filename="words here.bin"
        )
        message.add_attachment(f"{phrase(chance)}\n", filename="notes.txt")
    return message.as_bytes(policy=policy.SMTP if seed % 2 else policy.default)


def opened(data: bytes) -> EmailMessage:
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


def contents(data: bytes) -> list[tuple[str, object, object]]:
    """Of each part its type, its file name and its content."""
    return [
        (part.get_content_type(), part.get_filename(), part.get_content())
        for part in opened(data).walk()
        if not part.is_multipart()
    ]


@pytest.mark.parametrize("seed", range(20))
def test_messages_come_back_as_they_were(seed: int) -> None:
    data = mail(seed)
    result = translated("a.eml", data, lambda text: text.upper().replace("THE", "LÉ"))

    before, after = contents(data), contents(result)
    assert [one[:2] for one in before] == [one[:2] for one in after]
    for old, new in zip(before, after, strict=True):
        if old[1] is None:
            expected = str(old[2]).upper().replace("THE", "LÉ")
            assert shape(str(new[2])) == shape(expected)
        else:
            assert new == old
    assert opened(result)["From"] == opened(data)["From"]
    assert opened(result)["Subject"].upper() == opened(data)["Subject"].upper().replace("THE", "LÉ")
    assert not opened(result).defects


def shape(text: str) -> str:
    """Words and quotation marks, without the page's language."""
    return " ".join(text.casefold().replace('lang="en"', 'lang="fr"').split())


@pytest.mark.parametrize("seed", range(20))
def test_what_is_not_translated_is_copied_byte_by_byte(seed: int) -> None:
    data = mail(seed)

    assert translated("a.eml", data, same) == data


PLAIN = b"From: a@b.org\nSubject: Re: Red\n car\nX-Note: Words\n\nHello Ann.\n\n> Red\n> car\n\nBye\n"


def test_a_plain_message_of_old_becomes_mime_where_it_must() -> None:
    assert texts("a.eml", PLAIN) == ["Red car", "Hello Ann.", "Red", "car", "Bye"]
    assert translated("a.eml", PLAIN) == (
        b"From: a@b.org\nSubject: Re: RED CAR\nX-Note: Words\n\nHELLO ANN.\n\n> RED\n> CAR\n\nBYE\n"
    )
    result = translated("a.eml", PLAIN, lambda text: f"{text} été")
    assert b"MIME-Version: 1.0\n" in result
    assert opened(result)["Subject"] == "Re: Red car été"
    assert opened(result).get_content() == "Hello Ann. été\n\n> Red été\n> car été\n\nBye été\n"
    assert opened(result)["X-Note"] == "Words"


def test_a_character_set_that_cannot_hold_the_translation_becomes_utf_8() -> None:
    head = 'Subject: x\nMIME-Version: 1.0\nContent-Type: text/plain; charset="iso-8859-1"; format=flowed\n'
    data = f"{head}Content-Transfer-Encoding: 8bit\n\nCafé red\n".encode("latin-1")

    kept = translated("a.eml", data, lambda _: "été")
    assert kept == data.replace("Café red".encode("latin-1"), "été".encode("latin-1")).replace(
        b"Subject: x", b"Subject: =?utf-8?b?w6l0w6k=?="
    )
    changed = opened(translated("a.eml", data, lambda _: "œuf"))
    assert (changed.get_content(), changed.get_content_charset()) == ("œuf\n", "utf-8")
    assert changed["Content-Type"].params["format"] == "flowed"


def test_signed_is_said_and_encrypted_is_refused() -> None:
    signed = b'Subject: x\nContent-Type: multipart/signed; boundary="b"\n\n--b\n\nWords\n--b--\n'
    assert any("signed" in notice for notice in read_document("a.eml", signed).notices)
    with pytest.raises(InputError, match="encrypted"):
        read_document("a.eml", signed.replace(b"multipart/signed", b"multipart/encrypted"))


def test_what_cannot_be_decoded_stays_and_that_is_said() -> None:
    data = b'Subject: 12\nContent-Type: text/plain; charset="x-none"\n\nWords\n'

    assert read_document("a.eml", data).notices[0].startswith("1 parts are left as they are")
    with pytest.raises(InputError, match="no message"):
        read_document("a.eml", b"\nno header\n")


def test_the_messages_of_python_s_own_tests_come_back() -> None:
    found = importlib.util.find_spec("test.test_email")
    if found is None or found.origin is None:
        pytest.skip("this Python is installed without its tests")
    files = sorted((Path(found.origin).parent / "data").glob("msg_*.txt"))
    n_read = 0
    for file in files:
        data = file.read_bytes()
        try:
            result = translated("a.eml", data, same)
        except InputError:
            continue
        n_read += 1
        assert result == data, file.name
    assert n_read >= 3
