"""Passerelle: English-French neural machine translation (library).

Text in, text and word alignment out. This package knows neither HTTP nor training.
"""

__version__ = "0.1.0"
