"""benchmarks/sources/README.md from what the experiments printed: folder of NAME.json → one table, one row a claim."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import fill
from typing import Any

HERE = Path(__file__).parent
HEAD = """# The sources' experiments, run again

Made by `python -m benchmarks.sources readme FOLDER` from the JSON that each experiment printed into FOLDER; what is in
brackets behind a name is the command's argument: `python -m benchmarks.sources NAME`. The corpora are those of
`benchmarks/corpora.py`: newsgroups stand in for RCV1, a generated corpus for the plagiarism corpus.
"""


def write(folder: Path, order: list[str]) -> None:
    """Experiments in the order of the command's list; one that was not run is said to be missing."""
    parts = [HEAD]
    for name in order:
        path = folder / f"{name}.json"
        ran = path.exists() and path.stat().st_size
        parts.append(_section(json.loads(path.read_text("utf-8"))) if ran else f"## {name}\n\nNot run for this page.\n")
    (HERE / "README.md").write_text("\n".join(parts), "utf-8")


def _section(found: dict[str, Any]) -> str:
    lines = [
        f"## {found['source'][0].upper()}{found['source'][1:]} (`{found['name']}`)\n",
        f"{found['setting']}; size {found['size']}, {found['data']}, {found['seconds']:.0f} s.\n",
        "| the source says | measured here | verdict |",
        "|---|---|---|",
    ]
    lines += [
        "| " + " | ".join(finding[part].replace("|", "\\|") for part in ("claim", "measured", "verdict")) + " |"
        for finding in found["findings"]
    ]
    if found.get("conclusion"):
        lines += ["", fill(found["conclusion"], 120)]
    plot = HERE / "plots" / f"{found['name']}.svg"
    return "\n".join(lines) + "\n" + (f"\n![{found['name']}](plots/{plot.name})\n" if plot.exists() else "")
