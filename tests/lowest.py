"""The lowest versions that pyproject.toml allows, as constraints for pip: `make lowest` runs the tests with these."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

STATED = re.compile(r"([\w-]+)(?:\[[\w,]+\])? *>= *([\d.]+)")


def lowest(text: str) -> list[str]:
    """`name==version` for each dependency of the program and of its tests.

    Raises:
        ValueError: one is not stated as `name>=version`.
    """
    project = tomllib.loads(text)["project"]
    constraints = []
    for stated in (*project["dependencies"], *project["optional-dependencies"]["test"]):
        found = STATED.fullmatch(stated)
        if not found:
            raise ValueError(f"{stated} is not of the form name>=version")
        constraints.append("==".join(found.groups()))
    return constraints


if __name__ == "__main__":
    print("\n".join(lowest(Path("pyproject.toml").read_text(encoding="utf-8"))))
