"""Examples of the shapes in ``service.schemas``, for the OpenAPI description."""

from __future__ import annotations

from typing import Any

_TRANSLATION: dict[str, Any] = {
    "id": "9f8c3b6e2d1a40c7b5e8f0a1d2c3b4e5",
    "sentences": [
        {
            "source": {"start": 0, "end": 10},
            "target": {"start": 0, "end": 12},
            "score": -0.12,
            "truncated": False,
            "source_tokens": {"start": 0, "end": 3},
            "target_tokens": {"start": 0, "end": 3},
            "attention": None,
            "confidence": 0.83,
            "heads": None,
            "alternatives": [],
        }
    ],
    "source_tokens": [
        {"start": 0, "end": 4, "text": "Good"},
        {"start": 5, "end": 9, "text": "dogs"},
        {"start": 9, "end": 10, "text": "."},
    ],
    "target_tokens": [
        {"start": 0, "end": 4, "text": "Bons"},
        {"start": 5, "end": 11, "text": "chiens"},
        {"start": 11, "end": 12, "text": "."},
    ],
    "links": [
        {"source": 0, "target": 0, "score": 0.91},
        {"source": 1, "target": 1, "score": 0.97},
        {"source": 2, "target": 2, "score": 0.88},
    ],
}

_MEMORY: dict[str, Any] = {
    "id": "0b6f5d0e-3f0e-4c55-9a5e-7a1f1c1e2d3c",
    "name": "legal.tmx",
    "source": "en",
    "target": "fr",
    "units": 120_431,
    "created_at": "2026-11-21T12:00:00Z",
    "changed_at": "2026-11-21T12:00:09Z",
}
_MATCH = {"unit": 7, "source": "Open the file.", "target": "Ouvrez le fichier.", "score": 0.8}

_PAIR: dict[str, Any] = {"attention": {"layers": 2, "heads": 5}}

_JOB: dict[str, Any] = {
    "id": "5f0c2b1f9e6d4a7c8b3a1d2e4f506172",
    "kind": "lines",
    "status": "done",
    "progress": 1.0,
    "items": 2,
    "done": 2,
    "failed": 1,
    "characters": 13,
    "source": "en",
    "target": "fr",
    "detail": None,
    "webhook": "none",
    "created_at": "2026-03-14T15:09:26Z",
    "ended_at": "2026-03-14T15:09:27Z",
    "expires_at": "2026-03-15T15:09:27Z",
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "JobAnswer": _JOB | {"errors": [{"line": 2, "file": None, "error": "the line is not JSON"}]},
    "JobsAnswer": {"jobs": [_JOB], "next": None},
    "TranslateAnswer": {
        "translations": [
            _TRANSLATION
            | {
                "text": "Bons chiens.",
                "detected_source": {"language": "en", "score": 0.61},
                "flags": [],
                "confidence": 0.83,
                "word_confidence": [0.71, 0.96, 0.99],
                "terms": [],
                "memory": [],
                "proj": None,
                "score": -0.12,
                "alternatives": [],
                "truncated": False,
                "repaired": False,
                "n_source_tokens": 3,
                "n_target_tokens": 3,
            }
        ],
        "source": "en",
        "target": "fr",
        "model": "general",
    },
    "AlternativesAnswer": {
        "alternatives": [
            {"text": "femme", "prefix": "Une jeune femme", "probability": 0.898797},
            {"text": "fille", "prefix": "Une jeune fille", "probability": 0.004519},
        ],
        "source": "en",
        "target": "fr",
        "model": "general",
    },
    "CheckAnswer": {
        "findings": [
            {"kind": "number", "detail": "1,250.00 is missing", "text": 0},
            {"kind": "number", "detail": "1 250 000 is not in the source", "text": 0},
        ]
    },
    "AlignmentOut": _TRANSLATION,
    "LanguagesAnswer": {
        "pairs": [
            _PAIR | {"source": "en", "target": "fr", "model": "general", "formality": True},
            _PAIR | {"source": "fr", "target": "en", "model": "general_fr_en", "formality": False},
        ],
        "languages": [{"code": "en", "name": "English"}, {"code": "fr", "name": "French"}],
        "limits": {
            "texts": 100,
            "text_characters": 20_000,
            "request_characters": 50_000,
            "beam_size": 16,
            "heads_characters": 1000,
        },
        "attention": {"layers": 2, "heads": 5},
        "documents": {"suffixes": [".txt", ".docx", ".srt"], "bytes": 10_000_000},
        "translation_memories": {"suffixes": [".tmx", ".tsv", ".xliff"], "bytes": 500_000_000, "count": 100},
        "model": "general",
    },
    "DocumentAnswer": {
        "id": "7C0E1B2A9D3F4856A1B2C3D4E5F60718" + "90AB" * 16,
        "name": "letter.docx",
        "status": "translating",
        "progress": 0.4,
        "detail": None,
        "characters": 0,
        "expires_at": "2026-11-21T13:00:00Z",
    },
    "MemoryAnswer": _MEMORY,
    "MemoryImportAnswer": _MEMORY | {"skipped_languages": 3, "skipped_unfit": 0},
    "MemoriesAnswer": {"memories": [_MEMORY]},
    "UnitsRequest": {"units": [{"source": "Open the file.", "target": "Ouvrez le fichier."}]},
    "MemorySearchRequest": {"text": "Open this file.", "threshold": 0.7, "limit": 5},
    "MemorySearchAnswer": {"matches": [_MATCH]},
    "UsageAnswer": {
        "key": {"id": "k3f9a1c2", "name": "newsroom", "expires_at": None},
        "month_start": "2026-11-01",
        "month_end": "2026-12-01",
        "characters": 18_250,
        "requests": 131,
        "limits": {
            "requests_per_minute": 60,
            "characters_per_minute": None,
            "characters_per_month": 1_000_000,
        },
        "days": [
            {"day": "2026-11-20", "characters": 18_000, "requests": 125},
            {"day": "2026-11-21", "characters": 250, "requests": 6},
        ],
    },
    "HealthAnswer": {"status": "ok"},
    "Problem": {
        "type": "urn:passerelle:problem:text-too-long",
        "title": "Content Too Large",
        "status": 413,
        "detail": "Text 0 has 20480 characters; the limit is 20000: split it at a paragraph.",
        "request_id": "1f0c3a5b7d9e2468",
    },
}
