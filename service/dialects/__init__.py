"""Other services' APIs over the same core, so that their clients work here unchanged.

    fields, texts, documents   what the dialects share: bodies, translations and files
    deepl                      ``/v2`` and ``/v3`` as the ``deepl`` package uses them
    libretranslate             ``/libretranslate`` as ``libretranslatepy`` uses it
    google                     ``/language/translate/v2``
    microsoft                  ``/translate?api-version=3.0``
    openai                     ``/v1/chat/completions`` as ``openai`` and tools that translate with it use it

A dialect has ``router`` (its routes) and ``shape`` (its errors). ``docs/dialects.md`` tells what each
supports, accepts and ignores, or refuses.
"""
