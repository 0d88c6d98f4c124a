"""An example for every method of the reference, in an order in which they can run: name → code.

They run class by class in the order of the page, on a database with the tables `articles (id, lang, title, body)` and
`people (id, name, born)`.
"""

FIRST = """\
import dbsim

db = dbsim.open("shop.db")
db.upgrade()
idx = db.create_index("articles", table="articles", columns=["title", "body"], threshold=0.5)
idx.sync()
for hit in idx.similar(1):
    print(hit.key, hit.score)
"""

EXAMPLES = {
    "Database.url": "print(db.url)",
    "Database.upgrade": "print(db.upgrade())",
    "Database.create_index": """
        fields = {"name": 0.6, "born": 0.4}
        people = db.create_index("people", table="people", columns=fields, threshold=0.4)
        people.sync()
    """,
    "Database.create_records": """
        persons = db.create_records("persons", table="people", kinds={"name": "name", "born": "date"})
        persons.sync()
    """,
    "Database.guess_records": """
        for guess in db.guess_records("people"):
            print(guess.column, guess.kind)
    """,
    "Database.rename": """
        from sqlalchemy import text

        with db.engine.begin() as connection:
            connection.execute(text("ALTER TABLE articles RENAME COLUMN body TO content"))
        db.rename("articles", {"body": "content"})
        with db.engine.begin() as connection:
            connection.execute(text("ALTER TABLE articles RENAME COLUMN content TO body"))
        db.rename("articles", {"content": "body"})
    """,
    "Database.index": 'idx = db.index("articles")',
    "Database.indexes": "print([one.name for one in db.indexes()])",
    "Database.alter_index": 'db.alter_index("people", threshold=0.3).sync()',
    "Database.drop_index": 'db.drop_index("people")',
    "Database.import_file": """
        import pathlib
        import tempfile

        path = pathlib.Path(tempfile.mkdtemp(), "more.jsonl")
        path.write_text('{"title": "The text", "body": "of one more article"}')
        print(db.import_file(path, table="more"))
    """,
    "Database.walk": """
        with db.engine.begin() as connection:
            connection.execute(text("CREATE TABLE links (page INTEGER, target INTEGER)"))
            connection.execute(text("INSERT INTO links VALUES (1, 2), (2, 3), (3, 1)"))
        print(db.walk("links", ("page", "target"), 2, seed=1))
    """,
    "Database.close": "db.close()  # or: with dbsim.open(…) as db",
    "Index.name": "print(idx.name)",
    "Index.options": "print(idx.options.threshold, idx.options.keys)",
    "Index.secret": "print(len(idx.secret))",
    "Index.key_names": "print(idx.key_names)",
    "Index.sync": "print(idx.sync())",
    "Index.follow": "idx.follow(stop=lambda: True)  # without `stop` it goes on for ever",
    "Index.refresh": """
        with db.engine.begin() as connection:
            connection.execute(text("UPDATE articles SET title = 'A text' WHERE id = 3"))
            idx.refresh([3], connection=connection)
            print(idx.similar(3, connection=connection))
    """,
    "Index.check": "assert not idx.check()  # no differences",
    "Index.status": "print(idx.status().queued, idx.status().problems)",
    "Index.search": """
        for hit in idx.search("The text of a new article", limit=5, where="lang = 'en'"):
            print(hit.key, hit.score, hit.exact)
    """,
    "Index.contains": """
        idx.alter(false_drops=0.01).sync()  # word signatures
        print(list(idx.contains("article", none_of="newer")))
    """,
    "Index.similar": "print(idx.similar(1, threshold=0.6).to_list())",
    "Index.search_many": """
        for found in idx.search_many(["The text of a new article", "something else"]):
            print([hit.key for hit in found])
    """,
    "Index.match": """
        from sqlalchemy import select

        found = idx.match("The text of a new article")
        with db.engine.connect() as connection:
            print(connection.execute(select(found.c.id, found.c.score)).all())
    """,
    "Index.explain": "print(idx.explain(1, 2).exact)",
    "Index.side_by_side": "(one, two), explained = idx.side_by_side(1, 2)\nprint(one, two, explained.exact)",
    "Index.keys_in_common": 'print(idx.keys_in_common("a text", [1, 2]))',
    "Index.units": "print(idx.units())",
    "Index.texts": "print(idx.texts([1, 2]))",
    "Index.rows": "print(idx.rows([1, 2]))",
    "Index.pairs": """
        for pair in idx.pairs():
            print(pair.a, pair.b, pair.score, pair.exact)
    """,
    "Index.duplicates": """
        for group in idx.duplicates():
            print(group.representative, [hit.key for hit in group.members])
    """,
    "Index.results": "print(idx.results())",
    "Index.delete_duplicates": 'print(idx.delete_duplicates(keep="longest", dry_run=True).removed)',
    "Index.mark_duplicates": """
        with db.engine.begin() as connection:
            connection.execute(text("ALTER TABLE articles ADD COLUMN duplicate_of INTEGER"))
        idx.mark_duplicates("duplicate_of")
    """,
    "Index.golden": """
        for record in idx.golden(rules={"body": "longest"}):
            print(record.key, record.others, record.values, record.changed)
    """,
    "Index.merge": 'print(idx.merge(rules={"title": "most-recent"}, dry_run=True).removed)',
    "Index.link": """
        other = db.create_index("copies", table="articles", columns=["title", "body"], secret=idx.secret)
        other.sync()
        for link in idx.link(other, one_to_one=True):
            print(link.a, link.b, link.score, link.decision)
    """,
    "Index.decide": 'idx.decide(1, 2, "same", who="ada", note="one word differs")',
    "Index.decisions": "print([(made.a, made.b, made.verdict) for made in idx.decisions()])",
    "Index.decisions_among": "print(idx.decisions_among([1, 2, 3]))",
    "Index.labelled_pairs": """
        for decision, scores in idx.labelled_pairs():
            print(decision.verdict, scores)
    """,
    "Index.undecide": 'idx.decide(1, 3, "unsure")\nidx.undecide(1, 3)',
    "Index.kept": "print(idx.kept([]))",
    "Index.key": "print(idx.key(1))",
    "Index.tune": "print(idx.tune(sample=100))",
    "Index.evaluate": "print(idx.evaluate(sample=3))",
    "Index.clusters": "print(idx.clusters(count=2, save=True))",
    "Index.cluster_of": 'print(idx.cluster_of(["The text of an article"]))',
    "Index.values": 'print(idx.values("lang", [1, 2, 3]))',
    "Index.sample": "print(idx.sample(2, seed=1))",
    "Index.sample_by_words": "print(idx.sample_by_words(2, seed=1))",
    "Index.overlap": "print(idx.overlap(idx))",
    "Index.walk": "print(idx.walk(2, seed=1))",
    "Index.alter": "idx.alter(threshold=0.4)",
    "Index.cancel_change": "idx.cancel_change()",
    "Index.check_row": 'print(persons.check_row({"name": "John Smith", "born": "1.5.1980"}))',
    "Index.refit": "persons.refit()  # learn again from the table as it is\npersons.cancel_change()",
    "Index.blocked": 'print(persons.blocked({"name": "John Smith", "born": "1.5.1980"}))',
    "Index.add_unless_duplicate": """
        with db.engine.begin() as connection:
            print(persons.add_unless_duplicate(connection, {"id": 7, "name": "Ann Lee", "born": "1990-02-03"}))
    """,
    "Index.drop": 'db.create_index("more", table="more", columns=["title", "body"]).drop()',
}

WITHOUT = {
    "Database.downgrade": "removes dbsim's tables, so that nothing could follow",
    "Index.context": "for dbsim's own stages",
    "Index.inline": "PostgreSQL only",
    "Index.grant": "PostgreSQL only",
    "Index.flagged": "PostgreSQL only",
    "Index.revoke": "PostgreSQL only",
}
