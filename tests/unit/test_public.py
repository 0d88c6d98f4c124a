"""Whatever a public method takes or returns can be imported from dbsim itself."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import click
import pytest

import dbsim
import dbsim.bulk
import dbsim.migrate
from dbsim.aio import AsyncDatabase, AsyncIndex
from dbsim.cli.asking.searching import search
from dbsim.options.asking import LIMIT, MAX_CANDIDATES, PROBES
from dbsim.resources import sql

NAMES = {"Connection": int, "Session": int, "scoped_session": list, "Asynchronous": int}  # dbsim has them for mypy only
# what every part of Index stands on; the keywords of Search; what dbsim's own pages and commands use
INNER = {"IndexBase", "SearchOptions", "IndexContext"}


def named(hint: object) -> set[type]:
    inside = {one for part in typing.get_args(hint) for one in named(part)}
    return inside | ({hint} if isinstance(hint, type) and hint.__module__.startswith("dbsim") else set())


@pytest.mark.parametrize("one", [dbsim.Database, dbsim.Index])
def test_everything_passed_or_returned_is_exported(one: type) -> None:
    methods = [
        value.fget if isinstance(value, property) else value
        for name, value in inspect.getmembers(one)
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
    ]
    hints = [hint for method in methods for hint in typing.get_type_hints(method, localns=NAMES).values()]
    found = {kind.__name__ for hint in hints for kind in named(hint)}
    assert len(found) > 2
    assert found - {*dbsim.__all__} - INNER == set()


VALUES = {"fold", "probes", "seed"}  # of which 0 is one like any other


@pytest.mark.parametrize("one", [dbsim.Database, dbsim.Index, AsyncDatabase, AsyncIndex, dbsim.migrate, dbsim.bulk])
def test_none_means_not_given(one: Any) -> None:
    """An empty text or 0 that stands for "decide yourself" could also be meant."""
    public = {name: value for name, value in inspect.getmembers(one, inspect.isroutine) if not name.startswith("_")}
    assert len(public) > 2
    for name, function in public.items():
        for parameter in inspect.signature(function).parameters.values():
            default = parameter.default
            assert not (isinstance(default, str | bytes) and not default), f"{name}({parameter})"
            assert type(default) not in (int, float) or default or parameter.name in VALUES, f"{name}({parameter})"


@pytest.mark.parametrize("name", dbsim.__all__)
def test_every_export_is_there_and_documented(name: str) -> None:
    assert inspect.getdoc(getattr(dbsim, name))


def test_keywords_and_fields_of_a_search_are_the_same() -> None:
    from dbsim.search.limits import Search, SearchOptions

    fields = typing.get_type_hints(Search, localns=NAMES)
    assert typing.get_type_hints(SearchOptions, localns=NAMES) == fields


def test_a_question_looks_at_as_much_from_python_the_shell_and_sql() -> None:
    """One place says how many hits, candidates and probes: a default that is written again may become another one."""
    shown = {option.name: option.default for option in search.params if isinstance(option, click.Option)}
    usual = dbsim.Search()
    for name, value in (("limit", LIMIT), ("max_candidates", MAX_CANDIDATES), ("probes", PROBES)):
        assert getattr(usual, name) == shown[name] == value
    for file in ("search", "similar", "check"):
        assert f"integer DEFAULT {LIMIT}" in sql("postgresql/index", file)
