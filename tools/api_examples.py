"""An example for every method of the reference, in an order in which they can run: name → code."""

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
    "Database.index": 'idx = db.index("articles")',
    "Database.indexes": "[one.name for one in db.indexes()]",
    "Index.search": 'idx.search("The text of a new article", limit=5)',
    "Index.similar": "idx.similar(1, threshold=0.6)",
}
