"""Settings of the service, each an environment variable ``PASSERELLE_<NAME>``.

Address and port are arguments of ``nmt serve``; models may be, and then go before their setting. Every limit
is on by default. A setting may be in a file instead, as secrets of containers are: ``PASSERELLE_SECRETS_DIR``
names their folder, and a file in it is called as the variable is, in lower case
(``passerelle_database_url``). Variables go before files.
"""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from nmt.config import EngineName
from nmt.errors import ConfigError

PREFIX = "PASSERELLE_"
SECRETS = "PASSERELLE_SECRETS_DIR"


def _names(value: object) -> object:
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


HostName = Annotated[str, Field(pattern=r"^(\*|(\*\.)?[A-Za-z0-9._-]+|\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\]?)$")]
"""Without a port."""


class Settings(BaseSettings):
    """Frozen. An unknown keyword is refused; environment variables that no field reads are left alone."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    device: str = Field("auto", description="Where the model runs: auto, cpu, cuda or cuda:N.")
    engine: EngineName = Field(
        "auto",
        description="What searches (docs/engines.md): auto, eager, int8, float32, bfloat16 or float16.",
    )

    models: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_names)] = Field(
        (),
        description="Model folders, or names of models that ship, separated by commas: one for each "
        "direction, the default first. By default all that ship. nmt serve --model goes before it.",
    )

    keys: Literal["auto", "required", "off"] = Field(
        "auto",
        description="Whether requests need a key (nmt keys create). auto: they do unless the server listens "
        "on the loopback interface only.",
    )
    allowed_hosts: Annotated[tuple[HostName, ...], NoDecode, BeforeValidator(_names)] = Field(
        (),
        description="Names that requests may have as Host beside this machine's own, separated by commas; "
        "*.example.org is every name below it, * any. Where requests need a key and this is empty, any.",
    )
    metrics_need_key: bool = Field(
        True, description="Where requests need a key, whether /metrics needs one as well."
    )
    data_dir: Path | None = Field(
        None,
        description="Folder of the embedded database and of documents; by default the user's data folder. "
        "Replicas must share it.",
    )
    database_url: SecretStr = Field(
        SecretStr(""),
        description="postgresql://USER:PASSWORD@HOST/NAME for several replicas; by default an SQLite file in "
        "the data folder; sqlite:// is in memory.",
    )
    database_threads: int = Field(
        8, ge=1, le=100, description="Most connections to the database, each used by a thread of its own."
    )

    max_body_bytes: int = Field(
        1_000_000, ge=1, description="Largest request body, in bytes; a larger one is answered 413."
    )
    max_texts: int = Field(100, ge=1, description="Most texts in one request.")
    max_text_characters: int = Field(20_000, ge=1, description="Longest single text, in characters.")
    max_request_characters: int = Field(
        50_000, ge=1, description="Most characters in all texts of one request together."
    )
    max_beam_size: int = Field(16, ge=1, le=64, description="Largest beam_size a request may ask for.")

    queue_max_requests: int = Field(
        256, ge=1, description="Requests that may wait for the model; the next one is answered 429."
    )
    queue_max_tokens: int = Field(
        60_000,
        ge=1,
        description="Source tokens that may be admitted and not answered; beyond them the answer is 429. A "
        "word has one or two.",
    )
    batch_max_tokens: int = Field(
        4096,
        ge=1,
        description="Source tokens x beam size that are searched at once: more is faster where there are "
        "many cores or a GPU, and slows each single text.",
    )

    engine_threads: int = Field(
        0, ge=0, description="Threads that compute a translation on the CPU; 0: as many as torch chooses."
    )
    engine_silent_s: float = Field(
        5,
        gt=0.5,
        description="The process that translates is replaced when it has given no sign of life for so long.",
    )
    engine_step_s: float = Field(
        60, gt=0, description="It is replaced as well when a single step has lasted so long."
    )

    request_timeout_s: float = Field(
        120,
        gt=0,
        description="A request that has no translation after this many seconds is answered 504; the header "
        "X-Request-Timeout may ask for less.",
    )
    header_timeout_s: float = Field(
        10, gt=0, description="A connection that has not sent a request's head by then is closed."
    )
    body_timeout_s: float = Field(
        20, gt=0, description="A request whose body has not arrived by then is answered 408."
    )
    write_timeout_s: float = Field(
        30, gt=0, description="A connection whose client reads nothing of its answer for so long is closed."
    )
    keep_alive_s: int = Field(15, ge=1, description="An idle connection is closed after this many seconds.")
    shutdown_timeout_s: int = Field(
        30, ge=1, description="On SIGTERM, accepted requests have this many seconds to be finished."
    )

    alignment_ttl_s: float = Field(
        3600,
        gt=0,
        description="An answer's alignment, and so its words, is kept in the database for this many seconds.",
    )
    alignment_max_entries: int = Field(
        1000, ge=0, description="Alignments kept at most, the oldest give way; 0 keeps none."
    )
    alignment_max_bytes: int = Field(
        64_000_000, ge=0, description="Room for kept alignments, in bytes of their JSON."
    )
    glossary_max_count: int = Field(1000, ge=0, description="Most glossaries that one key may have.")
    glossary_max_entries: int = Field(
        10_000, ge=1, description="Most entries of one glossary, in one direction."
    )
    memory_max_count: int = Field(100, ge=0, description="Most translation memories that one key may have.")
    memory_max_units: int = Field(
        1_000_000, ge=0, description="Most units in all translation memories of one key together."
    )
    memory_max_bytes: int = Field(
        500_000_000, ge=1, description="Largest file that a translation memory is imported from, in bytes."
    )
    document_ttl_s: float = Field(
        3600, gt=0, description="A document and its translation are deleted this many seconds after upload."
    )
    document_max_bytes: int = Field(10_000_000, ge=1, description="Largest document, in bytes.")
    document_max_characters: int = Field(
        500_000, ge=1, description="Most characters to translate in one document."
    )
    document_max_running: int = Field(
        2, ge=1, description="Documents that are translated at once; others wait."
    )
    document_max_total_bytes: int = Field(
        500_000_000, ge=0, description="Room for the files of all documents together, in bytes."
    )

    job_max_bytes: int = Field(50_000_000, ge=1, description="Largest upload of a job, in bytes.")
    job_max_lines: int = Field(100_000, ge=1, description="Most lines of a job.")
    job_max_files: int = Field(1000, ge=1, description="Most files in the zip of a job.")
    job_max_unpacked_bytes: int = Field(
        200_000_000, ge=1, description="Most bytes of all files in the zip of a job, unpacked."
    )
    job_max_count: int = Field(
        10_000, ge=1, description="Most jobs that one key may have, those that have ended counted."
    )
    job_max_running: int = Field(
        2, ge=1, description="Jobs that one replica works on at once; others wait, keys take turns."
    )
    job_max_total_bytes: int = Field(
        1_000_000_000, ge=1, description="Room for the texts and results of all jobs together, in bytes."
    )
    job_ttl_s: float = Field(
        86_400, gt=0, description="A job and its result are deleted this many seconds after it has ended."
    )
    job_lease_s: float = Field(
        60,
        ge=1,
        description="A job whose replica has died is taken up by another, or by the same one started again, "
        "after this many seconds.",
    )
    webhook_secret: SecretStr = Field(
        SecretStr(""),
        description="Signs webhooks of jobs that bring no secret of their own: whsec_ and base64, or at "
        "least 16 characters.",
    )
    webhook_networks: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_names)] = Field(
        (),
        description="Networks, such as 10.1.0.0/16, separated by commas, that webhooks may reach beside "
        "public addresses; private and loopback ones are refused otherwise.",
    )
    webhook_attempts: int = Field(6, ge=1, le=20, description="How often a webhook is tried.")
    webhook_retry_s: float = Field(
        5,
        gt=0,
        description="Seconds before a webhook is tried again; before each further try six times as many.",
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe log lines that are written, to standard error."
    )
    log_format: Literal["json", "console"] = Field(
        "json", description="One JSON object a line, or lines for people."
    )

    otel: bool = Field(
        False,
        description="Send a span of each request, without its text, by OTLP; needs the extra otel. The "
        "standard variables, such as OTEL_EXPORTER_OTLP_ENDPOINT, say where to.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.max_text_characters > self.max_request_characters:
            raise ValueError(
                f"max_text_characters {self.max_text_characters} is larger than max_request_characters "
                f"{self.max_request_characters}; raise the second or lower the first"
            )
        for network in self.webhook_networks:
            try:
                ipaddress.ip_network(network)
            except ValueError:
                raise ValueError(
                    f"webhook_networks: {network[:50]!r} is no network; write 10.1.0.0/16"
                ) from None
        return self


def load_settings(**values: Any) -> Settings:  # noqa: ANN401 - fields of Settings
    """Settings from the environment, then from files; ``values`` go before both.

    Raises:
        ConfigError: naming each variable, its value and what is wrong with it; or there is no such folder.
    """
    secrets = os.environ.get(SECRETS)
    if secrets is not None and not Path(secrets).is_dir():
        raise ConfigError(f"{SECRETS} = {secrets[:80]!r}: there is no such folder; mount the secrets there")
    try:
        return Settings(_secrets_dir=secrets, **values)
    except ValidationError as error:
        problems = []
        for problem in error.errors(include_url=False):
            message = problem["msg"].removeprefix("Value error, ")
            if problem["loc"]:
                name = PREFIX + str(problem["loc"][0]).removeprefix(PREFIX).upper()
                problems.append(f"{name} = {str(problem['input'])[:80]!r}: {message}")
            else:
                problems.append(message)
        raise ConfigError("settings: " + "; ".join(problems)) from None
