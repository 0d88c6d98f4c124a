"""The reference is what the docstrings say, and every public method has an example, or a reason why not."""

from __future__ import annotations

from tools.api_examples import EXAMPLES, WITHOUT
from tools.make_api import CLASSES, PAGE, page, public_methods

METHODS = {f"{one.__name__}.{name}" for one in CLASSES for name in public_methods(one)}


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tools.make_api"


def test_every_method_has_an_example_or_a_reason() -> None:
    assert EXAMPLES.keys() | WITHOUT.keys() == METHODS
    assert not EXAMPLES.keys() & WITHOUT.keys()
    assert len(WITHOUT) <= 6
