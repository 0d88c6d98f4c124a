"""The oldest versions that pyproject.toml allows of what dbsim needs, as constraints for pip: name==version a line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path


def oldest() -> list[str]:
    """From `name[extra]>=version`; what has no lower bound is left open."""
    project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["web"]]
    found = (re.fullmatch(r"([\w.-]+(?:\[[\w,]+\])?)>=([\w.]+)", one) for one in wanted)
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    print("\n".join(oldest()))
