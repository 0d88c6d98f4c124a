"""dbsim serve: pages for people, on this machine."""

from __future__ import annotations

import importlib
import secrets
import socket
import webbrowser

import click

from dbsim.cli.common import database_argument, opened
from dbsim.errors import InvalidOption

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@click.command()
@database_argument
@click.option("--index", help="Show this index only.")
@click.option("--port", type=int, default=8765, show_default=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen there; the token protects it, not TLS.")
@click.option("--read-only", is_flag=True, help="Open the database read-only: nothing can be decided or deleted.")
@click.option("--allow-resolve", is_flag=True, help="Rows may be deleted from the page, after a question.")
@click.option("--open", "show", is_flag=True, help="Open a browser.")
def serve(db: str, index: str | None, port: int, host: str, read_only: bool, allow_resolve: bool, show: bool) -> int:
    """Pages to search, compare and decide in a browser; prints the address with its token. Needs dbsim[web]."""
    try:  # by name: `dbsim --help` must work without the extra
        run = importlib.import_module("dbsim.web.run").run
    except ModuleNotFoundError as error:
        raise InvalidOption(f"`dbsim serve` needs {error.name}: pip install 'dbsim[web]'") from error
    if read_only and allow_resolve:
        raise InvalidOption("give --read-only or --allow-resolve, not both")
    database = opened(db)
    if index is not None:
        database.index(index)
    token = secrets.token_urlsafe(32)
    elsewhere = socket.gethostname() if host in ("0.0.0.0", "::") else ""
    names = {*LOOPBACK, host if ":" not in host else f"[{host}]", *filter(None, (elsewhere,))}

    def ready(number: int) -> None:
        shown = "127.0.0.1" if elsewhere else host
        address = f"http://{f'[{shown}]' if ':' in shown else shown}:{number}/?token={token}"
        click.echo(f"open {address}")
        if elsewhere:
            click.echo(
                f"from other machines: {address.replace(shown, elsewhere, 1)}, or one of this machine's addresses"
            )
        click.echo("stop with Ctrl-C")
        if show:
            webbrowser.open(address)

    run(database, token, names, host, port, ready, index=index, read_only=read_only, allow_resolve=allow_resolve)
    return 0


COMMANDS = (serve,)
