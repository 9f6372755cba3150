"""Look up known vulnerabilities of what is pinned: ``python scripts/audit.py [REQUIREMENTS.txt ...]``.

pip-audit asks PyPI. It calls a package "clean" that it could not look up, as behind a mirror without
advisories; this says how many were looked up, and of a few that is no audit.

Exit status: 0 nothing known, 1 vulnerabilities, 3 it could not be looked up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

FOUND, NOT_LOOKED_UP = 1, 3
LEAST_SHARE = 0.9
"""Of the packages, that must have been looked up. Some may be our own, or not on PyPI."""


def main() -> int:
    """Run pip-audit on each file and tell what it found."""
    packages: dict[str, dict[str, Any]] = {}
    for path in sys.argv[1:] or ["constraints.txt"]:
        command = [sys.executable, "-m", "pip_audit", "--requirement", path]
        command += ["--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
            found = json.loads(done.stdout)["dependencies"]
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            print(f"audit: {path} could not be looked up ({type(error).__name__})", file=sys.stderr)
            return NOT_LOOKED_UP
        packages |= {package["name"]: package for package in found}
    return tell(list(packages.values()))


def tell(packages: Sequence[dict[str, Any]]) -> int:
    """Print the vulnerabilities of packages as pip-audit gives them, and how many were looked up."""
    looked_up = [package for package in packages if "skip_reason" not in package]
    found = [(package, vulnerability) for package in looked_up for vulnerability in package["vulns"]]
    for package, vulnerability in found:
        fixed = ", ".join(vulnerability["fix_versions"]) or "no version yet"
        print(f"{package['name']} {package['version']}: {vulnerability['id']}, fixed in {fixed}")
    print(f"audit: {len(looked_up)} of {len(packages)} packages looked up, {len(found)} vulnerabilities")
    if found:
        return FOUND
    if len(looked_up) < LEAST_SHARE * len(packages):
        print("audit: that is no audit; run it where PyPI's advisories can be reached", file=sys.stderr)
        return NOT_LOOKED_UP
    return 0


if __name__ == "__main__":
    sys.exit(main())
