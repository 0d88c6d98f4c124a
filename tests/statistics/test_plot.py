"""Pictures and the grid behind `dbsim tune`."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from dbsim.evaluate.tune import Tuning
from dbsim.hashing.choosing.trial import edit
from dbsim.hashing.families.registry import family_of
from dbsim.report import tuning as tuning_report
from dbsim.report.plot import Series, svg, terminal
from tests.unit.family_helpers import PLAN_FOR_TUNING, pairs, signer

SERIES = [Series("a <curve>", [(0.0, 0.0), (1.0, 1.0)]), Series("points", [(0.5, 0.5), (2.0, -1.0)], line=False)]


def test_svg_is_well_formed_and_keeps_points_inside() -> None:
    root = ElementTree.fromstring(svg(SERIES, title="A & B", x="x", y="y"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "A & B" in texts
    assert "a <curve>" in texts
    circles = list(root.iter("{http://www.w3.org/2000/svg}circle"))
    assert len(circles) == 3  # two points and the legend
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    assert all(0 < float(c.attrib["cx"]) < width and 0 < float(c.attrib["cy"]) < height for c in circles)


def test_terminal_plot_places_the_signs() -> None:
    lines = terminal(SERIES, x="similarity", y="found", width=20, height=4).splitlines()
    assert lines[1].endswith("│" + " " * 20 + "·")
    assert lines[5].endswith("│·" + " " * 19 + "o")
    assert "o points" in lines[-1]


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_edited_copies_change_about_that_share(share: float) -> None:
    text = " ".join(f"w{number}" for number in range(400))
    words = edit(text, "other words here", share, np.random.default_rng(1)).split()
    kept = len(set(words) & set(text.split())) / 400
    assert kept == pytest.approx(1 - share, abs=0.08)


@pytest.mark.parametrize("name", ["minhash", "gauss", "fuzzy", "spectral:bits=8:within=1", "forest", "bitsampling"])
def test_tuning_measures_the_whole_grid(name: str) -> None:
    texts = pairs(0.0, 80)[0]
    tuning = Tuning(signer(family_of("minhash"), PLAN_FOR_TUNING), [texts], 800, 0.8, 0.9, queries=80)
    report = tuning.run([name], lambda stage, done, total: None)
    assert len(report.settings) > 1
    assert report.sample == 80
    assert all(0 <= one.recall <= 1 and one.ranked >= 0 and one.lookups >= one.keys for one in report.settings)
    for one in report.settings:
        if one.promised is not None:
            assert one.curve
            assert one.promised >= 0.9
            assert one.recall >= 0.75
    if report.best is not None:
        assert report.best.recall >= 0.9
        assert all(report.best.work <= one.work for one in report.settings if one.recall >= 0.9)
    assert "measured" in tuning_report.terminal(report)
    assert tuning_report.svg(report).startswith("<svg")
    assert report.to_json()["settings"][0]["points"]
