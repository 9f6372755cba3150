"""Every error this project raises on purpose, in one tree.

    PasserelleError
    ├── ConfigError            an unknown key or a value out of range, in a recipe, a setting or an option
    ├── InputError             the text or the request cannot be translated as it stands
    │   ├── TextTooLongError       over a stated limit
    │   └── UnsupportedLanguageError
    ├── DataError              a corpus is missing, broken, or its sides disagree
    ├── ModelFolderError       a model folder is missing, incomplete or corrupt
    ├── RunFolderError         a training run cannot be started, resumed or saved
    │   └── DiskFullError          no room for what the run writes
    ├── DatabaseError          the service's database cannot be opened, or is of another version
    └── NumericalError         NaN or infinity where a probability should be

A message names the thing, the value, the limit and the next step. It may be shown to a person as it is, and
it never holds the text to be translated. ``nmt.cli`` maps the tree to exit statuses,
``service.http.problems`` to HTTP.
"""


class PasserelleError(Exception):
    """Base of all errors raised on purpose; its message is one line for a person."""


class ConfigError(PasserelleError):
    """An unknown key, or a value out of range, in a recipe, a setting or an option."""


class InputError(PasserelleError):
    """The text or the request cannot be translated as it stands."""


class TextTooLongError(InputError):
    """A text, or a whole request, is over a stated limit."""


class UnsupportedLanguageError(InputError):
    """The model does not translate between the languages asked for."""


class DataError(PasserelleError):
    """A corpus is missing, broken, or its two sides disagree."""


class ModelFolderError(PasserelleError):
    """A model folder is missing, incomplete or corrupt."""


class RunFolderError(PasserelleError):
    """A training run cannot be started, resumed or saved."""


class DiskFullError(RunFolderError):
    """No room is left for what a training run writes; what it wrote before stands."""


class DatabaseError(PasserelleError):
    """The service's database cannot be opened, or its tables are of another version."""


class NumericalError(PasserelleError):
    """NaN or infinity where a probability should be."""
