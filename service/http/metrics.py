"""Prometheus metrics, in a registry of their own for each app. No label takes a value from a request.

What an engine and its queue do is counted by direction ("en-fr"); ``Metrics.of`` gives a scheduler its own.
"""

from __future__ import annotations

from functools import partial

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_POWERS_OF_2 = (1, 2, 4, 8, 16, 32, 64, 128)
DIRECTION = ("direction",)


class EngineFamilies:
    """Metrics of engines and their queues, by direction."""

    def __init__(self, registry: CollectorRegistry) -> None:
        counter = partial(Counter, labelnames=DIRECTION, registry=registry)
        gauge = partial(Gauge, labelnames=DIRECTION, registry=registry)
        histogram = partial(Histogram, labelnames=DIRECTION, registry=registry)
        self.rejected = counter("passerelle_rejected_requests", "Requests answered 429: the queue was full.")
        self.dropped = counter(
            "passerelle_dropped_requests",
            "Requests taken out of the queue: the client left, or the deadline passed.",
        )
        self.queue_requests = gauge("passerelle_queue_requests", "Requests waiting for the model.")
        self.queue_tokens = gauge("passerelle_queue_tokens", "Source tokens admitted and not answered yet.")
        self.running_sentences = gauge("passerelle_running_sentences", "Sentences in the running batches.")
        self.waiting_sentences = gauge(
            "passerelle_waiting_sentences", "Sentences that wait to join a running batch."
        )
        self.engine_restarts = counter(
            "passerelle_engine_restarts", "Engines started after the first one died or hung."
        )
        self.batch_requests = histogram(
            "passerelle_batch_requests", "Requests translated together.", buckets=_POWERS_OF_2
        )
        self.batch_texts = histogram(
            "passerelle_batch_texts", "Texts translated together.", buckets=_POWERS_OF_2
        )
        self.batch_fill = histogram(
            "passerelle_batch_fill",
            "Tokens in a running batch, as a share of batch_max_tokens; looked at twice a second.",
            buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0),
        )
        self.batch_seconds = histogram(
            "passerelle_batch_seconds", "Seconds the model took for one batch.", buckets=_SECONDS
        )
        self.batch_failures = counter(
            "passerelle_batch_failures",
            "Batches that failed; what was in them was then translated one by one.",
        )
        self.source_tokens = counter("passerelle_source_tokens", "Sub-word tokens read.")
        self.target_tokens = counter("passerelle_target_tokens", "Sub-word tokens written.")


class EngineMetrics:
    """The same of one direction, for its scheduler."""

    def __init__(self, families: EngineFamilies, direction: str) -> None:
        self.rejected = families.rejected.labels(direction)
        self.dropped = families.dropped.labels(direction)
        self.queue_requests = families.queue_requests.labels(direction)
        self.queue_tokens = families.queue_tokens.labels(direction)
        self.running_sentences = families.running_sentences.labels(direction)
        self.waiting_sentences = families.waiting_sentences.labels(direction)
        self.engine_restarts = families.engine_restarts.labels(direction)
        self.batch_requests = families.batch_requests.labels(direction)
        self.batch_texts = families.batch_texts.labels(direction)
        self.batch_fill = families.batch_fill.labels(direction)
        self.batch_seconds = families.batch_seconds.labels(direction)
        self.batch_failures = families.batch_failures.labels(direction)
        self.source_tokens = families.source_tokens.labels(direction)
        self.target_tokens = families.target_tokens.labels(direction)


class Metrics:
    """Metrics of the service. Routes are labelled by template, requests that match none as "unmatched"."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self._engines = EngineFamilies(registry)
        self.requests = Counter(
            "passerelle_requests",
            "Requests answered.",
            ["route", "method", "status"],
            registry=registry,
        )
        self.request_seconds = Histogram(
            "passerelle_request_seconds",
            "Seconds from the head of a request to the end of its answer.",
            ["route"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.key_rejections = Counter(
            "passerelle_key_rejections",
            "Requests refused for their key: missing, unknown, expired, revoked, over a rate or the quota.",
            ["reason"],
            registry=registry,
        )
        self.jobs = Counter(
            "passerelle_jobs",
            "Jobs that have ended by themselves: done, error.",
            ["state"],
            registry=registry,
        )
        self.webhooks = Counter(
            "passerelle_webhooks",
            "Tries to tell the end of a job: delivered, retried, failed.",
            ["outcome"],
            registry=registry,
        )
        self.alignments = Gauge("passerelle_alignments", "Alignments kept for later.", registry=registry)
        self.alignment_bytes = Gauge(
            "passerelle_alignment_bytes", "Bytes of alignments kept for later.", registry=registry
        )

    def of(self, source: str, target: str) -> EngineMetrics:
        """Metrics of one direction, by its languages' ISO 639-1 codes."""
        return EngineMetrics(self._engines, f"{source}-{target}")

    def render(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)
