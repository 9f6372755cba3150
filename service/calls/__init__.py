"""Between a route and the work: key, limits, overload, charge, the call itself, document jobs.

Imports ``service.work``, ``service.http`` and ``service.database``. Another check of requests goes into
``limits``.
"""
