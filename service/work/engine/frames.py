"""Messages over a socket: 4 bytes of length, then JSON. Nothing is ever unpickled."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading

_LENGTH = struct.Struct("!I")
LARGEST_BYTES = 1 << 30


class ClosedError(Exception):
    """The other side is gone."""


class Frames:
    """Whole messages in both directions. Any thread may send; one receives."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._sending = threading.Lock()

    def send(self, message: bytes) -> None:
        """Send one message.

        Raises:
            ClosedError: the other side is gone.
        """
        try:
            with self._sending:
                self._connection.sendall(_LENGTH.pack(len(message)) + message)
        except OSError:
            raise ClosedError from None

    def receive(self) -> bytes:
        """Wait for one message.

        Raises:
            ClosedError: the other side is gone, or does not speak this protocol.
        """
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if length > LARGEST_BYTES:
            raise ClosedError
        return self._exactly(length)

    def close(self) -> None:
        """End both directions; whoever waits in ``receive`` is woken."""
        with contextlib.suppress(OSError):  # closed by the other side before
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _exactly(self, n_bytes: int) -> bytes:
        parts: list[bytes] = []
        while n_bytes:
            try:
                part = self._connection.recv(min(n_bytes, 1 << 20))
            except OSError:
                raise ClosedError from None
            if not part:
                raise ClosedError
            parts.append(part)
            n_bytes -= len(part)
        return b"".join(parts)
