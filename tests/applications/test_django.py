"""The recipe for Django in docs/deploy.md, run by Django itself on both engines (#13)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import make_url

import dbsim
from dbsim.migrate import index_sql
from dbsim.options import Field, IndexOptions
from tests.docs.test_readme import ROOT, blocks

MODELS = """
from django.db import models

class Article(models.Model):
    title = models.CharField(max_length=100)
    body = models.TextField()
"""
LATER = """
from django.db import migrations, models

class Migration(migrations.Migration):
    dependencies = [("shop", "0002_near_duplicates")]
    operations = [migrations.AlterField("article", "title", models.CharField(max_length=200))]
"""
BY_SQL = """
from pathlib import Path
from django.db import migrations

class Migration(migrations.Migration):
    atomic = False
    dependencies = [("shop", "0001_initial")]
    operations = [migrations.RunSQL(Path(__file__).with_name("articles.sql").read_text())]
"""
TEXT = "the quick brown fox jumps over the lazy dog near the river bank every single morning"


class Project:
    """A Django project in a folder, driven by its own command line in a process of its own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        given = make_url(url)
        sqlite = given.get_backend_name() == "sqlite"
        settings = {"ENGINE": f"django.db.backends.{'sqlite3' if sqlite else 'postgresql'}", "NAME": given.database}
        if not sqlite:
            settings |= {"USER": given.username, "HOST": given.query.get("host") or given.host}
        self._write(
            "settings.py", f"DATABASES = {{'default': {settings!r}}}\nINSTALLED_APPS = ['shop']\nSECRET_KEY = 'x'\n"
        )
        self._write("settings.py", "DEFAULT_AUTO_FIELD = 'django.db.models.BigAutoField'\nUSE_TZ = True\n", "a")
        for name, text in (("__init__.py", ""), ("models.py", MODELS), ("migrations/__init__.py", "")):
            self._write(f"shop/{name}", text)
        self("makemigrations", "shop")

    def _write(self, name: str, text: str, mode: str = "w") -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode) as file:
            file.write(text)

    def add(self, name: str, text: str) -> None:
        self._write(f"shop/migrations/{name}", text)

    def __call__(self, *arguments: str) -> str:
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(self.folder)}
        command = [sys.executable, "-m", "django", *arguments]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def shell(self, code: str) -> str:
        return self("shell", "-c", f"from shop.models import Article\n{code}")


@pytest.fixture
def project(tmp_path: Path, url: str) -> Project:
    return Project(tmp_path / "project", url)


def recipe() -> str:
    (found,) = blocks(ROOT / "docs" / "deploy.md", "python django")
    return found


def test_the_recipe_runs_as_written(project: Project, url: str) -> None:
    project.add("0002_near_duplicates.py", recipe())
    project("migrate")
    project.shell(f"for n in range(3): Article.objects.create(title='a', body={TEXT!r} + ' ' + str(n))")
    with dbsim.open(url) as database:
        index = database.index("articles")
        index.sync()
        assert {hit.key for hit in index.similar(1)} == {2, 3}
        asked = "from django.db import connection\nc = connection.cursor()\n"
        asked += "c.execute('SELECT b FROM dbsim_articles_pairs WHERE a = %s ORDER BY b', [1])\nprint(c.fetchall())"
        assert "[(2,), (3,)]" in project.shell(asked)
        project.add("0003_longer_title.py", LATER)  # on SQLite the table is made anew
        project.add("../models.py", MODELS.replace("=100", "=200"))
        project("migrate")
        project.shell(f"Article.objects.create(title='b', body={TEXT!r})\nArticle.objects.get(pk=2).delete()")
        report = index.sync()
        assert bool(report.triggers_restored) == url.startswith("sqlite")
        assert {hit.key for hit in index.similar(1)} == {3, 4}
        assert not index.check()
        assert "No changes detected" in project("makemigrations", "--check", "--dry-run")
        project("migrate", "shop", "0001")
        assert database.indexes() == []


def test_run_sql(tmp_path: Path, new_postgres: str) -> None:
    """The printed script as a migration; PostgreSQL signs by itself, nothing of dbsim runs."""
    project = Project(tmp_path / "project", new_postgres)
    field = Field(columns=("title", "body"))
    options = IndexOptions(name="articles", table="shop_article", fields=(field,), threshold=0.5, inline=True)
    project.add("articles.sql", index_sql("postgresql", options, (("id", "bigint"),)))
    project.add("0002_by_sql.py", BY_SQL)
    project("migrate")
    code = (
        f"Article.objects.create(title='a', body={TEXT!r})\nfrom django.db import connection\nc = connection.cursor()\n"
    )
    code += "def fill():\n    c.execute('SELECT dbsim_articles_fill(100)')\n    return c.fetchone()[0]\n"
    code += "while fill(): pass\n"
    code += f"Article.objects.create(title='a', body={TEXT!r} + ' again')\n"
    code += "c.execute('SELECT id FROM dbsim_articles_similar(1)'); print(c.fetchall())"
    assert "[(2,)]" in project.shell(code)
