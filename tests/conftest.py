"""For all tests, and for the processes that they start."""

import os

# Tests' models are tiny: a second thread gains nothing, and on a busy machine every operation waits for it.
os.environ.setdefault("OMP_NUM_THREADS", "1")
