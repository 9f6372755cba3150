"""A span of OpenTelemetry for each request: off unless asked for, and free of what users send.

Standard packages instrument an ASGI app too, but they record addresses with their queries, and ours may carry
a key or words. A span here has the route's template, the method, the status and the request's id. It belongs
to the trace that a ``traceparent`` header names (W3C Trace Context). Where spans go is said by the standard
variables, ``OTEL_EXPORTER_OTLP_ENDPOINT`` first among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nmt import __version__
from nmt.errors import ConfigError
from service.http.metrics import METHODS
from service.http.middleware import route_template

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

NAME = "passerelle"


def exporting_provider() -> TracerProvider:
    """Provider that makes spans and sends them by OTLP over HTTP, in the background.

    Raises:
        ConfigError: the packages of the extra ``otel`` are not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        raise ConfigError(
            "PASSERELLE_OTEL is on, but OpenTelemetry is not installed; "
            "run pip install 'passerelle[otel]' or turn it off"
        ) from None
    resource = Resource.create({"service.name": NAME, "service.version": __version__})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class TracingMiddleware:
    """A server span around each request; it must stand outside of what sets the request's id."""

    def __init__(self, app: ASGIApp, *, provider: TracerProvider) -> None:
        self._app = app
        self._tracer = provider.get_tracer(NAME, __version__)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        from opentelemetry.propagate import extract  # noqa: PLC0415
        from opentelemetry.trace import SpanKind, StatusCode  # noqa: PLC0415

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        parent = extract(_headers(scope["headers"]))
        # An exception's message may quote a text, so none is recorded.
        with self._tracer.start_as_current_span(
            method, parent, SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as span:

            async def send_and_note(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        span.set_status(StatusCode.ERROR)
                await send(message)

            try:
                await self._app(scope, receive, send_and_note)
            finally:
                route = route_template(scope)
                span.update_name(f"{method} {route}")
                span.set_attribute("http.request.method", method)
                span.set_attribute("http.route", route)
                span.set_attribute("passerelle.request_id", scope.get("state", {}).get("request_id", ""))


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Those that name a trace."""
    names = (b"traceparent", b"tracestate")
    return {name.decode(): value.decode("latin-1") for name, value in raw if name in names}
