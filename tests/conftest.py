"""For all tests, and for the processes that they start."""

import os
import tempfile
from pathlib import Path

# Tests' models are tiny: a second thread gains nothing, and on a busy machine every operation waits for it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Whether the user of this machine has compiled a step must not decide what tests see.
os.environ["PASSERELLE_CACHE"] = str(Path(tempfile.gettempdir()) / "passerelle-tests-have-no-cache")
