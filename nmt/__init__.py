"""Passerelle: English-French neural machine translation (library).

Text in, text and word alignment out. This package knows neither HTTP nor training.
"""

import os

# Threads of OpenMP that wait for one another spin, by default for some milliseconds. Where another process
# has one of their cores they then keep each other from running, and a translation takes ten times as long
# and more: so they sleep after some tens of microseconds. libgomp reads this once, when torch is imported.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "4000")

__version__ = "0.1.0"
