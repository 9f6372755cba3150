"""A full disk gets the words of whoever writes; every other error of the system stays what it is."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from safetensors import SafetensorError

from nmt.errors import DiskFullError, PasserelleError
from training.data.atomic_folder import no_room
from training.disk import NO_ROOM, full_disk_told, is_full
from training.state import cannot_save

WORDS = {
    no_room: "run/x: no room to write it ({}); make room and run the same command again: "
    "what is done is kept",
    cannot_save: "run/x: no room (a full disk, a quota or a limit on file sizes); earlier checkpoints stand: "
    "make room, then --resume",
}


@pytest.mark.parametrize("code", NO_ROOM)
@pytest.mark.parametrize("words", WORDS)
def test_a_full_disk_is_told_in_the_words_given(words, code):
    reason = os.strerror(code)

    with pytest.raises(DiskFullError) as told, full_disk_told(Path("run/x"), words):
        raise OSError(code, reason)

    assert str(told.value) == WORDS[words].format(reason)
    assert told.value.__suppress_context__


@pytest.mark.parametrize(
    "error", [PermissionError(errno.EACCES, "not allowed"), OSError("no number"), PasserelleError("ours")]
)
def test_another_error_passes_as_it_is(error):
    with pytest.raises(type(error)) as raised, full_disk_told(Path("x"), no_room):
        raise error

    assert raised.value is error


def test_no_error_is_no_matter():
    with full_disk_told(Path("x"), no_room):
        pass


@pytest.mark.parametrize(
    ("message", "full"), [("I/O error: (os error 28)", True), ("(os error 13)", False), ("28", False)]
)
def test_the_number_in_a_message_of_safetensors_is_read(message, full):
    assert is_full(SafetensorError(message)) is full
