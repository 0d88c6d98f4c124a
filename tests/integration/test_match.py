"""idx.match(): a selectable that composes with the application's own models, joins and conditions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, ForeignKey, bindparam, create_engine, func, insert, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, aliased, mapped_column, relationship

import dbsim
from tests.integration.helpers import QUICK, near_copy, sentence


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "authors"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class Article(Base):
    __tablename__ = "articles"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str | None]
    body: Mapped[str | None]
    author_id: Mapped[int] = mapped_column(ForeignKey("authors.id"))
    author: Mapped[Author] = relationship()


class Page(Base):
    __tablename__ = "pages"
    book: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]


ROWS = [
    (1, "one", sentence(1), 1),
    (2, "two", near_copy(1, 1), 2),
    (3, "three", near_copy(1, 3), 1),
    (4, "four", sentence(2), 1),
    (5, None, near_copy(2, 1), 2),
    (6, "six", None, 2),
]


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    """The application's own engine, with its tables."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    Base.metadata.create_all(engine)
    with Session(engine) as session, session.begin():
        session.execute(insert(Author), [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob"}])
        names = ("id", "title", "body", "author_id")
        session.execute(insert(Article), [dict(zip(names, row, strict=True)) for row in ROWS])
        pages = [("a", 1, sentence(5)), ("a", 2, near_copy(5)), ("b", 1, sentence(6))]
        session.execute(insert(Page), [{"book": book, "number": number, "text": text} for book, number, text in pages])
    yield engine
    engine.dispose()


@pytest.fixture
def index(engine: Engine) -> dbsim.Index:
    database = dbsim.open(engine)
    database.upgrade()
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    return index


def test_match_joins_a_model(engine: Engine, index: dbsim.Index) -> None:
    match = index.match(sentence(1))
    with Session(engine) as session:
        statement = select(Article, match.c.score).join(match, match.c.id == Article.id).order_by(match.c.score.desc())
        found = session.execute(statement).all()
        assert [(article.title, score) for article, score in found] == [
            (title, hit.score) for title, hit in zip(("one", "two", "three"), index.search(sentence(1)), strict=True)
        ]
        assert found[0].Article.author.name == "Ada"  # ordinary objects of the session


def test_match_composes_with_where_joins_and_aggregates(engine: Engine, index: dbsim.Index) -> None:
    match = index.match(sentence(1), threshold=0.5)
    joined = select(Article.id).join(match, match.c.id == Article.id)
    with Session(engine) as session:
        by_bob = joined.join(Article.author).where(Author.name == "Bob")
        assert session.scalars(by_bob).all() == [2]
        assert session.scalars(joined.where(match.c.score < 1).order_by(Article.id)).all() == [2, 3]
        counted = select(Author.name, func.count()).join(Article.author).join(match, match.c.id == Article.id)
        assert session.execute(counted.group_by(Author.name).order_by(Author.name)).all() == [("Ada", 2), ("Bob", 1)]
        outer = select(Article.id, match.c.score).outerjoin(match, match.c.id == Article.id).where(match.c.id.is_(None))
        assert session.scalars(outer.order_by(Article.id)).all() == [4, 5, 6]
        hits = [(hit.key, hit.score) for hit in index.search(sentence(1), threshold=0.5, verify=False)]
        assert [(row.id, row.score) for row in session.execute(select(match))] == hits
        among = select(Article.id).where(Article.id.in_(select(match.c.id))).order_by(Article.id)
        assert session.scalars(among).all() == [1, 2, 3]


def test_match_with_a_condition_on_the_model_that_it_is_joined_to(engine: Engine, index: dbsim.Index) -> None:
    """The condition inside belongs to the candidates, not to the outer statement's row of the same model."""
    match = index.match(sentence(1), where=Article.author_id == 1, max_candidates=2)
    with Session(engine) as session:
        statement = select(Article.id).join(match, match.c.id == Article.id).order_by(Article.id)
        assert session.scalars(statement).all() == [1, 3]
        other = aliased(Article)
        pairs = select(Article.id, other.id).join(match, match.c.id == Article.id).join(other, other.id > Article.id)
        assert len(session.execute(pairs).all()) == 5 + 3


def test_several_matches_in_one_statement(engine: Engine, index: dbsim.Index) -> None:
    first, second = index.match(sentence(1), threshold=0.9), index.match(sentence(2), threshold=0.5)
    with Session(engine) as session:
        statement = (
            select(Article.id, first.c.score, second.c.score)
            .outerjoin(first, first.c.id == Article.id)
            .outerjoin(second, second.c.id == Article.id)
            .order_by(Article.id)
        )
        rows = [tuple(row) for row in session.execute(statement)]
    with Session(engine) as session:
        errors = set(session.scalars(select(first.c.standard_error)))
    assert 0.005 < errors.pop() < 0.03
    one = {hit.key: hit.score for hit in index.search(sentence(1), threshold=0.85, verify=False)}
    two = {hit.key: hit.score for hit in index.search(sentence(2), threshold=0.5, verify=False)}
    assert len(one) == len(two) == 2
    assert rows == [(key, one.get(key), two.get(key)) for key in range(1, 7)]


def test_parameters_of_the_application_do_not_mix_with_dbsims(engine: Engine, index: dbsim.Index) -> None:
    """Names that dbsim could have used itself: in the condition, beside the match, and in a search."""
    names = {"low": 0, "high": 9, "threshold": 2, "k0": 3}
    condition = text("id > :low AND id < :high AND id <> :threshold AND id <> :k0")
    match = index.match(sentence(1), where=condition.bindparams(**names))
    with Session(engine) as session:
        statement = select(Article.id).join(match, match.c.id == Article.id).where(Article.id < bindparam("dbsim_low"))
        assert session.scalars(statement, {"dbsim_low": 7}).all() == [1]
    assert [hit.key for hit in index.search(sentence(1), where=condition.bindparams(**names))] == [1]


def test_match_limit_is_the_best_hits(engine: Engine, index: dbsim.Index) -> None:
    with Session(engine) as session:
        for limit in (1, 2, 3):
            match = index.match(sentence(1), limit=limit)
            found = session.execute(select(match.c.id, match.c.score).order_by(match.c.score.desc())).all()
            assert [row.id for row in found] == [1, 2, 3][:limit]


def test_match_of_an_empty_text_is_empty(engine: Engine, index: dbsim.Index) -> None:
    weighted = dbsim.open(engine).create_index("both", table="articles", columns={"title": 1, "body": 2}, **QUICK)
    weighted.sync()
    with Session(engine) as session:
        for match in (index.match(""), index.match("?!"), weighted.match(""), weighted.match({"title": " "})):
            assert session.execute(select(match)).all() == []


def test_match_of_weighted_fields_and_composite_keys(engine: Engine, index: dbsim.Index) -> None:
    database = dbsim.open(engine)
    weighted = database.create_index("both", table="articles", columns={"title": 0.2, "body": 0.8}, **QUICK)
    weighted.sync()
    pages = database.create_index("pages", table="pages", columns="text", **QUICK)
    pages.sync()
    query = {"title": "four", "body": sentence(2)}
    with Session(engine) as session:
        match = weighted.match(query)
        assert [tuple(row) for row in session.execute(select(match.c.id, match.c.score))] == [
            (hit.key, hit.score) for hit in weighted.search(query, verify=False)
        ]
        match = pages.match(sentence(5))
        joined = select(Page.book, Page.number).join(
            match, (match.c.book == Page.book) & (match.c.number == Page.number)
        )
        assert [tuple(row) for row in session.execute(joined.order_by(match.c.score.desc()))] == [("a", 1), ("a", 2)]


def test_match_sees_the_sessions_own_uncommitted_rows(engine: Engine, index: dbsim.Index) -> None:
    match = index.match(sentence(9))
    statement = select(Article).join(match, match.c.id == Article.id)
    with Session(engine) as session:
        session.add(Article(id=50, body=sentence(9), author_id=1))
        session.flush()
        assert session.scalars(statement).all() == []  # written, not indexed
        index._worker().step(session.connection())
        assert [article.id for article in session.scalars(statement)] == [50]
        session.rollback()
        assert session.scalars(statement).all() == []
