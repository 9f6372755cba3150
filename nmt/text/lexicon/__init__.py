"""Short texts whose translations are known: labels, greetings, single words, names of places.

``en-fr.tsv`` is made by ``scripts/make_lexicon.py`` from the project's own corpus and from lists of names.
A new pair of languages is a file more. No torch: it imports the rules and word lists of languages alone.
"""

from nmt.text.lexicon.lookup import Entry, look_up, look_up_caption, look_up_plural

__all__ = ["Entry", "look_up", "look_up_caption", "look_up_plural"]
