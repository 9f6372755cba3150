"""Webhooks: the end of a job told to an address that its sender named, signed, and never inside our network.

Messages and signatures are those of Standard Webhooks (https://www.standardwebhooks.com), whose libraries
check them: HMAC-SHA256 over ``id.timestamp.body``. An address is looked up once, checked, and connected to as
it was checked, so that a name that changes meanwhile (DNS rebinding) leads nowhere else. Redirects are not
followed.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hashlib
import hmac
import ipaddress
import json
import socket
import ssl
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import h11
import structlog

from nmt.errors import InputError
from service.database.database import DatabaseUnavailableError
from service.database.records import Delivery, JobRecord, Webhook, WebhookState
from service.http.logs import describe
from service.state import Service

log = structlog.get_logger()

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

LONGEST_URL = 2000
SHORTEST_SECRET, LONGEST_SECRET = 16, 200
TIMEOUT_S = 10.0
"""For one try as a whole."""
LEASE_S = 60.0
"""A message whose sender has died is due again after this."""
POLL_S = 2.0
SENDERS = 4
"""Messages on their way at once."""
GROWTH = 6
"""How many times as long each wait is as the one before."""
GONE = 410
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_REFUSED = "webhook: its host must have a public address; see PASSERELLE_WEBHOOK_NETWORKS for others"


class _Target(NamedTuple):
    is_https: bool
    host: str
    port: int
    path: str


def webhook_of(url: str, secret: str) -> Webhook:
    """A webhook as asked for, checked but for what its host's name leads to, see ``resolve``.

    Raises:
        InputError: the URL or the secret cannot be used. Neither is repeated.
    """
    _target(url)
    if not secret:
        raise InputError(
            "webhook: it needs a secret to sign with; send the header Webhook-Secret, or set "
            "PASSERELLE_WEBHOOK_SECRET"
        )
    _signing_key(secret)
    return Webhook(url, secret)


def _target(url: str) -> _Target:
    problem = InputError(
        f"webhook: it must be an http or https URL of at most {LONGEST_URL} printable ASCII characters, "
        f"without a user name or fragment"
    )
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url or "#" in url:
        raise problem
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise problem from None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or port == 0:
        raise problem
    is_https = parts.scheme == "https"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return _Target(is_https, parts.hostname, port or (443 if is_https else 80), path)


def _signing_key(secret: str) -> bytes:
    """Bytes of a secret: those that whsec_ says in base64, or its characters."""
    problem = InputError(
        f"webhook: the secret must be whsec_ and base64, or {SHORTEST_SECRET} to {LONGEST_SECRET} characters"
    )
    if not SHORTEST_SECRET <= len(secret) <= LONGEST_SECRET or not secret.isascii():
        raise problem
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise problem from None


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The header ``webhook-signature`` of a message."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(_signing_key(secret), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def is_allowed(address: Address, networks: Sequence[str]) -> bool:
    """Whether a webhook may reach an address: a public one, or one in ``networks``.

    An address of IPv6 that stands for one of IPv4 is judged by that.
    """
    for network in map(ipaddress.ip_network, networks):
        if address.version == network.version and address in network:
            return True
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address.teredo is not None:
            inner = address.teredo[1]
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_allowed(inner, networks)
        if address.is_site_local:
            return False
    is_special = (
        address.is_multicast
        or address.is_reserved
        or address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_unspecified
    )
    return address.is_global and not is_special


async def resolve(url: str, networks: Sequence[str]) -> str:
    """The address that a webhook leads to now.

    Raises:
        InputError: its host has no address, or one that is not allowed. Which it is is not told: nobody is to
            learn our network's names from it.
    """
    target = _target(url)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            target.host, target.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
    except (OSError, UnicodeError):
        raise InputError(_REFUSED) from None
    addresses = [str(entry[4][0]) for entry in found]
    if not addresses or not all(is_allowed(ipaddress.ip_address(one), networks) for one in addresses):
        raise InputError(_REFUSED)
    return addresses[0]


async def post(url: str, headers: dict[str, str], body: bytes, networks: Sequence[str]) -> int:
    """Send a message to an address that is looked up and checked now; the status of the answer.

    Raises:
        InputError: the address is not allowed.
        OSError: there was no answer within ``TIMEOUT_S``, or none of HTTP.
    """
    target = _target(url)
    async with asyncio.timeout(TIMEOUT_S):
        address = await resolve(url, networks)
        context = ssl.create_default_context() if target.is_https else None
        reader, writer = await asyncio.open_connection(
            address, target.port, ssl=context, server_hostname=target.host if context else None
        )
        try:
            return await _exchange(reader, writer, target, headers, body)
        except h11.RemoteProtocolError:
            raise ConnectionError("the answer is not HTTP") from None
        finally:
            writer.close()


async def _exchange(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    target: _Target,
    headers: dict[str, str],
    body: bytes,
) -> int:
    connection = h11.Connection(h11.CLIENT)
    host = f"[{target.host}]" if ":" in target.host else target.host
    is_usual = target.port == (443 if target.is_https else 80)
    head = {
        "Host": host if is_usual else f"{host}:{target.port}",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        "User-Agent": "Passerelle",
        **headers,
    }
    for event in (
        h11.Request(method="POST", target=target.path, headers=list(head.items())),
        h11.Data(data=body),
        h11.EndOfMessage(),
    ):
        writer.write(connection.send(event) or b"")
    await writer.drain()
    while True:
        answer = connection.next_event()
        if answer is h11.NEED_DATA:
            connection.receive_data(await reader.read(4096))
        elif isinstance(answer, h11.Response):
            return answer.status_code
        elif not isinstance(answer, h11.InformationalResponse):
            raise ConnectionError("there was no answer")


def message_of(job: JobRecord) -> bytes:
    """Body of the message: how the job ended, and none of its text."""
    assert job.ended_at is not None
    data = {
        "id": job.id,
        "status": job.state,
        "items": job.n_items,
        "done": job.n_done,
        "failed": job.n_failed,
        "characters": job.n_characters,
    }
    return json.dumps(
        {"type": f"job.{job.state}", "timestamp": job.ended_at.isoformat(), "data": data}
    ).encode()


class WebhookSender:
    """Sends what is due, from the database, so that a restart or a dead replica loses nothing."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._due = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to look for messages."""
        self._tasks = [asyncio.create_task(self._run()) for _ in range(SENDERS)]

    async def stop(self) -> None:
        """End; what was on its way is sent again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def wake(self) -> None:
        """A job has ended."""
        self._due.set()

    async def _run(self) -> None:
        database = self._service.database
        while True:
            self._due.clear()
            delivery = None
            with contextlib.suppress(DatabaseUnavailableError):
                delivery = await database.run(database.jobs.next_delivery, LEASE_S)
                if delivery is not None:
                    await self._deliver(delivery)
            if delivery is None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._due.wait(), POLL_S)

    async def _deliver(self, delivery: Delivery) -> None:
        """One try; then it is delivered, given up, or due again later."""
        settings, database = self._service.settings, self._service.database
        job, body = delivery.job, message_of(delivery.job)
        timestamp = int(database.transactions.now().timestamp())
        message_id = f"msg_{job.id}"  # the same for every try: who gets it twice can tell
        headers = {
            "webhook-id": message_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(delivery.webhook.secret, message_id, timestamp, body),
        }
        status = None
        try:
            status = await post(delivery.webhook.url, headers, body, settings.webhook_networks)
        except (InputError, OSError, ssl.SSLError) as error:  # a timeout is an OSError
            log.info("webhook_failed", job=job.id, attempt=delivery.attempt, **describe(error))
        if status is not None and 200 <= status < 300:
            await self._settle(job, "delivered")
        elif status == GONE or delivery.attempt >= settings.webhook_attempts:
            await self._settle(job, "failed")
        else:
            wait_s = settings.webhook_retry_s * GROWTH ** (delivery.attempt - 1)
            self._service.metrics.webhooks.labels("retried").inc()
            await database.run(database.jobs.delivered, job.id, "waiting", wait_s)
        log.info("webhook", job=job.id, attempt=delivery.attempt, status=status)

    async def _settle(self, job: JobRecord, state: WebhookState) -> None:
        self._service.metrics.webhooks.labels(state).inc()
        await self._service.database.run(self._service.database.jobs.delivered, job.id, state)
