"""dbsim.aio: the same verbs, awaited, on the application's own AsyncEngine."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.pool import StaticPool

import dbsim
from dbsim import aio
from dbsim.errors import DbsimError, InvalidOption
from tests.applications.drivers import asynchronously
from tests.integration.helpers import QUICK, articles, corpus

TEXTS = corpus(4, 4)


async def indexed(engine: AsyncEngine) -> aio.AsyncIndex:
    database = aio.open(engine)
    await database.upgrade()
    async with engine.connect() as connection:
        await connection.run_sync(lambda sync: articles(sync.engine, TEXTS))
    index = await database.create_index("articles", table="articles", columns=["body"], **QUICK)
    await index.sync()
    return index


def keys(found: Any) -> list[Any]:
    return [hit.key for hit in found]


def test_every_verb_awaited(async_url: str) -> None:
    async def program(engine: AsyncEngine) -> None:
        await (await indexed(engine)).database.close()
        index = await aio.open(engine).index("articles")
        assert keys(await index.search(TEXTS[1])) == [1, 2, 3, 4]
        assert keys(await index.similar(5)) == [6, 7, 8]
        assert keys((await index.search_many([TEXTS[9]]))[0]) == [9, 10, 11, 12]
        assert (await index.explain(1, 2)).found
        assert await index.texts([1]) == [TEXTS[1]]
        assert (await index.status()).indexed == len(TEXTS)
        assert not await index.check()
        assert len(await index.duplicates()) == 4
        assert len(await index.pairs()) >= 12
        async with engine.begin() as connection:
            await connection.execute(text("DELETE FROM articles WHERE id = 2"))
        assert (await index.sync()).changed == 1
        await index.database.alter_index("articles", threshold=0.6)
        assert (await index.sync()).switched
        await index.database.drop_index("articles")
        assert await index.database.indexes() == []
        await index.database.downgrade()
        await index.database.close()

    asynchronously(async_url, program)


def test_in_the_applications_transaction(async_url: str) -> None:
    async def program(engine: AsyncEngine) -> None:
        index = await indexed(engine)
        row = {"body": TEXTS[1]}
        async with engine.connect() as connection:
            await connection.execute(text("INSERT INTO articles (id, body) VALUES (99, :body)"), row)
            assert await index.refresh([99], connection=connection) == 1
            assert 99 in keys(await index.search(TEXTS[1], connection=connection))
            await connection.rollback()
        async with AsyncSession(engine) as session:
            await session.execute(text("INSERT INTO articles (id, body) VALUES (98, :body)"), row)
            await index.refresh([98], connection=session)
            assert 98 in keys(await index.search(TEXTS[1], connection=session))
            found = await index.match(TEXTS[1])
            rows = await session.execute(select(found.c.id).order_by(found.c.id))
            assert rows.scalars().all() == [1, 2, 3, 4, 98]
            await session.commit()
        assert keys(await index.search(TEXTS[1])) == [1, 2, 98, 3, 4]
        await index.database.close()

    asynchronously(async_url, program)


def test_follow_until_cancelled_while_the_loop_goes_on(async_url: str) -> None:
    async def program(engine: AsyncEngine) -> None:
        index = await indexed(engine)
        following = asyncio.create_task(index.follow(poll=0.2))
        async with engine.begin() as connection:
            await connection.execute(text("DELETE FROM articles WHERE id = 2"))
        for _ in range(600):
            if 2 not in keys(await index.search(TEXTS[1])):
                break
            await asyncio.sleep(0.05)
        assert keys(await index.search(TEXTS[1])) == [1, 3, 4]
        following.cancel()
        with pytest.raises(asyncio.CancelledError):
            await following
        await asyncio.sleep(0.5)
        await index.database.close()

    asynchronously(async_url, program)


def test_a_database_in_memory_has_one_engine() -> None:
    async def program() -> None:
        engine = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
        index = await indexed(engine)
        assert keys(await index.search(TEXTS[1])) == [1, 2, 3, 4]
        assert len(await index.duplicates()) == 4
        await engine.dispose()

    asyncio.run(program())


def test_engines_and_connections_of_the_other_kind_are_refused(tmp_path: Any) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'test.db'}"

    async def program(engine: AsyncEngine) -> None:
        index = await indexed(engine)
        synchronous = dbsim.open(str(tmp_path / "test.db"))
        async with engine.connect() as connection:
            with pytest.raises(InvalidOption, match=r"connection= is asynchronous: use dbsim.aio"):
                synchronous.index("articles").search("x", connection=connection)
        with pytest.raises(DbsimError, match=r"AsyncEngine is for dbsim.aio.open"):
            dbsim.open(engine)  # type: ignore[arg-type]
        with pytest.raises(DbsimError, match=r"for an Engine use dbsim.open"):
            aio.open(synchronous.engine)  # type: ignore[arg-type]
        synchronous.close()
        await index.database.close()

    asynchronously(url, program)


def public(one: type) -> set[str]:
    return {name for name in dir(one) if not name.startswith("_")}


def test_no_verb_is_forgotten() -> None:
    """Every public name of an index and of a database has its twin; what asks the database is awaited."""
    for own, twin in ((dbsim.Index, aio.AsyncIndex), (dbsim.Database, aio.AsyncDatabase)):
        assert public(own) - public(twin) <= {"context"}  # for dbsim's own stages
        for name in public(own) & public(twin):
            if name != "key" and inspect.isfunction(inspect.getattr_static(own, name)):
                assert inspect.iscoroutinefunction(getattr(twin, name)), name


def test_decisions_persons_and_clusters(async_url: str) -> None:
    async def program(engine: AsyncEngine) -> None:
        index = await indexed(engine)
        decided = await index.decide(1, 2, "same", who="me")
        assert (decided.a, decided.b) == (1, 2)
        async with AsyncSession(engine) as session:
            await index.decide(1, 5, "different", connection=session)
            await session.rollback()
        assert [(one.a, one.b, one.verdict) for one in await index.decisions()] == [(1, 2, "same")]
        assert len(await index.decisions_among([1, 2, 3])) == len(await index.labelled_pairs()) == 1
        assert await index.undecide(1, 2)
        assert (await index.rows([1]))[0] == {"body": TEXTS[1]}
        assert "words" in (await index.units())[0]
        assert (await (await index.alter(threshold=0.6)).cancel_change()).options.threshold != 0.6
        assert len(await index.clusters(count=2)) == 2
        assert (await index.overlap(index, sample=10)).sampled_a == 10
        database = index.database
        assert database.url
        guessed = await database.guess_records("articles", kinds={"body": "text"})
        assert "body" in {one.column for one in guessed}
        await database.close()

    asynchronously(async_url, program)
